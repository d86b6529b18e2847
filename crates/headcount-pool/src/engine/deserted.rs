//! How deep submitters run what waits inside of one another, where there is no worker.
//!
//! A submitter that finds its pool deserted runs what it handed over, and that may hand over
//! another. Each lies on the stack of the same thread. Whoever would lie too deep leaves its task
//! in the line, to the one above it on the same thread that sees to the same pool.

use std::cell::RefCell;

use crate::task::NESTED_MAX;

/// A pool that this thread sees to.
struct Seen {
    pool: usize,
    /// How many times, one inside of the other.
    depth: u32,
    /// How many waited when the innermost left its task to those above.
    left: u64,
}

thread_local! {
    static SEEN: RefCell<Vec<Seen>> = const { RefCell::new(Vec::new()) };
}

/// This thread sees to a pool once more, until this is dropped.
pub(super) struct Seeing {
    pool: usize,
}

impl Seeing {
    /// `None`: it does so too many times already, and those above see to the `queued`.
    pub(super) fn to(pool: usize, queued: u64) -> Option<Self> {
        let seen = SEEN.try_with(|seen| {
            let mut seen = seen.borrow_mut();
            match seen.iter_mut().find(|known| known.pool == pool) {
                Some(known) if known.depth == NESTED_MAX => {
                    known.left = queued;
                    return false;
                }
                Some(known) => known.depth += 1,
                None => seen.push(Seen { pool, depth: 1, left: 0 }),
            }
            true
        });
        // Made only then: dropped, it counts down.
        seen.unwrap_or(false).then(|| Self { pool })
    }

    /// How many were left to it by those inside of it.
    pub(super) fn take_left(&self) -> u64 {
        let left = SEEN.try_with(|seen| {
            let mut seen = seen.borrow_mut();
            let known = seen.iter_mut().find(|known| known.pool == self.pool);
            known.map_or(0, |known| std::mem::take(&mut known.left))
        });
        left.unwrap_or(0)
    }
}

impl Drop for Seeing {
    fn drop(&mut self) {
        let _ = SEEN.try_with(|seen| {
            let mut seen = seen.borrow_mut();
            if let Some(known) = seen.iter_mut().find(|known| known.pool == self.pool) {
                known.depth -= 1;
            }
            seen.retain(|known| 0 < known.depth);
        });
    }
}
