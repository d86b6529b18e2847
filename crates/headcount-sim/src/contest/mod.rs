//! The benchmark of policies: every policy on every load in every regime.
//!
//! A *regime* is what the world is like: workers that are cheap or dear, a downstream with a knee,
//! too few workers for the load, a sick machine. What is best in one is wrong in another, so a
//! policy is judged in all of them with one setting. A *cell* is one policy on one load in one
//! regime, over several seeds.
//!
//! What a policy is told of a regime is what its user would know: the promise, and what it costs
//! to start a worker. Every policy has the same bounds, meets the same jobs, and runs in the same
//! simulated pool; one that names a size has a pool of that size, one that leaves hiring to the
//! pool has it hire.

mod entry;
mod regime;
mod contender;
mod cell;
mod hindsight;
mod no_bound;

pub use cell::{Cell, Interval, Match};
pub use contender::{Contender, TEMPOS};
pub use entry::{Entry, PEAK, synthetic};
pub use no_bound::NoBound;
pub use regime::Regime;
