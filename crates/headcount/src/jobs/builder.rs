//! How a worker of jobs is made.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use headcount_core::PolicyConfig;
use headcount_pool::{BuildError, Workers};
use headcount_queue::{ConsumerEvent, Queue, Schedule};
use tokio::runtime::Handle;

use super::worker::Worker;
use crate::live::{PolicyError, ScalerBuilder};

type Listener = Arc<dyn Fn(&ConsumerEvent) + Send + Sync>;
type MoreScaler = Box<dyn FnOnce(ScalerBuilder) -> ScalerBuilder + Send>;

/// The settings of a worker that is about to be started.
///
/// ```
/// use headcount::jobs::{Queue, Worker, WorkerError};
/// use headcount::Preset;
/// use std::time::Duration;
///
/// fn begin(queue: &Queue) -> Result<Worker, WorkerError> {
///     let slo = Preset::slo(Duration::from_secs(1));
///     Worker::builder(queue).workers(1..=64).autoscale(slo).start()
/// }
/// ```
#[must_use = "a worker takes nothing until it is started"]
pub struct WorkerBuilder {
    pub(super) queue: Queue,
    pub(super) name: String,
    pub(super) workers: Workers,
    pub(super) policy: PolicyConfig,
    pub(super) more: Vec<MoreScaler>,
    pub(super) threads: bool,
    pub(super) runtime: Option<Handle>,
    pub(super) schedules: Vec<Schedule>,
    pub(super) listeners: Vec<Listener>,
}

impl WorkerBuilder {
    pub(super) fn new(queue: &Queue) -> Self {
        Self {
            queue: queue.clone(),
            name: queue.name().as_str().to_owned(),
            workers: Workers::from(1..=64),
            policy: headcount_core::Preset::slo(Duration::from_secs(1)).into(),
            more: Vec::new(),
            threads: false,
            runtime: None,
            schedules: Vec::new(),
            listeners: Vec::new(),
        }
    }

    /// What its pool and its scaler are called. The queue's name by default.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// How many jobs run at once, at least and at most. `1..=64` by default.
    pub fn workers(mut self, workers: impl Into<Workers>) -> Self {
        self.workers = workers.into();
        self
    }

    /// The policy that sizes it. By default `slo`: no job waits longer than a second.
    pub fn autoscale(mut self, policy: impl Into<PolicyConfig>) -> Self {
        self.policy = policy.into();
        self
    }

    /// Says more about its scaler: a budget, a state file, a driver, listeners.
    pub fn scaler(
        mut self,
        settings: impl FnOnce(ScalerBuilder) -> ScalerBuilder + Send + 'static,
    ) -> Self {
        self.more.push(Box::new(settings));
        self
    }

    /// Runs jobs on threads: for handlers that block or reckon. By default they are tasks.
    pub const fn threads(mut self) -> Self {
        self.threads = true;
        self
    }

    /// Runs jobs in this runtime. The one that `start` is called in by default.
    pub fn runtime(mut self, runtime: Handle) -> Self {
        self.runtime = Some(runtime);
        self
    }

    /// Submits this by the calendar, together with all other workers that know it.
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.schedules.push(schedule);
        self
    }

    /// Calls `listener` for everything that happens to jobs.
    pub fn on_event(mut self, listener: impl Fn(&ConsumerEvent) + Send + Sync + 'static) -> Self {
        self.listeners.push(Arc::new(listener));
        self
    }

    /// Begins to take jobs.
    ///
    /// # Errors
    ///
    /// When a setting is wrong, or there is no runtime or no thread to be had.
    pub fn start(self) -> Result<Worker, WorkerError> {
        Worker::start(self)
    }
}

impl fmt::Debug for WorkerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("WorkerBuilder");
        shown.field("queue", &self.queue).field("workers", &self.workers);
        shown.field("threads", &self.threads).finish_non_exhaustive()
    }
}

/// Why no worker was started.
///
/// ```
/// use headcount::jobs::WorkerError;
///
/// let text = "jobs need a runtime; call start inside of one, or say which";
/// assert_eq!(WorkerError::NoRuntime.to_string(), text);
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum WorkerError {
    /// The pool's settings are wrong.
    Pool(BuildError),
    /// The policy is wrong.
    Policy(PolicyError),
    /// There is no runtime to run jobs in.
    NoRuntime,
    /// There was no thread to be had.
    NoThread(std::io::Error),
}

impl fmt::Display for WorkerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pool(error) => error.fmt(f),
            Self::Policy(error) => error.fmt(f),
            Self::NoRuntime => {
                f.write_str("jobs need a runtime; call start inside of one, or say which")
            }
            Self::NoThread(error) => write!(f, "no thread for the consumer: {error}"),
        }
    }
}

impl std::error::Error for WorkerError {}
