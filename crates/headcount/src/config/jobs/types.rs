//! What a file says of durable jobs, as data.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use headcount_core::jobs::{JobSpec, Label, Retry, Rules};

use crate::config::secret::without_credentials;
use crate::config::types::PoolConfig;

/// Durable jobs: where they are kept, and what runs them.
///
/// ```
/// use headcount::config::{Config, Registry};
///
/// let text = "
/// store: redis://localhost
/// queues:
///   emails:
///     handlers:
///       welcome: {exec: [send-welcome, --html], timeout: 30s}
/// ";
/// let config = Config::parse("jobs.yaml", text, &Registry::new()).expect("no fault");
/// let emails = config.jobs.queue("emails").expect("it is in the file");
/// assert_eq!(emails.handlers[0].kind.as_str(), "welcome");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct JobsConfig {
    /// Where they are kept. Default: left to whoever runs the file.
    pub store: Option<StoreConfig>,
    /// The queues, in the order of the file.
    pub queues: Vec<JobQueueConfig>,
}

/// Where durable jobs are kept.
///
/// ```
/// use headcount::config::{Config, DurabilityConfig, Registry, StoreConfig};
/// use std::time::Duration;
///
/// let text = "store: {path: jobs.d, durability: interval, interval: 20ms}";
/// let config = Config::parse("jobs.yaml", text, &Registry::new()).expect("no fault");
/// let durability = DurabilityConfig::Interval(Duration::from_millis(20));
/// let expected = StoreConfig::Embedded { path: "jobs.d".into(), durability };
/// assert_eq!(config.jobs.store, Some(expected));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreConfig {
    /// In a directory of this machine.
    Embedded {
        /// The directory.
        path: PathBuf,
        /// When what it has taken is on the disk.
        durability: DurabilityConfig,
    },
    /// In a Redis that several machines share.
    Redis {
        /// Where it is.
        url: StoreUrl,
    },
}

/// When what a store in a directory has taken is on the disk.
///
/// ```
/// use headcount::config::DurabilityConfig;
///
/// assert_eq!(DurabilityConfig::default(), DurabilityConfig::Synced);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DurabilityConfig {
    /// Before it answers.
    #[default]
    Synced,
    /// At the latest this much later.
    Interval(Duration),
}

/// The address of a store. Whoever prints it does not see its password.
///
/// ```
/// use headcount::config::StoreUrl;
///
/// let url = StoreUrl::new("redis://worker:secret@host:6379/0");
/// assert_eq!(url.to_string(), "redis://***@host:6379/0");
/// assert_eq!(url.with_credentials(), "redis://worker:secret@host:6379/0");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct StoreUrl(String);

impl StoreUrl {
    /// The address as it is written.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self(url.into())
    }

    /// All of it, to connect with.
    #[must_use]
    pub fn with_credentials(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&without_credentials(&self.0))
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreUrl({self})")
    }
}

/// A queue of durable jobs, and what runs them.
///
/// ```
/// use headcount::config::{Config, Registry};
/// use std::time::Duration;
///
/// let text = "queues: {emails: {rules: {running_max: 5}, pool: {slo: 100ms}, keep: 1h}}";
/// let config = Config::parse("jobs.yaml", text, &Registry::new()).expect("no fault");
/// let emails = &config.jobs.queues[0];
/// assert_eq!(emails.rules.as_ref().and_then(|rules| rules.running_max), Some(5));
/// assert_eq!(emails.pool.wait_budget, Duration::from_millis(100));
/// assert_eq!(emails.keep, Duration::from_secs(3600));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct JobQueueConfig {
    /// What it is called, and its pool too.
    pub name: Label,
    /// What holds for it on all machines, where the file says anything of it.
    pub rules: Option<Rules>,
    /// The workers of this process. Default: async tasks, from 1 to 64.
    pub pool: PoolConfig,
    /// What runs jobs, one for each kind. Default: nothing.
    pub handlers: Vec<HandlerConfig>,
    /// Jobs that are submitted by the clock. Default: none.
    pub schedules: Vec<ScheduleConfig>,
    /// When a job that failed is tried again, where its submitter does not say.
    pub retry: Retry,
    /// How many lost workers put a job aside. Default: 3.
    pub crashes_max: u32,
    /// How long a job may run, where its submitter does not say. Default: as long as it likes.
    pub timeout: Option<Duration>,
    /// How long a job is kept once it is done, where its submitter does not say. Default: not at
    /// all.
    pub keep: Duration,
}

/// What runs jobs of one kind.
///
/// ```
/// use headcount::config::{Config, HandlerRun, Registry};
///
/// let text = "queues: {a: {handlers: {bill: {http: 'http://billing/jobs', timeout: 5s}}}}";
/// let config = Config::parse("jobs.yaml", text, &Registry::new()).expect("no fault");
/// let handler = &config.jobs.queues[0].handlers[0];
/// assert!(matches!(&handler.run, HandlerRun::Http(http) if http.url == "http://billing/jobs"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HandlerConfig {
    /// The kind of job.
    pub kind: Label,
    /// What is done.
    pub run: HandlerRun,
    /// How long one try may take. Default: a minute for a request, no limit for a program.
    pub timeout: Option<Duration>,
}

/// A program, or a service that is called.
///
/// ```
/// use headcount::config::{ExecConfig, HandlerRun};
///
/// let run = HandlerRun::Exec(ExecConfig::new(["convert", "-"]));
/// assert!(matches!(run, HandlerRun::Exec(exec) if exec.program[0] == "convert"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HandlerRun {
    /// A program, whose exit code decides.
    Exec(ExecConfig),
    /// A request, whose status decides.
    Http(HttpConfig),
}

/// A program that runs jobs.
///
/// ```
/// use headcount::config::ExecConfig;
/// use std::time::Duration;
///
/// let exec = ExecConfig::new(["convert", "-"]);
/// assert_eq!(exec.grace, Duration::from_secs(5));
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExecConfig {
    /// The program and its arguments.
    pub program: Vec<String>,
    /// Its working directory. Default: that of this process.
    pub dir: Option<PathBuf>,
    /// Variables beside those that it inherits. Default: none.
    pub env: BTreeMap<String, String>,
    /// Exit codes that end a job for good, beside 65. Default: none.
    pub dead_codes: Vec<u8>,
    /// When a job is tried again whose program exited with 75. Default: 30 s.
    pub snooze: Duration,
    /// How long it may take to end after SIGTERM. Default: 5 s.
    pub grace: Duration,
}

impl ExecConfig {
    /// This program with these arguments, and defaults for all the rest.
    pub fn new(program: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            program: program.into_iter().map(Into::into).collect(),
            dir: None,
            env: BTreeMap::new(),
            dead_codes: Vec::new(),
            snooze: Duration::from_secs(30),
            grace: Duration::from_secs(5),
        }
    }
}

/// A service that runs jobs.
///
/// ```
/// use headcount::config::HttpConfig;
///
/// let http = HttpConfig::new("http://billing.internal/jobs");
/// assert!(http.headers.is_empty());
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpConfig {
    /// Where it is.
    pub url: String,
    /// Headers beside our own. Default: none.
    pub headers: BTreeMap<String, String>,
}

impl HttpConfig {
    /// The service at this URL, and defaults for all the rest.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), headers: BTreeMap::new() }
    }
}

// Values of variables and headers may be secrets; names are enough to find one's way.
impl fmt::Debug for ExecConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecConfig")
            .field("program", &self.program)
            .field("dir", &self.dir)
            .field("env", &self.env.keys())
            .field("dead_codes", &self.dead_codes)
            .field("snooze", &self.snooze)
            .field("grace", &self.grace)
            .finish()
    }
}

impl fmt::Debug for HttpConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpConfig")
            .field("url", &without_credentials(&self.url))
            .field("headers", &self.headers.keys())
            .finish()
    }
}

/// A job that is submitted by the clock, once for all machines.
///
/// ```
/// use headcount::config::{Config, MissedTicks, Registry};
///
/// let text = "
/// queues:
///   reports:
///     schedules:
///       nightly: {cron: '0 3 * * *', timezone: Europe/Berlin, kind: report, payload: {of: all}}
/// ";
/// let config = Config::parse("jobs.yaml", text, &Registry::new()).expect("no fault");
/// let nightly = &config.jobs.queues[0].schedules[0];
/// assert_eq!((nightly.payload.as_str(), nightly.missed), (r#"{"of":"all"}"#, MissedTicks::Skip));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScheduleConfig {
    /// What it is called.
    pub name: Label,
    /// When, in the form of `cron`.
    pub cron: String,
    /// By which clock. Default: `UTC`.
    pub timezone: String,
    /// The kind of the job.
    pub kind: Label,
    /// What its handler is given, as JSON. Default: `null`.
    pub payload: String,
    /// What becomes of times at which no process was there. Default: nothing.
    pub missed: MissedTicks,
}

/// What becomes of times of a schedule at which no process was there.
///
/// ```
/// use headcount::config::MissedTicks;
///
/// assert_eq!(MissedTicks::default(), MissedTicks::Skip);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissedTicks {
    /// They are left out.
    #[default]
    Skip,
    /// The last of them is made up for, if it is no older than a day.
    Once,
}

impl JobsConfig {
    /// The queue of that name.
    #[must_use]
    pub fn queue(&self, name: &str) -> Option<&JobQueueConfig> {
        self.queues.iter().find(|queue| queue.name.as_str() == name)
    }
}

impl JobQueueConfig {
    /// A job of this kind with this payload, as the queue's defaults have it.
    ///
    /// ```
    /// use headcount::config::{Config, Registry};
    ///
    /// let text = "queues: {emails: {retry: {attempts_max: 3}}}";
    /// let config = Config::parse("jobs.yaml", text, &Registry::new()).expect("no fault");
    /// let kind = "welcome".parse().expect("a fine name");
    /// let job = config.jobs.queues[0].job(kind, b"{}".to_vec());
    /// assert_eq!(job.retry.attempts_max, 3);
    /// ```
    #[must_use]
    pub fn job(&self, kind: Label, payload: Vec<u8>) -> JobSpec {
        JobSpec {
            retry: self.retry,
            crashes_max: self.crashes_max,
            timeout: self.timeout,
            keep: self.keep,
            ..JobSpec::new(kind, payload)
        }
    }
}
