//! What a pool costs beside time: processor time while it idles, and allocations.

use std::hint::black_box;
use std::thread;
use std::time::Duration;

use super::Pool;
use super::allocator::allocations;
use super::contest::{Scenario, Title};
use super::process::others_processor_time;
use super::tally::{Tally, warm};

/// How long workers may take to fall asleep before it counts as idling.
const FALL_ASLEEP: Duration = Duration::from_millis(100);

/// Processor time of the process while its workers have nothing to do. The thread that measures,
/// which goes to sleep once, is in it for everybody.
pub(super) struct Idle {
    pub(super) workers: usize,
    pub(super) seconds: u64,
}

impl Scenario for Idle {
    fn titles(&self) -> Vec<Title> {
        let Self { workers, seconds } = self;
        let what = format!("idle CPU: {workers} parked workers, no task, over {seconds} s");
        vec![(what, "us/s")]
    }

    fn takes<P: Pool>(&self) -> bool {
        self.workers <= P::THREADS_MAX
    }

    fn round<P: Pool>(&self) -> Vec<f64> {
        let pool: P = warm(self.workers);
        thread::sleep(FALL_ASLEEP);
        let before = others_processor_time();
        thread::sleep(Duration::from_secs(self.seconds));
        let spent = others_processor_time().saturating_sub(before);
        drop(pool);
        vec![spent.as_secs_f64() * 1e6 / self.seconds as f64]
    }
}

/// How often a task makes its pool ask for memory.
pub(super) struct Allocations {
    pub(super) workers: usize,
    pub(super) tasks: usize,
}

impl Allocations {
    fn submit_all<P: Pool>(&self, pool: &P) -> u64 {
        let tally = Tally::of(self.tasks);
        let mut kept = Vec::with_capacity(self.tasks);
        let counted = allocations(|| {
            kept.extend((0..self.tasks).map(|index| {
                pool.spawn(move || {
                    black_box(index);
                    tally.count();
                })
            }));
            tally.wait();
        });
        drop(kept);
        counted
    }
}

impl Scenario for Allocations {
    fn titles(&self) -> Vec<Title> {
        let what = format!("allocations per task: {} workers, 1 producer, no-op", self.workers);
        vec![(what, "")]
    }

    fn takes<P: Pool>(&self) -> bool {
        true
    }

    fn round<P: Pool>(&self) -> Vec<f64> {
        let pool: P = warm(self.workers);
        // Once before it counts, so that what a queue allocates while it grows is not counted.
        self.submit_all(&pool);
        vec![self.submit_all(&pool) as f64 / self.tasks as f64]
    }
}
