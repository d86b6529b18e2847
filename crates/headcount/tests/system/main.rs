//! Whole configurations at work.

#![cfg(feature = "config")]

mod ending;
#[cfg(unix)]
mod follow;
mod health;
mod knee;
mod parts;
mod reload;
#[cfg(unix)]
mod service;
