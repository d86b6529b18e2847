//! Durable jobs, and workers that size themselves by how many wait.
//!
//! All of `headcount_queue`, and [`Worker`]: a consumer on a pool under a scaler. What the scaler
//! sees is the pool with the store's line before it: jobs that wait in the store count as waiting
//! (of several workers on one queue each counts its share), and the age of the oldest counts as the
//! longest wait.

mod builder;
mod crew;
mod hands;
mod worker;

#[cfg(feature = "handlers")]
pub mod handlers;

pub use builder::{WorkerBuilder, WorkerError};
pub use headcount_queue::*;
pub use worker::Worker;
