//! The store in a folder of this machine: nothing to install, and what is acknowledged is on disk.
//!
//! The *ledger* has every job's small facts in memory and answers all questions. One *writer*
//! thread takes all calls that wait, applies them to the ledger, and writes what they changed as
//! one record of the *journal*, with one sync for all. A full segment of the journal goes to the
//! *database* in the background, so that memory holds no payloads but the newest. Opening reads
//! the database, then what the journal says beyond it. `docs/adr/0018` says why.

mod ledger;

mod row;
mod effect;
mod journal;
mod overlay;
mod tables;

mod disk;
mod error;
mod options;

mod calls;
mod works;
mod load;
mod serve;
mod writer;
mod store;

pub use disk::{Disk, Folder, JournalFile};
pub use error::OpenError;
pub use options::{Committed, Durability, EmbeddedOptions};
pub use store::Embedded;
