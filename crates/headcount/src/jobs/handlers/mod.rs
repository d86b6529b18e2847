//! Handlers for those who write no Rust: a program, or a service that is called.
//!
//! [`Exec`] runs a program for each job, [`Http`] sends a request. Both say with one number how it
//! went: an exit code, a status. What follows from which is in `docs/jobs.md`. Both need a runtime
//! with I/O and time enabled.

#[cfg(unix)]
mod exec;
mod http;
mod error;
mod kept;

#[cfg(feature = "config")]
mod configured;

pub use error::HandlerError;
#[cfg(unix)]
pub use exec::Exec;
pub use http::Http;

/// How many bytes of what a handler says are kept as the result of its job.
pub const RESULT_BYTES_MAX: usize = 64 << 10;
/// How many bytes of what a handler complains are kept as the error of its job.
pub const ERROR_BYTES_MAX: usize = 4 << 10;
