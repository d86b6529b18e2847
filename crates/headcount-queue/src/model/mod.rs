//! The protocol of durable jobs, executable: slow, obvious, and what every store is compared with.
//!
//! [`Model`] is a pure state machine that is told the time. [`Memory`] puts it behind a lock and a
//! clock, so that it is a store like the others, except that nothing of it survives the process.
//! Where the `README.md` of this crate can be read in two ways, what is done here is meant.

mod lines;
mod queue;
mod intake;
mod ends;
mod handing;
mod upkeep;
mod steering;
mod reading;
mod soundness;
mod store;
mod clock;
mod memory;

pub use clock::HandClock;
pub use memory::Memory;
pub use store::Model;
