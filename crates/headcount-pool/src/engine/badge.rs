//! What a worker wears: how far it is, written by itself, and signals for it.

use std::fmt;
#[cfg(all(not(loom), target_pointer_width = "64"))]
use std::mem::offset_of;

use headcount_core::{Name, Timestamp};

use super::Kind;
use crate::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use crate::sync::{Mutex, lock};

/// What a parked worker is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// There is a task.
    Take,
    /// It is not needed any more.
    Leave,
}

const NONE: u8 = 0;
const TAKE: u8 = 1;
const LEAVE: u8 = 2;

/// One worker's badge. It makes that itself as it starts, so that whoever starts workers has less
/// to do for each, and where a thread's start gives memory back (glibc: a piece of 152 bytes, and
/// two of 40) the badge lies there and costs none.
///
/// Its worker writes the counts in the middle with every task. Around them stands what is seldom
/// written, enough of it on either side that no neighbour on the heap has a share in their cache
/// line, another badge least of all. To round each badge up to lines of its own took three times
/// the memory: an `Arc` puts its own two words before it.
#[repr(C)]
pub(crate) struct Badge<K: Kind> {
    /// Of which class the present task is, if it said so.
    class: Mutex<Option<Name>>,
    /// How many tasks it took.
    taken: AtomicU64,
    /// When the present task began, or the group it is in. 0: it has none.
    since: AtomicU64,
    /// How many of the tasks it took have been counted by what became of them.
    settled: AtomicU64,
    signal: AtomicU8,
    /// Whether its worker is counted among those whose tasks are short.
    short: AtomicBool,
    /// Whether its worker was counted out, and is to report after its task.
    recalled: AtomicBool,
    /// The kernel's number of the thread. 0: not known.
    thread: AtomicU32,
    /// When the present blocking section began. 0: it is in none.
    blocked_since: AtomicU64,
    /// The beginning of a task that was told to be stuck. 0: none was.
    stuck_since: AtomicU64,
    /// How many blocking sections are open, one inside the other.
    sections: AtomicU32,
    bed: K::Bed,
    apart: [u64; 2],
}

/// Whoever writes a word of a line takes it from all others who have it. What comes from the heap
/// begins at a multiple of 16 bytes, so a line reaches 48 beyond it at most.
#[cfg(all(not(loom), target_pointer_width = "64"))]
const _: () = {
    const BESIDE: usize = 48;
    const ARC: usize = 2 * size_of::<usize>();
    type Plain = Badge<crate::Threads>;
    let (first, end) = (offset_of!(Plain, taken), offset_of!(Plain, signal));
    assert!(BESIDE <= ARC + first && BESIDE <= size_of::<Plain>() - end, "neighbours share a line");
    assert!(ARC + size_of::<Plain>() <= 152, "it does not fit where its thread had something");
};

impl<K: Kind> Badge<K> {
    pub(crate) fn new() -> Self {
        Self {
            class: Mutex::new(None),
            taken: AtomicU64::new(0),
            since: AtomicU64::new(0),
            settled: AtomicU64::new(0),
            signal: AtomicU8::new(NONE),
            short: AtomicBool::new(false),
            recalled: AtomicBool::new(false),
            thread: AtomicU32::new(0),
            blocked_since: AtomicU64::new(0),
            stuck_since: AtomicU64::new(0),
            sections: AtomicU32::new(0),
            bed: K::Bed::default(),
            apart: [0; 2],
        }
    }

    /// Where its worker sleeps.
    pub(crate) fn bed(&self) -> &K::Bed {
        &self.bed
    }

    /// Counts a task taken. Only its worker does.
    pub(crate) fn count(&self) {
        let taken = self.taken.load(Ordering::Relaxed);
        self.taken.store(taken + 1, Ordering::Release);
    }

    /// How many tasks its worker took.
    pub(crate) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Acquire)
    }

    /// So many more of those it took have been counted by what became of them, or had nothing left
    /// to count. Only its worker says so.
    pub(crate) fn settle(&self, tasks: u64) {
        let settled = self.settled.load(Ordering::Relaxed);
        self.settled.store(settled + tasks, Ordering::Release);
    }

    /// How many tasks it took that have not been counted by what became of them.
    pub(crate) fn in_hand(&self) -> u64 {
        let settled = self.settled.load(Ordering::Acquire);
        self.taken().saturating_sub(settled)
    }

    /// Its worker is at a task since then, or has none.
    pub(crate) fn at_task(&self, since: Option<Timestamp>) {
        let nanos = since.map_or(0, |since| since.as_nanos().max(1));
        self.since.store(nanos, Ordering::Relaxed);
    }

    /// Since when its worker is at its task.
    pub(crate) fn since(&self) -> Option<Timestamp> {
        time_of(&self.since)
    }

    /// Its worker is in a section that blocks since then, or in none.
    pub(crate) fn blocked(&self, since: Option<Timestamp>) {
        let nanos = since.map_or(0, |since| since.as_nanos().max(1));
        self.blocked_since.store(nanos, Ordering::Relaxed);
    }

    pub(crate) fn blocked_since(&self) -> Option<Timestamp> {
        time_of(&self.blocked_since)
    }

    /// A blocking section begins. Whether it is inside of no other; only its worker says so.
    pub(crate) fn opens_section(&self) -> bool {
        self.sections.fetch_add(1, Ordering::Relaxed) == 0
    }

    /// One ends. Whether it was inside of no other.
    pub(crate) fn closes_section(&self) -> bool {
        self.sections.fetch_sub(1, Ordering::Relaxed) == 1
    }

    /// Its task, which began then, is told to be stuck. Whether that is new; only the keeper says
    /// so.
    pub(crate) fn is_stuck_since(&self, since: Timestamp) -> bool {
        let nanos = since.as_nanos().max(1);
        let before = self.stuck_since.load(Ordering::Relaxed);
        self.stuck_since.store(nanos, Ordering::Relaxed);
        before != nanos
    }

    /// Sets whether its worker's tasks are short, and says whether that is new. Its own does.
    pub(crate) fn set_short(&self, short: bool) -> bool {
        let before = self.short.load(Ordering::Relaxed);
        if before != short {
            self.short.store(short, Ordering::Relaxed);
        }
        before != short
    }

    pub(crate) fn is_short(&self) -> bool {
        self.short.load(Ordering::Relaxed)
    }

    /// Its worker was counted out: it is to report after its task, before it takes another.
    pub(crate) fn recall(&self) {
        self.recalled.store(true, Ordering::Release);
    }

    pub(crate) fn is_recalled(&self) -> bool {
        self.recalled.load(Ordering::Acquire)
    }

    /// Its worker has reported.
    pub(crate) fn has_reported(&self) {
        self.recalled.store(false, Ordering::Relaxed);
    }

    pub(crate) fn set_class(&self, class: Option<Name>) {
        *lock(&self.class) = class;
    }

    pub(crate) fn class(&self) -> Option<Name> {
        *lock(&self.class)
    }

    pub(crate) fn set_thread(&self, number: u32) {
        self.thread.store(number, Ordering::Relaxed);
    }

    /// The kernel's number of its thread, if it has one.
    pub(crate) fn thread(&self) -> Option<u32> {
        Some(self.thread.load(Ordering::Relaxed)).filter(|number| *number != 0)
    }

    /// Leaves a signal. It is for the desk to see that its worker is parked and has none.
    pub(crate) fn send(&self, signal: Signal) {
        let code = match signal {
            Signal::Take => TAKE,
            Signal::Leave => LEAVE,
        };
        self.signal.store(code, Ordering::Release);
    }

    /// Takes the signal, if there is one. Only its worker does.
    pub(crate) fn receive(&self) -> Option<Signal> {
        match self.signal.load(Ordering::Acquire) {
            NONE => None,
            code => {
                self.signal.store(NONE, Ordering::Relaxed);
                Some(if code == TAKE { Signal::Take } else { Signal::Leave })
            }
        }
    }
}

fn time_of(nanos: &AtomicU64) -> Option<Timestamp> {
    let nanos = nanos.load(Ordering::Relaxed);
    (nanos != 0).then(|| Timestamp::from_nanos(nanos))
}

impl<K: Kind> fmt::Debug for Badge<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Badge").field("taken", &self.taken()).finish_non_exhaustive()
    }
}
