//! One word of flags that everybody reads and few write.

use crossbeam_utils::CachePadded;

use crate::sync::atomic::{AtomicU32, Ordering};

/// A new task may need a worker woken or hired: submitters come to the desk.
pub(crate) const SUMMON: u32 = 1;
/// Too many workers, or the pool is paused: workers come to the desk before their next task.
pub(crate) const REPORT: u32 = 1 << 1;
/// Somebody waits for a place in the line.
pub(crate) const ROOM: u32 = 1 << 2;
/// Tasks are so short that not every one of them is measured.
pub(crate) const QUICK: u32 = 1 << 3;
/// Tasks are so short that workers would only wait for each other where they take them.
pub(crate) const TINY: u32 = 1 << 4;
/// One worker alone was too slow for tasks that seem tiny.
pub(crate) const SHARED: u32 = 1 << 5;
/// Those who wait are late: the newest go first.
pub(crate) const LATE: u32 = 1 << 6;
/// Somebody waits for calm in a paused pool, where no worker takes shells out.
pub(crate) const CALM: u32 = 1 << 7;

/// The flags that are up.
#[derive(Debug, Default)]
pub(crate) struct Notice {
    word: CachePadded<AtomicU32>,
}

impl Notice {
    pub(crate) fn read(&self) -> u32 {
        self.word.load(Ordering::Acquire)
    }

    /// Raises `flags` and says whether one of them was down.
    pub(crate) fn raise(&self, flags: u32) -> bool {
        // A look first: the word is read by all, and a write takes it away from them.
        self.read() & flags != flags && self.word.fetch_or(flags, Ordering::AcqRel) & flags != flags
    }

    /// Lowers `flags`.
    pub(crate) fn lower(&self, flags: u32) {
        if self.read() & flags != 0 {
            self.word.fetch_and(!flags, Ordering::AcqRel);
        }
    }

    /// Raises or lowers `flags`, and says whether one of them was raised that was down.
    pub(crate) fn set(&self, flags: u32, up: bool) -> bool {
        match up {
            true => self.raise(flags),
            false => {
                self.lower(flags);
                false
            }
        }
    }
}
