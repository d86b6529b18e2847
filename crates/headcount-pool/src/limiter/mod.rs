//! A gate that lets so many in at once, for threads and tasks alike, without a pool.
//!
#![doc = include_str!("README.md")]

mod handle;
mod permit;

mod acquire;
mod error;

mod desk;
mod wicket;

mod gate;
mod ledger;
mod queue;
mod state;
mod stopwatch;

pub use acquire::Acquire;
pub use error::{AcquireTimeoutError, Closed, TryAcquireError};
pub use handle::Limiter;
pub use permit::Permit;

#[cfg(test)]
mod gate_model;
#[cfg(all(test, not(loom)))]
mod limiter_tests;
