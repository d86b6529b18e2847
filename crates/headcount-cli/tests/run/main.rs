//! `headcount run` as a user meets it: what runs, what is printed, how it exits.
//!
//! Children wait for one another and for the tests by fifos; no test waits for a clock.

#[path = "../support/folder.rs"]
mod folder;
mod bounds;
mod failures;
mod items;
mod place;
mod printing;
mod resuming;
mod stopping;
