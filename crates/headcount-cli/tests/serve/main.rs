//! The commands about jobs as a user meets them: the real binary, real stores, real signals.
//!
//! Nothing waits for a clock: every wait is for something that can be seen, with a deadline.

#[path = "../support/folder.rs"]
mod folder;
mod place;
mod redis;

mod crashing;
mod demonstrating;
mod ending;
mod enqueueing;
mod handling;
mod misusing;
mod operating;
mod sharing;
