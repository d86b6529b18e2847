//! Whether what happened is allowed to happen.
//!
//! It knows nothing of how jobs are kept. It is given the histories of all processes and what the
//! store says of every job when all is quiet, and finds what breaks a promise.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use headcount_core::jobs::{JobId, State};

use super::history::{End, Entry, What};

/// What the store says of a job when all is quiet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Last {
    pub(crate) state: State,
    pub(crate) attempts: u32,
    pub(crate) crashes: u32,
    pub(crate) preemptions: u32,
    pub(crate) crashes_max: u32,
}

/// What was promised.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Promises {
    /// Jobs of a killed process run again within this.
    pub(crate) recovery_max: Duration,
    /// A process that is told to stop is gone within this.
    pub(crate) grace: Duration,
    /// How many acknowledged jobs the store may lose: none, unless it says that it may.
    pub(crate) lost_max: usize,
    /// Whether the store forgets what ended well, so that a job may be gone when all is over.
    pub(crate) forgets: bool,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Findings {
    /// Broken promises, in words.
    pub(crate) broken: Vec<String>,
    pub(crate) submitted: usize,
    pub(crate) starts: usize,
    pub(crate) lost: usize,
    pub(crate) kills: usize,
    /// Starts beyond the first of a job, by their cause.
    pub(crate) again_after_crash: u64,
    pub(crate) again_after_failure: u64,
    pub(crate) again_after_release: u64,
    pub(crate) stale: usize,
    /// How long jobs in hand of a killed process took to start again, shortest first.
    pub(crate) recoveries: Vec<Duration>,
}

/// How many broken promises are told of each kind; the rest are counted.
const TOLD_MAX: usize = 5;

/// A run of a handler, as far as it is known.
#[derive(Clone, Debug, Default)]
struct Run {
    pid: u32,
    start: u64,
    end: Option<(u64, End)>,
    taken: Option<u64>,
    /// The store said that somebody else holds the job.
    refused: bool,
}

impl Run {
    /// Whether the store may have forgotten the job for it: it ended well, and the store took that
    /// or was not heard of again.
    fn may_be_the_last(&self) -> bool {
        matches!(self.end, Some((_, End::Well))) && !self.refused
    }
}

#[derive(Default)]
struct Story {
    accepted: BTreeSet<JobId>,
    submitting: BTreeSet<JobId>,
    /// The runs of every job by their epoch.
    runs: BTreeMap<JobId, BTreeMap<u64, Run>>,
    twice: Vec<(JobId, u64)>,
    kills: Vec<(u32, u64)>,
    stops: BTreeMap<u32, u64>,
    exits: BTreeMap<u32, u64>,
    /// The jobs that ran for every tick.
    ticks: BTreeMap<u64, BTreeSet<JobId>>,
    stale: usize,
}

impl Story {
    fn of(entries: &[Entry]) -> Self {
        let mut story = Self::default();
        for entry in entries {
            story.add(entry);
        }
        story
    }

    fn add(&mut self, entry: &Entry) {
        let Entry { at, pid, what } = *entry;
        match what {
            What::Submitting(id) => _ = self.submitting.insert(id),
            What::Accepted(id) => _ = self.accepted.insert(id),
            What::Start(id, epoch) => {
                let run = Run { pid, start: at, ..Run::default() };
                if self.runs.entry(id).or_default().insert(epoch, run).is_some() {
                    self.twice.push((id, epoch));
                }
            }
            What::End(id, epoch, end) => self.run(id, epoch).end = Some((at, end)),
            What::Taken(id, epoch) => self.run(id, epoch).taken = Some(at),
            What::Stale(id, epoch) => {
                self.stale += 1;
                if let Some(run) = self.runs.get_mut(&id).and_then(|runs| runs.get_mut(&epoch)) {
                    run.refused = true;
                }
            }
            What::Killed => self.kills.push((pid, at)),
            What::Stopping => _ = self.stops.insert(pid, at),
            What::Exit => _ = self.exits.insert(pid, at),
            What::Tick(id, tick) => _ = self.ticks.entry(tick).or_default().insert(id),
        }
    }

    /// Whether a job that is gone may have been done.
    fn may_be_done(&self, id: JobId) -> bool {
        self.runs.get(&id).is_some_and(|runs| runs.values().any(Run::may_be_the_last))
    }

    fn run(&mut self, id: JobId, epoch: u64) -> &mut Run {
        self.runs.entry(id).or_default().entry(epoch).or_default()
    }
}

/// Finds every broken promise in what happened.
pub(crate) fn check(
    entries: &[Entry],
    last: &BTreeMap<JobId, Last>,
    promises: Promises,
) -> Findings {
    let story = Story::of(entries);
    let mut findings = Findings {
        submitted: story.accepted.len(),
        starts: story.runs.values().map(BTreeMap::len).sum(),
        kills: story.kills.len(),
        stale: story.stale,
        ..Findings::default()
    };
    let mut broken = Vec::new();
    broken.extend(lost(&story, last, promises, &mut findings));
    broken.extend(phantoms(&story));
    broken.extend(after_the_end(&story));
    broken.extend(two_owners(&story));
    broken.extend(too_often(&story, last, &mut findings));
    broken.extend(miscounted(&story, last));
    broken.extend(slow_recoveries(&story, last, promises, &mut findings));
    broken.extend(bad_stops(&story, promises));
    broken.extend(ticks(&story));
    findings.broken = broken;
    findings
}

fn told(kind: &str, faults: Vec<String>) -> Vec<String> {
    let more = faults.len().saturating_sub(TOLD_MAX);
    let mut told: Vec<String> =
        faults.into_iter().take(TOLD_MAX).map(|fault| format!("{kind}: {fault}")).collect();
    if 0 < more {
        told.push(format!("{kind}: and {more} more"));
    }
    told
}

/// I1: what was acknowledged ends.
fn lost(
    story: &Story,
    last: &BTreeMap<JobId, Last>,
    promises: Promises,
    findings: &mut Findings,
) -> Vec<String> {
    let mut gone = Vec::new();
    let mut faults = Vec::new();
    for id in &story.accepted {
        match last.get(id) {
            None if promises.forgets && story.may_be_done(*id) => {}
            None => gone.push(format!("{id} was acknowledged and is gone")),
            Some(last) if !last.state.is_final() => {
                faults.push(format!("{id} was acknowledged and is still {}", last.state));
            }
            Some(_) => {}
        }
    }
    findings.lost = gone.len();
    if promises.lost_max < gone.len() {
        faults.extend(gone);
    }
    told("I1 no loss", faults)
}

/// I2: nothing runs that nobody submitted.
fn phantoms(story: &Story) -> Vec<String> {
    let unknown = story.runs.keys().filter(|id| !story.submitting.contains(id));
    told("I2 no phantom", unknown.map(|id| format!("{id} ran, nobody submitted it")).collect())
}

/// I3: what the store took as done never starts again.
fn after_the_end(story: &Story) -> Vec<String> {
    let mut faults = Vec::new();
    for (id, runs) in &story.runs {
        let done = runs.values().filter(|run| matches!(run.end, Some((_, End::Well))));
        let Some(done) = done.filter_map(|run| run.taken).min() else { continue };
        if runs.values().any(|run| done < run.start) {
            faults.push(format!("{id} started after it was settled"));
        }
    }
    told("I3 a settle is final", faults)
}

/// I4: one valid owner at a time.
fn two_owners(story: &Story) -> Vec<String> {
    let mut faults: Vec<String> = Vec::new();
    for (id, epoch) in &story.twice {
        faults.push(format!("{id} started twice in epoch {epoch}"));
    }
    for (id, runs) in &story.runs {
        // Later epochs, later starts: an epoch is given when a job is handed out, and a start that
        // was delayed may come late, but never be accepted afterwards.
        for (epoch, run) in runs {
            let Some((ended, _)) = run.end.filter(|_| run.taken.is_some()) else { continue };
            let newer =
                runs.range(epoch + 1..).any(|(_, newer)| newer.start != 0 && newer.start < ended);
            if newer {
                faults.push(format!("{id}: epoch {epoch} was settled after a newer one began"));
            }
        }
        let taken = |run: &&Run| run.taken.is_some() && matches!(run.end, Some((_, End::Well)));
        let settled = runs.values().filter(taken).count();
        if 1 < settled {
            faults.push(format!("{id} was settled as done {settled} times"));
        }
    }
    told("I4 one owner", faults)
}

/// I5: no run without a cause.
fn too_often(story: &Story, last: &BTreeMap<JobId, Last>, findings: &mut Findings) -> Vec<String> {
    let mut faults = Vec::new();
    for (id, runs) in &story.runs {
        let Some(last) = last.get(id) else { continue };
        let done = u64::from(last.state == State::Done);
        let causes =
            u64::from(last.attempts) + u64::from(last.crashes) + u64::from(last.preemptions) + done;
        let starts = runs.values().filter(|run| run.start != 0).count() as u64;
        if causes < starts && last.state != State::Cancelled {
            faults.push(format!("{id} started {starts} times, with cause for {causes}"));
        }
        if 1 < starts {
            findings.again_after_crash += u64::from(last.crashes);
            findings.again_after_failure += u64::from(last.attempts);
            findings.again_after_release += u64::from(last.preemptions);
        }
    }
    told("I5 no run without a cause", faults)
}

/// I7: a failure counts as an attempt, a lost worker as a crash, and nothing as both.
fn miscounted(story: &Story, last: &BTreeMap<JobId, Last>) -> Vec<String> {
    let mut faults = Vec::new();
    for (id, last) in last {
        let empty = BTreeMap::new();
        let runs = story.runs.get(id).unwrap_or(&empty);
        let failed = |run: &&Run| matches!(run.end, Some((_, End::Badly)));
        let failures = runs.values().filter(failed).count();
        let sure = runs.values().filter(failed).filter(|run| run.taken.is_some()).count();
        let attempts = last.attempts as usize;
        if attempts < sure || failures < attempts {
            let of = format!("{sure} to {failures} failures");
            faults.push(format!("{id} has {attempts} attempts, of {of}"));
        }
        match last.state {
            State::Quarantined if last.crashes != last.crashes_max => faults.push(format!(
                "{id} was put aside after {} crashes, allowed are {}",
                last.crashes, last.crashes_max,
            )),
            State::Done | State::Dead if last.crashes_max <= last.crashes => {
                faults.push(format!("{id} was not put aside after {} crashes", last.crashes));
            }
            _ => {}
        }
    }
    told("I7 honest counters", faults)
}

/// I6: what a killed process had in hand soon starts elsewhere. Where the next process was killed
/// as well, between taking it and beginning, it takes as long once more. Nobody wrote that down,
/// but the store counts every loss, and whoever kills writes it down: it takes both.
fn slow_recoveries(
    story: &Story,
    last: &BTreeMap<JobId, Last>,
    promises: Promises,
    findings: &mut Findings,
) -> Vec<String> {
    let mut faults = Vec::new();
    for (pid, killed) in &story.kills {
        for (id, runs) in &story.runs {
            let in_hand = runs
                .iter()
                .find(|(_, run)| run.pid == *pid && run.start < *killed && run.end.is_none());
            let Some((epoch, _)) = in_hand else { continue };
            let next = runs.range(epoch + 1..).map(|(_, run)| run.start).find(|at| *at != 0);
            let Some(next) = next else { continue };
            let took = Duration::from_nanos(next.saturating_sub(*killed));
            findings.recoveries.push(took);
            let meanwhile = story.kills.iter().filter(|(_, at)| killed < at && *at < next).count();
            let unseen = last.get(id).map_or(0, |last| unseen_losses(runs, last));
            let times = 1 + unseen.min(u32::try_from(meanwhile).unwrap_or(u32::MAX));
            if promises.recovery_max * times < took {
                faults.push(format!("{id} started again after {took:?}, {times} times lost"));
            }
        }
    }
    findings.recoveries.sort_unstable();
    told("I6 recovery", faults)
}

/// How often the store says that a job was lost by a process that had not begun it.
fn unseen_losses(runs: &BTreeMap<u64, Run>, last: &Last) -> u32 {
    let seen = runs.values().filter(|run| run.taken.is_none()).count();
    last.crashes.saturating_sub(u32::try_from(seen).unwrap_or(u32::MAX))
}

/// I10: a process that is told to stop begins nothing and is gone in time.
fn bad_stops(story: &Story, promises: Promises) -> Vec<String> {
    let mut faults = Vec::new();
    for (pid, stopped) in &story.stops {
        let late = story.runs.values().flat_map(BTreeMap::values);
        let late = late.filter(|run| run.pid == *pid && *stopped < run.start).count();
        if 0 < late {
            faults.push(format!("process {pid} began {late} jobs after it was told to stop"));
        }
        let killed = story.kills.iter().any(|(killed, _)| killed == pid);
        match story.exits.get(pid) {
            Some(exit) => {
                let took = Duration::from_nanos(exit.saturating_sub(*stopped));
                if promises.grace < took {
                    faults.push(format!("process {pid} took {took:?} to stop"));
                }
            }
            None if killed => {}
            None => faults.push(format!("process {pid} never stopped")),
        }
    }
    told("I10 drain", faults)
}

/// I12: a tick fires once.
fn ticks(story: &Story) -> Vec<String> {
    let mut faults: Vec<String> = Vec::new();
    for (tick, fired) in &story.ticks {
        if 1 < fired.len() {
            faults.push(format!("the tick at {tick} fired {} times", fired.len()));
        }
    }
    told("I12 a tick fires once", faults)
}
