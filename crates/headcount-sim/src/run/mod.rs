//! The simulation: virtual time, and the very same `Autoscaler`, `Roster` and `Pulse` as live.
//!
//! A [`Simulation`] is a list of pools in a world. It goes from event to event: the world changes,
//! a job comes, a worker is there, a job ends, a look is due. At one and the same moment things
//! happen in that order, and pools in the order of their list, so a run depends on nothing but its
//! setup.

mod setup;
mod nodes;
mod simulation;
mod pool;
mod line;
mod work;
mod books;
mod together;
mod budget;
mod checks;
mod score;

pub use books::{Books, Moment};
pub use checks::Violation;
pub use nodes::Dealing;
pub use score::Score;
pub use setup::{PoolSetup, Setup};
pub use simulation::Simulation;
