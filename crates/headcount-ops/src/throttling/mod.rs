//! The settings of health throttling, which can be changed while everything runs.
//!
//! One document for all pools, under the address that operators already know, and one for each
//! pool that has its own. A change is checked, then written to a file, then applied: what was
//! answered is still so after a restart.

mod config;
mod file;
mod routes;
mod settings;

pub use config::{Throttling, ThrottlingFault};
pub(crate) use routes::{common, forget, of_pool, set_common, set_of_pool};
pub(crate) use settings::Settings;
