//! A program for each job.

mod handler;
mod verdict;
mod group;
mod checkpoint;

pub use handler::Exec;
