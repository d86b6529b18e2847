//! Durable jobs: nothing acknowledged is lost, and workers take no more than they can run.
//!
//! [`port`] is what a store must do; `README.md` beside the code says what that means. The crate
//! knows no pool: a consumer asks for free slots and hands over what it leased.

#![forbid(unsafe_code)]

pub mod encoding;

pub use headcount_core::jobs::{self, port};
