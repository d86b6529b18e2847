//! Taking jobs from a queue, having them done, and saying how they ended.
//!
//! A consumer is three loops that share what it holds. The *lease* loop takes as many jobs as
//! there are free slots and hands them over; it sleeps in the store's `wait` when there is nothing.
//! The *settle* loop writes how jobs ended; what ends during a write goes with the next. The
//! *keeper* renews the lease, learns of cancellations, sends notes, sweeps, and submits what is
//! scheduled; it has a thread of its own, so that no handler and no slow write can make a lease
//! run out. Quick jobs are done on the thread that leases, which the keeper watches over.

mod handle;

mod doubt;
mod gather;
mod here;
mod leasing;
mod quick;
mod settling;

mod keeping;
mod upkeep;
mod warden;

mod draining;
mod pause;
mod shared;
mod tally;
mod verdict;

mod builder;
mod events;
mod slots;
mod work;

pub use builder::ConsumerBuilder;
pub use events::{ConsumerEvent, ConsumerStats, Drained, Ended};
pub use handle::Consumer;
pub use slots::{OwnThread, Slots, TaskSlots};
pub use work::Work;
