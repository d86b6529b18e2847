//! The rules of durable jobs: what a job is, which states it goes through, when it is tried again.
//!
//! Pure, like all of the core. A backend stores jobs and asks here what may happen to one; a
//! consumer runs them and asks here what follows from how one ended. `docs/job-states.md` draws
//! the states.

mod id;
mod label;
mod record;
mod retry;
mod rules;
mod spec;
mod state;
mod stats;
mod store_error;

pub mod port;

pub use id::{Holder, JobId, JobIdError};
pub use label::{Key, KeyError, Label, LabelError};
pub use record::JobRecord;
pub use retry::{Backoff, Retry, Verdict};
pub use rules::{Order, Rate, Rules, RulesError};
pub use spec::{
    Dependence, JobSpec, Priority, PriorityError, SpecError, Start, Unique, UniqueSpan,
};
pub use state::{Event, NoTransition, State, transition};
pub use stats::{QueueStats, StateCounts, Totals};
