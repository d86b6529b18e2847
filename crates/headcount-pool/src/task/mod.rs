//! Tasks: how they are asked for, what becomes of them, and who hears of it.

mod context;
mod error;
mod handle;
// Its models are compiled without tokio, which cannot be.
#[cfg(any(feature = "tokio", all(test, loom)))]
#[cfg_attr(not(feature = "tokio"), allow(unreachable_pub))]
mod lent;
mod nested;
mod nudge;
mod options;
mod promise;
#[cfg(feature = "tokio")]
mod run;
mod stage;
mod terms;
mod token;
mod work;

#[cfg(all(test, loom))]
#[path = "loom_tests.rs"]
mod loom;

#[cfg(all(test, loom))]
#[path = "lent_loom_tests.rs"]
mod lent_loom;

pub use context::{is_cancelled, report_failure};
pub use error::{Refusal, SubmitError, TaskError};
pub use handle::TaskHandle;
pub use options::{Overflow, TaskOptions};
pub use token::CancelToken;

pub(crate) use context::{
    BlocksOn, PlaceBeside, Workplace, enter_workplace, has_failed, has_timed_out, hired_for,
    is_hired_for, take_failure, workplace,
};
pub(crate) use error::{message_in, message_of};
#[cfg(feature = "tokio")]
pub(crate) use lent::{Lends, Turn};
pub(crate) use nested::{NESTED_MAX, Nested, depth, may_nest};
pub(crate) use nudge::Nudge;
pub(crate) use promise::{Promise, Waiting};
#[cfg(feature = "tokio")]
pub(crate) use run::{Aside, Inside, Run, TaskWork};
pub(crate) use terms::{Home, Terms};
pub(crate) use token::Listener;
pub(crate) use work::{Once, Promised, SmallWork, Work, small};
