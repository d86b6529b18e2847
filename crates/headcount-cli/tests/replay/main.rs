//! `headcount replay` as a user meets it: what it finds in a trace, what it refuses, how it exits.

#[path = "../support/folder.rs"]
mod folder;
mod bad_input;
mod another;
mod place;
mod same;
