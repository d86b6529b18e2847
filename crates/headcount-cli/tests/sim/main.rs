//! `headcount sim` as a user meets it: what it prints and writes, and what it refuses.

#[path = "../support/folder.rs"]
mod folder;
mod place;

mod bad_load;
mod bench;
mod docs;
mod trial;
mod world;
