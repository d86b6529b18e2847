//! What is measured, as text that Prometheus reads.
//!
//! Nothing is counted here that somebody else counts already: a scrape asks pools and store for
//! their numbers as they are. Only the times of jobs are gathered here, by an [`Observer`].

mod table;
mod aliases;
mod observer;
mod scrape;
mod text;

pub(crate) use aliases::Aliases;
pub use aliases::{ALIASES, Machine};
pub use observer::Observer;
pub(crate) use scrape::scrape;
pub use table::{METRICS, Metric, MetricKind};
