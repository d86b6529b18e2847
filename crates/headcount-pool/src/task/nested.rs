//! How deep tasks run inside of one another.
//!
//! A worker that finds its own line full runs a task inside of the one that hands it over, and that
//! may hand over another. Each level lies on the stack of the same thread, which ends somewhere;
//! where it does, the process ends.

use std::cell::Cell;

/// So many tasks run inside of one another, beside the outermost. With the two megabytes that a
/// thread has by default, that leaves more than 100 kB for each.
pub(crate) const NESTED_MAX: u32 = 16;

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Whether one more can run inside of what this thread runs.
pub(crate) fn may_nest() -> bool {
    depth() < NESTED_MAX
}

/// How deep what this thread runs is inside of others.
pub(crate) fn depth() -> u32 {
    DEPTH.try_with(Cell::get).unwrap_or(0)
}

/// What runs here is so deep inside of others, until this is dropped.
#[must_use = "it is over when this is dropped"]
pub(crate) struct Nested {
    before: u32,
}

impl Nested {
    pub(crate) fn at(depth: u32) -> Self {
        let before = DEPTH.try_with(|cell| cell.replace(depth)).unwrap_or(0);
        Self { before }
    }
}

impl Drop for Nested {
    fn drop(&mut self) {
        let _ = DEPTH.try_with(|cell| cell.set(self.before));
    }
}
