//! Jobs that come round by the calendar, once across the fleet.
//!
//! Every process reckons when the next tick is and submits it; the store takes the first of each
//! tick and counts the others as it, because a tick carries its number. The job is due at its tick
//! by the store's clock, so a process whose clock runs ahead makes nothing early.

mod calendar;
mod roster;

pub use calendar::{Missed, Schedule, ScheduleError};

pub(crate) use roster::Roster;
