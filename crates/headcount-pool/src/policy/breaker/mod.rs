//! A circuit breaker: spares a side that is down the calls, and the callers the wait.
//!
#![doc = include_str!("README.md")]

mod handle;
mod permit;

mod config;

mod rules;
mod window;

pub use config::{BreakerConfig, FAILURES_MAX, Trip};
pub use handle::{BreakerOpen, CircuitBreaker};
pub use permit::BreakerPermit;
pub use rules::BreakerCounts;

#[cfg(all(test, not(loom)))]
mod breaker_tests;
#[cfg(test)]
mod rules_model;
