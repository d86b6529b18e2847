//! A Linux machine, as its files tell about it.
//!
//! Everything is read below a root directory, so that tests can bring a machine of their own. A
//! file that is missing, unreadable or not in the form we know makes one value `None` and touches
//! no other. There are three sources: `proc` for the host and for this process, the cgroups for the
//! container, and `sys` for the processors that are online.
//!
//! - `files.rs` reads, `text.rs` finds numbers in what was read.
//! - `groups.rs`: where the cgroups of this process are, up to the top that we can see.
//! - `cpu.rs`, `memory.rs`, `pressure.rs`, `process.rs`: one for each resource.
//! - `host.rs` puts them together.

mod files;
mod text;

mod groups;

mod cpu;
mod memory;
mod pressure;
mod process;

mod host;

pub use host::Host;
