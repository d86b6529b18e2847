//! What the pools of a simulation live in: what they call, the machines they run on, what goes
//! wrong.

mod downstream;
mod faults;
mod host;

pub use downstream::{Downstream, Refusal};
pub use faults::Faults;
pub use host::{Host, Spell};
