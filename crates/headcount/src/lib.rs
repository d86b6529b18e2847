//! How many workers should there be right now? This answers it, and runs them.
//!
//! What users depend on: the pools of `headcount-pool`, and the policies of `headcount-core` that
//! say how large they should be. A live driver that joins the two is not here yet; until then ask
//! an [`Autoscaler`] for a decision and [resize](PoolHandle::resize) the pool yourself.
//!
//! ```
//! use headcount::{Observation, Policy, Preset, Staffing, ThreadPool, Timestamp};
//!
//! let pool = ThreadPool::builder().workers(2).build()?;
//! let policy = Policy::check(&Preset::gopipe().config(), 8).expect("the preset is right");
//! let mut autoscaler = policy.build();
//!
//! let observation = Observation::new(Timestamp::from_secs(1), pool.snapshot());
//! let decision = autoscaler.tick(&observation);
//! if let Some(staffing) = decision.resize() {
//!     pool.resize(staffing).wait();
//!     autoscaler.applied(&decision);
//! }
//! assert!(decision.explain().to_string().starts_with("hold 2"), "nothing happens: nothing to do");
//! # Ok::<(), headcount::BuildError>(())
//! ```

#![forbid(unsafe_code)]

mod clock;
mod live;
mod sync;

#[cfg(feature = "trace")]
pub mod trace;

pub use clock::SystemClock;
pub use headcount_core::{
    Autoscaler, Clock, Counters, Decision, Direction, Extras, Fault, Hint, ManualTarget, Mode,
    Name, Observation, Policy, PolicyConfig, PoolSnapshot, Preset, Reason, Resizable, Sample,
    Staffing, Statistics, Stats, Timestamp,
};
pub use headcount_pool::*;
pub use live::{
    Autoscale, AutoscaleError, Autoscaled, Budget, Downstream, Driver, Job, PolicyError, Scaled,
    Scaler, ScalerBuilder, ScalerEvent, ScalingPolicy, Share, StateFile, Surroundings, Throttle,
};

/// The README's examples compile and do what they say.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
