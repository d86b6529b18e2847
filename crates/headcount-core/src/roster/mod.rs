//! The inner loop: when a pool hires, whom it wakes and who goes home. Pure, and shared by all
//! pools.
//!
#![doc = include_str!("README.md")]

mod answer;
mod backoff;
mod config;
mod crew;
mod rules;
mod turn;
mod waiting;

pub use answer::{Counts, Duty, Expiry, Next, Order, Placement, Setback};
pub use backoff::{BACKOFF_MAX, BACKOFF_MIN};
pub use config::RosterConfig;
pub use crew::WorkerId;
pub use rules::Roster;
pub use turn::Turn;
pub use waiting::{Spread, Waiting};
