//! What a worker process knows of its jobs.

use std::future::pending;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::orders::{Report, Work, cpu_us, now_ns, submitted_ns};

/// Counts the jobs of a worker process, and keeps how long they waited.
#[derive(Debug)]
pub struct Tally {
    work: Work,
    started: AtomicU64,
    ran: AtomicU64,
    /// When the first job started, and the time on a processor until then.
    first: OnceLock<(u64, f64)>,
    last_ns: AtomicU64,
    latencies_us: Mutex<Vec<f64>>,
}

impl Tally {
    pub(super) fn new(work: Work) -> Self {
        Self {
            work,
            started: AtomicU64::new(0),
            ran: AtomicU64::new(0),
            first: OnceLock::new(),
            last_ns: AtomicU64::new(0),
            latencies_us: Mutex::new(Vec::new()),
        }
    }

    /// Is one job.
    pub async fn run(&self, payload: &str) {
        let now = now_ns();
        self.first.get_or_init(|| (now, cpu_us()));
        self.started.fetch_add(1, Ordering::Relaxed);
        let submitted = submitted_ns(payload);
        if submitted != 0 {
            let latency = now.saturating_sub(submitted) as f64 / 1e3;
            self.latencies_us.lock().unwrap_or_else(PoisonError::into_inner).push(latency);
        }
        if self.work == Work::Hold {
            pending::<()>().await;
        }
        self.last_ns.fetch_max(now, Ordering::Relaxed);
        // Last, so that whoever reads the count finds the moment that belongs to it.
        self.ran.fetch_add(1, Ordering::Release);
    }

    pub(super) fn report(&self) -> Report {
        let ran = self.ran.load(Ordering::Acquire);
        let (first_ns, cpu_first_us) = self.first.get().copied().unwrap_or_default();
        Report {
            started: self.started.load(Ordering::Relaxed),
            ran,
            first_ns,
            last_ns: self.last_ns.load(Ordering::Relaxed),
            cpu_us: cpu_us(),
            cpu_first_us,
        }
    }

    pub(super) fn latencies_us(&self) -> Vec<f64> {
        self.latencies_us.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queues::orders::payload;
    use futures_lite::future::{block_on, poll_once};

    #[test]
    fn counts_what_ran_and_keeps_the_wait_of_stamped_jobs() {
        let tally = Tally::new(Work::Nothing);
        block_on(tally.run(&payload(0, 100)));
        block_on(tally.run(&payload(1, 100)));
        let report = tally.report();
        assert_eq!((report.started, report.ran, tally.latencies_us().len()), (2, 2, 1));
        assert!(report.first_ns <= report.last_ns, "{report:?}");
    }

    #[test]
    fn a_held_job_starts_and_does_not_end() {
        let tally = Tally::new(Work::Hold);
        assert_eq!(block_on(poll_once(tally.run("held"))), None);
        assert_eq!((tally.report().started, tally.report().ran), (1, 0));
    }
}
