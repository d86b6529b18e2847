//! What arrives when, and how much work it is.

mod arrivals;
mod job;
mod sizes;
pub mod trace_file;
mod workload;

pub use arrivals::{Arrivals, Buckets};
pub use job::Job;
pub use sizes::Sizes;
pub use workload::{Load, LoadError};
