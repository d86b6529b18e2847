//! A program for each job.

mod handler;
mod verdict;
mod group;
mod keeper;
mod checkpoint;

pub use handler::Exec;
