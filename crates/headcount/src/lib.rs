//! How many workers should there be right now? This answers it, and runs them.
//!
//! What users depend on. [`ThreadPool`], [`Limiter`] and, with the feature `tokio`, `TaskPool` run
//! tasks; policies say how large they should be; a [`Scaler`] joins the two, and a [`Driver`] looks
//! after all scalers of a process. [`probes`] tell how the machine is. With the feature `config`
//! all of it comes from a file: see `System`.
//!
//! ```
//! use headcount::{Autoscale, Preset, ThreadPool};
//! use std::time::Duration;
//!
//! let slo = Preset::slo(Duration::from_millis(100));
//! let pool = ThreadPool::builder().workers(1..=64).autoscale(slo)?;
//! assert_eq!(pool.submit(|| 6 * 7)?.join()?, 42);
//! println!("{}", pool.scaler().why());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod clock;
mod live;
mod sync;

#[cfg(feature = "jobs")]
pub mod jobs;
pub mod probes;

#[cfg(feature = "ops")]
pub mod ops;
#[cfg(feature = "trace")]
pub mod trace;

pub use clock::{ManualClock, SystemClock};
pub use headcount_core::{
    Autoscaler, Clock, Counters, Decision, Direction, ExtraParts, Extras, Fault, Hint,
    ManualTarget, Mode, Name, Observation, Policy, PolicyConfig, PoolSnapshot, Preset, Reason,
    Resizable, Sample, Staffing, Statistics, Stats, Timestamp,
};
pub use headcount_pool::*;
pub use live::{
    AudienceFull, Autoscale, AutoscaleError, Autoscaled, Budget, Downstream, Driver, Job,
    PolicyError, Scaled, Scaler, ScalerBuilder, ScalerEvent, ScalingPolicy, Share, StateFile,
    Surroundings, Throttle, UtcOffset, UtcOffsetError,
};

#[cfg(feature = "config")]
pub mod config;
#[cfg(feature = "config")]
mod system;

#[cfg(feature = "config")]
pub use system::{Reload, System, SystemBuilder, SystemDrained, SystemError};

/// The README's examples compile and do what they say.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The examples of the guide to durable jobs compile.
#[cfg(all(doctest, feature = "config", feature = "handlers"))]
#[doc = include_str!("../../../docs/jobs.md")]
struct Jobs;
