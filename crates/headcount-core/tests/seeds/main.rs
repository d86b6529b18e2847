//! The rules of five design documents, each shown by what it does to a pool.
//!
//! `docs/seeds-conformance.md` is the list of the rules and names the test of each.

#[path = "../dice/mod.rs"]
mod dice;
mod world;

mod gopipe;
mod pool_guide;
mod spool;
mod syshealth;
mod thread_system;
mod thread_system_api;
