//! What is said between the benchmark and the processes it starts.
//!
//! A producer is started as `produce NAME PLACE ORDER`. It does what the order says, prints one
//! [`Produced`] and ends. A worker is started as `work NAME PLACE SHIFT`. It prints `{}` when it
//! is at work, and after that one [`Report`] for each line `report` that it reads, and the list of
//! latencies for each line `latencies`. It ends when its input does, so nobody outlives the
//! benchmark. Every answer is one line of JSON.
//!
//! Moments are nanoseconds of the monotonic clock, which all processes of a machine share.

use rustix::time::{ClockId, Timespec, clock_gettime};
use serde::{Deserialize, Serialize};

/// The line that asks a worker for a [`Report`].
pub(super) const REPORT: &str = "report";
/// The line that asks a worker for the latencies it saw.
pub(super) const LATENCIES: &str = "latencies";

/// How jobs are enqueued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum How {
    /// One after the other.
    Single,
    /// One at a time from `width` places at once.
    Concurrent,
    /// `width` with each call.
    Bulk,
    /// `width` a second, each with the moment at which it was submitted.
    Paced,
}

/// What a producer has to do.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) how: How,
    pub(super) jobs: usize,
    pub(super) width: usize,
    /// Jobs that come before those that count.
    pub(super) warm_up: usize,
    /// The size of a job's payload in bytes.
    pub(super) payload: usize,
}

/// What a producer did, without its warm-up.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Produced {
    pub(super) seconds: f64,
    pub(super) cpu_us: f64,
}

/// What a job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Work {
    Nothing,
    /// It never ends.
    Hold,
}

/// What a worker has to do.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Shift {
    pub(super) concurrency: usize,
    pub(super) work: Work,
}

/// What a worker did so far. The moments are 0 before its first job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Report {
    pub(super) started: u64,
    pub(super) ran: u64,
    pub(super) first_ns: u64,
    pub(super) last_ns: u64,
    /// Time on a processor since the process began.
    pub(super) cpu_us: f64,
    /// The same at the first job, when it had begun to work.
    pub(super) cpu_first_us: f64,
}

impl Report {
    /// What both did together.
    pub(super) fn and(self, other: Self) -> Self {
        let first = match (self.first_ns, other.first_ns) {
            (0, first) | (first, 0) => first,
            (one, another) => one.min(another),
        };
        Self {
            started: self.started + other.started,
            ran: self.ran + other.ran,
            first_ns: first,
            last_ns: self.last_ns.max(other.last_ns),
            cpu_us: self.cpu_us + other.cpu_us,
            cpu_first_us: self.cpu_first_us + other.cpu_first_us,
        }
    }
}

/// This moment.
pub(super) fn now_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

/// Time that this process has spent on a processor.
pub(super) fn cpu_us() -> f64 {
    nanoseconds(clock_gettime(ClockId::ProcessCPUTime)) as f64 / 1e3
}

fn nanoseconds(time: Timespec) -> u64 {
    u64::try_from(time.tv_sec * 1_000_000_000 + time.tv_nsec).expect("both clocks begin at 0")
}

/// A payload that begins with the moment at which it was submitted; 0 where nobody asks.
pub(super) fn payload(submitted_ns: u64, size: usize) -> String {
    format!("{submitted_ns:020}{}", "x".repeat(size.saturating_sub(20)))
}

/// The moment at which a payload was submitted.
pub(super) fn submitted_ns(payload: &str) -> u64 {
    payload.get(..20).and_then(|digits| digits.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_tells_when_it_was_submitted() {
        let payload = payload(1_234_567, 100);
        assert_eq!((payload.len(), submitted_ns(&payload)), (100, 1_234_567));
        assert_eq!(submitted_ns("of somebody else"), 0);
    }

    #[test]
    fn two_workers_report_as_one() {
        let idle = Report { cpu_us: 5.0, ..Report::default() };
        let one = Report { started: 2, ran: 1, first_ns: 10, last_ns: 40, ..idle };
        let another = Report { started: 3, ran: 3, first_ns: 8, last_ns: 20, ..idle };
        let both = Report { started: 5, ran: 4, first_ns: 8, last_ns: 40, cpu_us: 10.0, ..idle };
        assert_eq!(one.and(another), both);
        assert_eq!(idle.and(one).first_ns, 10);
    }
}
