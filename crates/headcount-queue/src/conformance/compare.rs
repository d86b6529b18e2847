//! The same sequence on the model and on a store: every answer, number and record is compared.

use std::cell::Cell;
use std::fmt::Debug;
use std::future::Future;
use std::time::Duration;

use headcount_core::Timestamp;
use headcount_core::jobs::port::{
    Ending, ExtendAsk, LeaseAsk, Leased, Listing, Note, Page, Settlement, StoreError,
};
use headcount_core::jobs::{Holder, JobId, JobRecord, Label, State};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use super::op::{Op, Pick, sequences};
use super::stage::{TTL, within};
use super::{Subject, runtime};
use crate::model::Model;

/// How long a random sequence is at most.
const LEN_MAX: usize = 60;
/// How often a failing sequence is made smaller before it is shown.
const SHRINKS_MAX: u32 = 4000;

/// Both sides, and what links them.
struct Pair<'a> {
    subject: &'a dyn Subject,
    model: Model,
    now: Timestamp,
    queue: Label,
    fences: Vec<Fence>,
    /// The epochs of each lease: the model's, and the store's.
    epochs: Vec<(u64, u64)>,
}

/// Under which fence a job was once handed out.
#[derive(Clone, Copy)]
struct Fence {
    id: JobId,
    holder: Holder,
    /// The number of the lease; each side has its own epoch for it.
    lease: usize,
}

/// Plays random sequences on the model and on stores that are made for them. The same ones each
/// time, unless the variable `HEADCOUNT_SEED` names another number.
///
/// # Panics
///
/// When they differ: with the smallest sequence that was found, and the difference.
pub fn compare_random<S: Subject, F: Future<Output = S>>(count: u32, make: impl Fn() -> F) {
    let seed = std::env::var("HEADCOUNT_SEED").ok().and_then(|seed| seed.parse::<u64>().ok());
    let seed = seed.unwrap_or(0);
    let mut chance = [0; 32];
    chance[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &chance);
    let config = Config {
        cases: count,
        max_shrink_iters: SHRINKS_MAX,
        failure_persistence: None,
        ..Config::default()
    };
    let runtime = runtime();
    let steps = Cell::new(0);
    let played = TestRunner::new_with_rng(config, rng).run(&sequences(LEN_MAX), |ops| {
        steps.set(steps.get() + ops.len());
        let compared = runtime.block_on(async { compare(&make().await, &ops).await });
        compared.map_err(TestCaseError::fail)
    });
    match played {
        Ok(()) => {}
        Err(TestError::Fail(why, ops)) => {
            let ops: Vec<String> = ops.iter().map(|op| format!("  {op:?}")).collect();
            panic!("seed {seed}, after {} steps: {why}\n{}", steps.get(), ops.join("\n"));
        }
        Err(error) => panic!("seed {seed}: {error}"),
    }
}

/// Plays one sequence on the model and on a fresh store, comparing after each step every answer,
/// the queue's numbers, and all of its jobs.
///
/// # Errors
///
/// The first difference, in words.
///
/// # Panics
///
/// When the store does not answer in time.
pub async fn compare(subject: &dyn Subject, ops: &[Op]) -> Result<(), String> {
    let queue: Label = "conformance".parse().expect("a fine name");
    let stats = within(subject.store().stats(&queue)).await.map_err(|error| error.to_string())?;
    let (fences, epochs) = (Vec::new(), Vec::new());
    let mut pair = Pair { subject, model: Model::default(), now: stats.now, queue, fences, epochs };
    for (step, op) in (1..).zip(ops) {
        let told = |what: String| format!("step {step}, {op:?}: {what}");
        pair.play(op).await.map_err(told)?;
        pair.model.sound().map_err(told)?;
        pair.same_numbers().await.map_err(told)?;
        pair.same_jobs().await.map_err(told)?;
    }
    Ok(())
}

/// Errors are compared by what they say.
fn said<T>(answer: Result<T, StoreError>) -> Result<T, String> {
    answer.map_err(|error| error.to_string())
}

fn same<T: PartialEq + Debug>(what: &str, model: &T, store: &T) -> Result<(), String> {
    match model == store {
        true => Ok(()),
        false => Err(format!("{what}\n  model {model:?}\n  store {store:?}")),
    }
}

impl Pair<'_> {
    async fn play(&mut self, op: &Op) -> Result<(), String> {
        let (queue, now, store) = (self.queue.clone(), self.now, self.subject.store());
        match op.clone() {
            Op::Enqueue(drafts) => {
                let jobs: Vec<_> = drafts.iter().map(super::Draft::job).collect();
                let ours = said(self.model.enqueue(&queue, jobs.clone(), now));
                same("submitted", &ours, &said(within(store.enqueue(&queue, jobs)).await))
            }
            Op::Lease(holder, jobs_max, ttl) => {
                let (holder, ttl) = (Holder::new(holder.into()), Duration::from_secs(ttl.into()));
                self.lease(LeaseAsk { holder, ttl, jobs_max: jobs_max.into() }).await
            }
            Op::Extend(holder, ttl, notes) => {
                let (holder, ttl) = (Holder::new(holder.into()), Duration::from_secs(ttl.into()));
                self.extend(holder, ttl, &notes).await
            }
            Op::Settle(picks) => self.settle(picks).await,
            Op::Turn(picks, jobs_max) => self.turn(picks, jobs_max.into()).await,
            Op::Sweep(limit) => {
                let ours = self.model.sweep(&queue, limit, now);
                same("swept", &Ok(ours), &said(within(store.sweep(&queue, limit)).await))
            }
            Op::Steer(command) => {
                let ours = said(self.model.steer(&queue, command.clone(), now));
                same("concerned", &ours, &said(within(store.steer(&queue, command)).await))
            }
            Op::Advance(ms) => {
                let span = Duration::from_millis(ms);
                self.now = now + span;
                self.subject.advance(span);
                Ok(())
            }
        }
    }

    async fn lease(&mut self, ask: LeaseAsk) -> Result<(), String> {
        let ours = self.model.lease(&self.queue, ask, self.now);
        let theirs = said(within(self.subject.store().lease(&self.queue, ask)).await)?;
        self.same_lease(ask.holder, &ours, theirs)
    }

    fn same_lease(&mut self, holder: Holder, ours: &Leased, theirs: Leased) -> Result<(), String> {
        let last = self.epochs.last().map_or(0, |(_, theirs)| *theirs);
        if theirs.epoch <= last {
            return Err(format!("the epoch {} is not above {last}", theirs.epoch));
        }
        let lease = self.epochs.len();
        self.epochs.push((ours.epoch, theirs.epoch));
        let fence = |job: &JobId| Fence { id: *job, holder, lease };
        self.fences.extend(ours.jobs.iter().map(|job| fence(&job.id)));
        let epoch = ours.epoch;
        same("leased", ours, &Leased { epoch, ..theirs })
    }

    /// The fence that a pick means.
    fn fence(&self, pick: Pick) -> Option<Fence> {
        let back = usize::from(pick.back).checked_rem(self.fences.len())?;
        let mut fence = self.fences[self.fences.len() - 1 - back];
        if pick.wrong {
            fence.lease = (fence.lease + 1) % self.epochs.len();
        }
        Some(fence)
    }

    async fn extend(
        &mut self,
        holder: Holder,
        ttl: Duration,
        notes: &[(Pick, u8)],
    ) -> Result<(), String> {
        let fences =
            notes.iter().filter_map(|(pick, progress)| Some((self.fence(*pick)?, *progress)));
        let fences: Vec<(Fence, u8)> = fences.collect();
        let notes = |epoch: &dyn Fn(usize) -> u64| -> Vec<Note> {
            let note = |(fence, progress): &(Fence, u8)| Note {
                id: fence.id,
                epoch: epoch(fence.lease),
                progress: Some(*progress),
                checkpoint: (progress % 2 == 0).then(|| vec![*progress]),
            };
            fences.iter().map(note).collect()
        };
        let ours = ExtendAsk { holder, ttl, notes: notes(&|lease| self.epochs[lease].0) };
        let theirs = ExtendAsk { holder, ttl, notes: notes(&|lease| self.epochs[lease].1) };
        let ours = self.model.extend(&self.queue, ours, self.now);
        let theirs = within(self.subject.store().extend(&self.queue, theirs)).await;
        same("extended", &Ok(ours), &said(theirs))
    }

    /// Whoever holds the first of them, and what it says to the model and to the store.
    fn settlements(&self, picks: Vec<(Pick, Ending)>) -> Option<(Holder, [Vec<Settlement>; 2])> {
        let fences =
            picks.into_iter().filter_map(|(pick, ending)| Some((self.fence(pick)?, ending)));
        let fences: Vec<(Fence, Ending)> = fences.collect();
        let settlements = |epoch: &dyn Fn(usize) -> u64| -> Vec<Settlement> {
            let settlement = |(fence, ending): &(Fence, Ending)| Settlement {
                id: fence.id,
                epoch: epoch(fence.lease),
                ending: ending.clone(),
            };
            fences.iter().map(settlement).collect()
        };
        let ours = settlements(&|lease| self.epochs[lease].0);
        let theirs = settlements(&|lease| self.epochs[lease].1);
        Some((fences.first()?.0.holder, [ours, theirs]))
    }

    async fn settle(&mut self, picks: Vec<(Pick, Ending)>) -> Result<(), String> {
        let Some((holder, [ours, theirs])) = self.settlements(picks) else { return Ok(()) };
        let ours = self.model.settle(&self.queue, holder, ours, self.now);
        let theirs = self.subject.store().settle(&self.queue, holder, theirs);
        same("settled", &Ok(ours), &said(within(theirs).await))
    }

    async fn turn(&mut self, picks: Vec<(Pick, Ending)>, jobs_max: usize) -> Result<(), String> {
        let Some((holder, [ours, theirs])) = self.settlements(picks) else { return Ok(()) };
        let ask = LeaseAsk { holder, ttl: TTL, jobs_max };
        let settled = self.model.settle(&self.queue, holder, ours, self.now);
        let leased = self.model.lease(&self.queue, ask, self.now);
        let theirs = said(within(self.subject.store().turn(&self.queue, theirs, ask)).await)?;
        same("settled", &settled, &theirs.settled)?;
        self.same_lease(holder, &leased, theirs.leased)
    }

    async fn same_numbers(&self) -> Result<(), String> {
        let store = self.subject.store();
        let ours = self.model.stats(&self.queue, self.now);
        same("stats", &Ok(ours), &said(within(store.stats(&self.queue)).await))?;
        let ours = self.model.rules(&self.queue);
        same("rules", &Ok(ours), &said(within(store.rules(&self.queue)).await))?;
        same("queues", &Ok(self.model.queues()), &said(within(store.queues()).await))
    }

    async fn same_jobs(&self) -> Result<(), String> {
        for state in State::ALL {
            let listing = Listing::first(state, Listing::LIMIT_MAX);
            let theirs = within(self.subject.store().list(&self.queue, listing.clone())).await;
            let ours = self.linked(said(self.model.list(&self.queue, listing))?);
            let theirs = said(theirs)?.jobs;
            let ids = |jobs: &[JobRecord]| jobs.iter().map(|job| job.id).collect::<Vec<_>>();
            same(&format!("ids of {state}"), &ids(&ours), &ids(&theirs))?;
            for (ours, theirs) in ours.iter().zip(&theirs) {
                same("job", ours, theirs)?;
            }
        }
        Ok(())
    }

    /// The model's records, with the store's epochs in them.
    fn linked(&self, page: Page) -> Vec<JobRecord> {
        let link = |mut job: JobRecord| {
            job.held = job.held.map(|(holder, ours)| {
                let link = self.epochs.iter().find(|(epoch, _)| *epoch == ours);
                (holder, link.map_or(0, |(_, theirs)| *theirs))
            });
            job
        };
        page.jobs.into_iter().map(link).collect()
    }
}
