//! The system's allocator, which counts while it is asked to.
//!
//! It counts on all threads. While nobody asks it costs a load of a value that never changes, so
//! that the rows about time are not about it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// On a line of its own, so that counting elsewhere does not make reading it dear.
#[repr(align(128))]
struct Alone<T>(T);

static COUNTING: Alone<AtomicBool> = Alone(AtomicBool::new(false));
static COUNTED: Alone<AtomicU64> = Alone(AtomicU64::new(0));

/// How often memory was asked for while `work` ran, on whatever thread.
pub(super) fn allocations(work: impl FnOnce()) -> u64 {
    COUNTED.0.store(0, Ordering::Relaxed);
    COUNTING.0.store(true, Ordering::SeqCst);
    work();
    COUNTING.0.store(false, Ordering::SeqCst);
    COUNTED.0.load(Ordering::Relaxed)
}

fn count() {
    if COUNTING.0.load(Ordering::Relaxed) {
        COUNTED.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// The system's allocator with a counter before it. A program that wants to count makes it its
/// global allocator.
#[derive(Debug)]
pub struct CountingAllocator;

// SAFETY: every call is handed on to the system's allocator as it came, and counting neither
// allocates nor panics.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps to the same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps to the same contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller keeps to the same contract.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps to the same contract.
        unsafe { System.dealloc(memory, layout) }
    }
}
