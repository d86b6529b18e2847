//! What the system says about this process: threads, memory, time on a processor.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// How often the number of threads is looked at.
const LOOK_EVERY: Duration = Duration::from_micros(200);

/// How many threads this process has.
pub(super) fn threads() -> usize {
    status("Threads:")
}

/// How much of its memory is resident, in kB.
pub(super) fn resident_kb() -> usize {
    status("VmRSS:")
}

fn status(field: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("this benchmark needs Linux");
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let value = line.and_then(|line| line.split_whitespace().next());
    value.and_then(|value| value.parse().ok()).expect("the system reports this about a process")
}

/// Waits until the process has at most `threads` threads, or until `most` has passed; says how
/// long that took.
pub(super) fn wait_for_threads(threads: usize, most: Duration) -> Duration {
    let start = Instant::now();
    while threads < self::threads() && start.elapsed() < most {
        thread::sleep(LOOK_EVERY);
    }
    start.elapsed().min(most)
}

/// Time that all threads of this process but the caller, also those that have ended, spent on a
/// processor.
pub(super) fn others_processor_time() -> Duration {
    let time = |clock| Duration::try_from(clock_gettime(clock)).expect("it is never negative");
    // In this order: what this very call takes must not count for the others.
    let all = time(ClockId::ProcessCPUTime);
    all.saturating_sub(time(ClockId::ThreadCPUTime))
}
