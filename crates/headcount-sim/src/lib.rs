//! Know before production: queueing maths, a simulator that drives the same code as the live
//! loop, and a bound on what any policy could have done.
//!
//! Pure: time is made up, chance comes from a seed, nothing is read or written. The same seed
//! makes the same run, byte for byte.
//!
//! - [`maths`]: how long a line is, and how many workers keep it short.
//! - [`plan`]: how many workers a load needs, which bounds to set, and what would change that.
//! - [`load`]: what arrives when, and how much work it is.
//! - [`world`]: what pools live in, and what goes wrong there.
//! - [`run`]: the simulation, event by event, and how well it went.
//! - [`replay`]: a recorded run once more, by its own policy or by another.
//! - [`bound`]: the least that any policy could have paid.
//! - [`contest`]: the benchmark of policies.
//! - [`report`]: pictures of runs.
//! - [`storm`]: worlds made up from a seed, in which every rule is checked after every event.

#![forbid(unsafe_code)]

mod dice;
mod promise;

pub mod bound;
pub mod contest;
pub mod load;
pub mod maths;
pub mod plan;
pub mod replay;
pub mod report;
pub mod run;
pub mod storm;
pub mod world;

pub use promise::Promise;
