//! Durable jobs, as a file has them: the store, the queues, and what runs them.

mod types;
mod store;
mod queue;
mod handler;
mod schedule;
mod write;

pub use types::{
    DurabilityConfig, ExecConfig, HandlerConfig, HandlerRun, HttpConfig, JobQueueConfig,
    JobsConfig, MissedTicks, ScheduleConfig, StoreConfig, StoreUrl,
};

pub(crate) use queue::{check_names, is_for_jobs, queues_of};
pub(crate) use store::store_of;
pub(crate) use write::hide_secrets;
