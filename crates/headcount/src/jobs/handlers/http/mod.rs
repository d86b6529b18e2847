//! A request for each job.

mod handler;
mod verdict;
mod client;

pub use handler::Http;
