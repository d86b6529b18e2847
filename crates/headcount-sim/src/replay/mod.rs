//! A recorded run once more: under the same policy, under another one, and in a simulation.
//!
//! - [`Same`] feeds the recorded observations to the recorded policy and compares each decision. It
//!   must be the same to the last bit; where it is not, code, policy or trace have changed.
//! - [`Another`] shows the same observations to another policy, beside the recorded one: what it
//!   would have decided, and why. This is an open loop. The waits, services and failures that it
//!   is shown are those that the recorded sizes led to; what its own would have led to, nobody
//!   knows.
//! - [`Rehearsal`] closes the loop: it makes a load of what was recorded and simulates policies on
//!   it. How well the recorded policy fares there as it did in truth says how far to believe it.
//!
//! Rows are handed over one by one, so a trace of any length can be read.

mod follower;
mod same;
mod another;
mod averages;
mod load;
mod rehearsal;
mod caveat;

pub use another::{Another, Beside, Totals};
pub use averages::Averages;
pub use caveat::Caveat;
pub use follower::Unreplayable;
pub use rehearsal::{Agreement, Rehearsal, Simulated};
pub use same::{Again, Same};
