//! Pools from a file: YAML, TOML or JSON, checked as a whole, watched for changes.
//!
//! One file has any number of pools, each with its workers, its line of waiting tasks, and the
//! policy that sizes it: a preset with what is different, or all of it. Everything that is wrong
//! comes in one [`Report`], with file, line, value and what would be right. Users' own signals,
//! deciders, guards and things to resize are [registered](Registry) by name and used from the file.
//! A [`Watcher`] hands over each new version, or says why it cannot be used.
//!
//! ```
//! use headcount::config::{Config, Registry};
//!
//! let text = "
//! service: api
//! pools:
//!   thumbs:
//!     type: threads
//!     preset: slo
//!     workers: {min: 2, max: 32}
//!     decider: {wait_budget: 50ms}
//! ";
//! let registry = Registry::new();
//! let config = Config::parse("headcount.yaml", text, &registry).expect("nothing is wrong");
//! let thumbs = config.pool("thumbs").expect("it is in the file");
//! let pool = thumbs.thread_pool().build()?;
//! let autoscaler = thumbs.autoscaler(&registry).expect("its parts can be made");
//! assert_eq!(pool.snapshot().floor, 2);
//! # drop(autoscaler);
//! # Ok::<(), headcount::BuildError>(())
//! ```
//!
//! What may stand in a file is in `docs/configuration.md`, and in the [`schema`] for editors.

mod types;
mod reader;
mod report;
mod registry;
mod show;
mod diff;
mod watch;

mod place;
mod tree;
mod form;
mod variables;
mod spread;
mod merge;
mod build;
mod policy;
mod pool;
mod parts;
mod jobs;
mod secret;

pub use diff::{Difference, diff};
pub use jobs::{
    DurabilityConfig, ExecConfig, HandlerConfig, HandlerRun, HttpConfig, JobQueueConfig,
    JobsConfig, MissedTicks, ScheduleConfig, StoreConfig, StoreUrl,
};
pub use place::{Format, Place};
pub use reader::{Reader, Reading};
pub use registry::{Options, Plug, Registry};
pub use report::{Finding, Report};
pub use types::{
    CeilingConfig, Config, HealthBounds, HealthConfig, Plugs, PoolConfig, PoolKind, QueueConfig,
    ShareConfig, TraceConfig,
};
pub use watch::{Change, WatchError, Watcher};

/// The JSON Schema (draft 2020-12) of a file, for editors.
///
/// ```
/// let schema = headcount::config::schema();
/// assert!(schema.contains("\"wait_budget\""));
/// ```
#[must_use]
pub fn schema() -> String {
    format!("{:#}\n", form::schema())
}
