//! The sensor of a Linux machine, against machines made of files, and against the real one.
#![cfg(target_os = "linux")]

mod tree;

mod bare;
mod broken;
mod hybrid;
mod version_one;
mod version_two;

mod real;
