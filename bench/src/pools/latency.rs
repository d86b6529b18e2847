//! One task at a time: what it costs to submit it, and how soon it starts.

use std::hint::{black_box, spin_loop};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::Pool;
use super::contest::{Scenario, Title};
use super::tally::{Tally, warm};

/// How long a call to submit takes, when workers are idle and calls come at a steady rate.
pub(super) struct SubmitLatency {
    pub(super) workers: usize,
    pub(super) rate: u32,
    pub(super) tasks: usize,
}

impl Scenario for SubmitLatency {
    fn titles(&self) -> Vec<Title> {
        let Self { workers, rate, .. } = self;
        let title = |percentile| {
            let paced = format!("{workers} idle workers, 1 producer at {rate}/s, no-op");
            (format!("submit latency {percentile}: {paced}"), "ns")
        };
        ["p50", "p99", "p99.9"].map(title).into()
    }

    fn takes<P: Pool>(&self) -> bool {
        true
    }

    fn round<P: Pool>(&self) -> Vec<f64> {
        let pool: P = warm(self.workers);
        let tally = Tally::of(self.tasks);
        let gap = Duration::from_secs(1) / self.rate;
        let mut kept = Vec::with_capacity(self.tasks);
        let mut latencies = Vec::with_capacity(self.tasks);
        let mut next = Instant::now();
        for index in 0..self.tasks {
            next += gap;
            while Instant::now() < next {
                spin_loop();
            }
            let start = Instant::now();
            kept.push(pool.spawn(move || {
                black_box(index);
                tally.count();
            }));
            latencies.push(start.elapsed().as_nanos() as u64);
            // Whoever is late does not make up for it: that would be a burst.
            next = next.max(start);
        }
        tally.wait();
        percentiles(latencies, &[0.5, 0.99, 0.999])
    }
}

/// How long it takes from just before the submit to the first thing that the task does, when all
/// workers have idled for a while.
pub(super) struct StartLatency {
    pub(super) workers: usize,
    pub(super) idle_ms: u64,
    pub(super) tasks: usize,
}

impl Scenario for StartLatency {
    fn titles(&self) -> Vec<Title> {
        let Self { workers, idle_ms, .. } = self;
        let title = |percentile| {
            let idle = format!("{workers} workers idle for {idle_ms} ms, 1 producer, no-op");
            (format!("wake-up latency {percentile}: {idle}"), "ns")
        };
        ["p50", "p99"].map(title).into()
    }

    fn takes<P: Pool>(&self) -> bool {
        true
    }

    fn round<P: Pool>(&self) -> Vec<f64> {
        let pool: P = warm(self.workers);
        let tally = Tally::of(self.tasks);
        let latencies: Arc<[AtomicU64]> = (0..self.tasks).map(|_| AtomicU64::new(0)).collect();
        let mut kept = Vec::with_capacity(self.tasks);
        for index in 0..self.tasks {
            thread::sleep(Duration::from_millis(self.idle_ms));
            let latencies = latencies.clone();
            let start = Instant::now();
            kept.push(pool.spawn(move || {
                let latency = start.elapsed().as_nanos() as u64;
                latencies[index].store(latency, Ordering::Relaxed);
                tally.count();
            }));
        }
        tally.wait();
        percentiles(latencies.iter().map(|l| l.load(Ordering::Relaxed)).collect(), &[0.5, 0.99])
    }
}

fn percentiles(mut values: Vec<u64>, shares: &[f64]) -> Vec<f64> {
    values.sort_unstable();
    let at = |share: &f64| values[((values.len() - 1) as f64 * share).round() as usize] as f64;
    shares.iter().map(at).collect()
}
