//! Consumers at work, by effect: what becomes of jobs, in time that passes when nobody has
//! anything to do.
#![allow(clippy::unwrap_used, reason = "in a story, what fails is the test")]

mod world;

mod client;
mod drains;
mod endings;
mod faults;
mod handlers;
mod here;
mod pace;
mod schedules;
