//! Observation, signals, a decider, guards, a decision: the loop that sizes a pool.
//!
//! ```text
//! Observation -> signals -> readings -> decider -> Proposal -> guards -> Decision
//! ```

mod autoscaler;
mod observation;
pub mod signal;
mod proposal;
pub mod decide;
pub mod forecast;
pub mod guard;
mod decision;
mod explain;
mod direction;
mod history;
mod mode;
mod notes;
mod pulse;
mod resizable;
mod situation;
mod staffing;
mod stats;

pub(crate) use autoscaler::name_of;
pub use autoscaler::{Autoscaler, RestoreError};
pub use decision::{Decision, SIGNALS_MAX};
pub use direction::Direction;
pub use explain::{Explained, ExplainedFully};
pub use history::{Brake, History};
pub use mode::{ManualTarget, Mode};
pub use notes::{Noted, Notes, NotesReader};
pub use observation::{
    Breaker, Counters, ExternalError, Externals, LogSums, MemoryUse, Observation, PoolSnapshot,
    Statistics,
};
pub use proposal::{Comparison, Estimate, Evidence, Proposal, Reason};
pub use pulse::{NextLook, Pulse};
pub use resizable::{Poke, Resizable};
pub use situation::{Known, Situation};
pub use staffing::Staffing;
pub use stats::{Sample, Stats};
