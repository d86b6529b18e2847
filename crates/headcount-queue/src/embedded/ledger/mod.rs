//! What is in the store, in memory: pure, told the time, and quick to answer.
//!
//! A call changes the ledger and emits effects; it knows no file and no thread. The writer makes
//! the effects last before anybody hears of them. The rules are those of the model; here every
//! question has an index.

mod slab;
mod lanes;
mod keys;
mod uniques;
mod queue;
mod enqueue;
mod ends;
mod handing;
mod upkeep;
mod steering;
mod reading;
mod restore;

pub(crate) use handing::Grant;
pub(crate) use queue::Queue;
pub(crate) use restore::Restoring;
