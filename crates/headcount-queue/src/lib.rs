//! Durable jobs: nothing acknowledged is lost, and workers take no more than they can run.
//!
//! A [`Queue`] takes jobs and knows how they are done; a [`Consumer`] takes what is ready, no more
//! than it has [`Slots`] for, and says how each ended. [`port`] is what a store must do;
//! `README.md` beside the code says what that means. The crate knows no pool.

#![forbid(unsafe_code)]

mod chance;
mod client;
mod consumer;
mod handler;
mod schedule;
mod sync;
mod vigil;

#[cfg(feature = "conformance")]
pub mod conformance;
#[cfg(feature = "embedded")]
pub mod embedded;
pub mod encoding;
pub mod model;
#[cfg(feature = "redis")]
pub mod redis;

pub use client::{Batch, BatchSubmission, BatchSubmitted, Outcome, Queue, Submission, SubmitError};
pub use consumer::{
    Consumer, ConsumerBuilder, ConsumerEvent, ConsumerStats, Drained, Ended, OwnThread, Slots,
    TaskSlots, Work,
};
pub use handler::{Context, HandleError, Handler, JobError, Middleware, Next, Running};
pub use headcount_core::jobs::{self, port};
pub use schedule::{Missed, Schedule, ScheduleError};
