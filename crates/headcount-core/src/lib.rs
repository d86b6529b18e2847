//! Decides how many workers there should be right now, and says why.
//!
//! Pure: no clock, no thread, no I/O, no dependency. A shell gathers an [`Observation`], hands it
//! to an [`Autoscaler`], and does what its [`Decision`] says; a simulator or a replay does the
//! same with made-up or recorded observations. Equal inputs give equal outputs, to the byte.
//!
//! - [`Policy`]: what a user writes, checked and built into an autoscaler; [`Preset`]: ready ones.
//! - [`signal`], [`decide`], [`guard`]: the parts of which an autoscaler is made, and their ports.
//! - [`forecast`]: what comes next, for pools whose workers are slow to start.
//! - [`health`]: the state of the machine as a score and a zone.
//! - [`jobs`]: what durable jobs are and what may happen to one.
//! - [`roster`]: who is parked, busy, starting or leaving, and when a pool hires.
//! - [`share`]: a budget divided fairly.
//! - [`spans`]: measured spans of time, counted by size.
//!
//! The feature `serde`, off by default, gives observations, decisions, notes and policies a form
//! that can be written down.
//!
//! ```
//! use headcount_core::{Observation, Policy, PoolSnapshot, Preset, Staffing, Timestamp};
//!
//! let policy = Policy::check(&Preset::thread_system().config(), 16).expect("the preset is right");
//! let mut autoscaler = policy.build();
//! let mut explain = |second, busy| {
//!     let pool = PoolSnapshot::at_work(Staffing::exactly(4), busy);
//!     let observation = Observation::new(Timestamp::from_secs(second), pool);
//!     autoscaler.tick(&observation).explain().to_string()
//! };
//! // Five samples make a reading; until then nothing asks for a change.
//! assert_eq!(explain(0, 4), "hold 4: wants 4 (steady) -> bounds 4");
//! for second in 1..4 {
//!     explain(second, 4);
//! }
//! assert_eq!(explain(4, 4), "grow 4 to 5: wants 5 (utilization 100 % > 80 %) -> bounds 5");
//! ```

#![forbid(unsafe_code)]

mod inline;
mod time;

mod policy;
mod scaling;

pub mod health;
pub mod jobs;
pub mod roster;
pub mod share;
pub mod spans;

pub use inline::{List, Name, NameError};
pub use policy::{
    ExtraParts, Extras, Fault, GuardsConfig, Hint, Origin, Policy, PolicyConfig, Preset,
    SignalConfig,
};
pub use scaling::guard::Bounds;
pub use scaling::{
    Autoscaler, Brake, Breaker, Comparison, Counters, Decision, Direction, Estimate, Evidence,
    Explained, ExplainedFully, ExternalError, Externals, History, Known, LogSums, ManualTarget,
    MemoryUse, Mode, NextLook, Noted, Notes, NotesReader, Observation, Poke, PoolSnapshot,
    Proposal, Pulse, Reason, Resizable, RestoreError, SIGNALS_MAX, Sample, Situation, Staffing,
    Statistics, Stats, decide, forecast, guard, signal,
};
pub use time::{Calendar, Clock, Timestamp, Weekday};
