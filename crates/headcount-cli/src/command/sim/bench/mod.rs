//! `headcount sim bench`: every policy against every load in every regime.
//!
//! ```text
//! loads -- Entry --> fixtures -- Fixture --> playing (threads) -- Cell --> table, goals, means,
//!                                                                          JSON, pictures
//! ```
//!
//! Everything that can be wrong is found before the first job is simulated; a trace that cannot be
//! played is skipped aloud, and the exit code says so. What comes out is the same on any number of
//! threads.

mod arguments;
mod loads;
mod fixtures;
mod playing;
mod progress;
mod standing;
mod table;
mod goals;
mod means;
mod pictures;
mod output;
mod passed_over;

pub(super) use arguments::Arguments;
pub(super) use output::run;
