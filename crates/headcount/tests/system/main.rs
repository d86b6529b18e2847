//! Whole configurations at work.

#![cfg(feature = "config")]

mod health;
mod knee;
mod reload;
#[cfg(unix)]
mod service;
