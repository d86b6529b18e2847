//! The workers of one contestant, which may be several processes.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Place;
use super::child::Child;
use super::field::Contestant;
use super::orders::{LATENCIES, REPORT, Report, Shift};
use super::stage::Stage;

/// How long a process may take to be at work, and to answer.
const ANSWER_MAX: Duration = Duration::from_secs(20);
/// Without any progress for this long, it will not come.
const STALL_MAX: Duration = Duration::from_secs(10);
/// All in all a round may take this long.
const ROUND_MAX: Duration = Duration::from_secs(90);
/// How often it is looked whether they are done. They know themselves when they were.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Until the last acknowledgements have arrived.
const SETTLE: Duration = Duration::from_millis(100);

/// Workers at work.
#[derive(Debug)]
pub(super) struct Crew {
    workers: Vec<Child>,
}

impl Crew {
    /// Starts them, and returns when all are at work.
    pub(super) fn start(
        stage: &Stage,
        contestant: &Contestant,
        place: &Place,
        shift: Shift,
    ) -> Result<Self, String> {
        let concurrency = shift.concurrency / contestant.processes;
        let task = serde_json::to_string(&Shift { concurrency, ..shift });
        let task = task.expect("a shift is plain data");
        let start = |_| stage.child(contestant, "work", place, &task);
        let workers: Vec<Child> = (0..contestant.processes).map(start).collect::<Result<_, _>>()?;
        for worker in &workers {
            worker.next::<Value>(ANSWER_MAX)?;
        }
        Ok(Self { workers })
    }

    /// What they did so far.
    pub(super) fn report(&mut self) -> Result<Report, String> {
        let mut all = Report::default();
        for worker in &mut self.workers {
            all = all.and(worker.ask(REPORT, ANSWER_MAX)?);
        }
        Ok(all)
    }

    /// Waits until they have run so many jobs, as long as there is progress.
    pub(super) fn wait_for(&mut self, jobs: usize) -> Result<Report, String> {
        let start = Instant::now();
        let (mut ran, mut since) = (0, start);
        loop {
            let report = self.report()?;
            if jobs as u64 <= report.ran {
                thread::sleep(SETTLE);
                return self.report();
            }
            if ran < report.ran {
                (ran, since) = (report.ran, Instant::now());
            }
            if STALL_MAX < since.elapsed() || ROUND_MAX < start.elapsed() {
                return Err(format!("stalled at {ran} of {jobs} jobs"));
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    /// Waits until a condition holds for what they did, for as long as that may take; says how
    /// long it took.
    pub(super) fn wait_until(
        &mut self,
        most: Duration,
        holds: impl Fn(&Report) -> bool,
    ) -> Result<Option<Duration>, String> {
        let start = Instant::now();
        while start.elapsed() < most {
            if holds(&self.report()?) {
                return Ok(Some(start.elapsed()));
            }
            thread::sleep(LOOK_EVERY);
        }
        Ok(None)
    }

    /// How long the jobs that carry a moment had waited when they started.
    pub(super) fn latencies_us(&mut self) -> Result<Vec<f64>, String> {
        let mut all = Vec::new();
        for worker in &mut self.workers {
            all.extend(worker.ask::<Vec<f64>>(LATENCIES, ANSWER_MAX)?);
        }
        Ok(all)
    }

    /// Ends them as kill -9 does.
    pub(super) fn kill(mut self) {
        self.workers.iter_mut().for_each(Child::kill);
    }
}
