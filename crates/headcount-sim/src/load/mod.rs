//! What arrives when, and how much work it is.

mod job;

pub use job::Job;
