//! The loop that says how jobs ended: what ends during a call goes with the next.

use std::collections::BTreeMap;
use std::sync::Arc;

use headcount_core::jobs::Holder;
use headcount_core::jobs::port::{Ending, Settled, Settlement, StoreError};
use tokio::select;
use tokio::time::sleep;

use super::events::ConsumerEvent;
use super::pause::Pause;
use super::shared::Shared;
use crate::handler::{Run, Stop};
use crate::sync::lock;

type Ended = (Arc<Run>, Settlement);

/// The most endings that go in one call.
const SETTLE_MAX: usize = 1000;

/// Endings that travel with a lease: of jobs that ended well and leave nothing behind. Those of
/// which nothing is heard are said again by the loop.
pub(super) struct Along<'a> {
    shared: &'a Shared,
    ended: Vec<Ended>,
}

impl<'a> Along<'a> {
    /// What this holder has to say by now, where the store takes it with a lease.
    pub(super) fn of(shared: &'a Shared, holder: Holder) -> Self {
        let turns = shared.store().turns_in_one_step();
        let mut all = lock(&shared.ended);
        let fits = |(run, settlement): &Ended| {
            turns && run.grip.holder == holder && leaves_nothing(run, &settlement.ending)
        };
        let ended = match all.len() <= SETTLE_MAX && all.iter().all(fits) {
            true => std::mem::take(&mut *all),
            false => all.extract_if(.., |ended| fits(ended)).take(SETTLE_MAX).collect(),
        };
        // Whoever gathers ends tells of none, so the rest would wait for as long as that goes on.
        if !all.is_empty() {
            shared.ended_bell.notify_one();
        }
        drop(all);
        Self { shared, ended }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.ended.is_empty()
    }

    pub(super) fn settlements(&self) -> Vec<Settlement> {
        self.ended.iter().map(|(_, settlement)| settlement.clone()).collect()
    }

    /// The store has heard of them.
    pub(super) fn written(mut self, settled: &[Settled]) {
        written(self.shared, &std::mem::take(&mut self.ended), settled);
    }
}

impl Drop for Along<'_> {
    fn drop(&mut self) {
        if !self.ended.is_empty() {
            lock(&self.shared.ended).append(&mut self.ended);
            self.shared.ended_bell.notify_one();
        }
    }
}

/// Whether a store has only to forget it: nothing had happened to the job before, nothing is to be
/// kept of it, and nobody waits for its key.
fn leaves_nothing(run: &Run, ending: &Ending) -> bool {
    let job = &run.job;
    let is_fresh = job.due_at == job.submitted_at
        && (job.attempts, job.crashes, job.preemptions) == (0, 0, 0)
        && job.checkpoint.is_none();
    let is_free = job.spec.keep.is_zero() && job.spec.key.is_none() && job.spec.unique.is_none();
    *ending == Ending::Done { result: None } && is_fresh && is_free
}

/// Says how jobs ended until the consumer is closed.
pub(super) async fn settle_loop(shared: &Shared) {
    loop {
        let ended = std::mem::take(&mut *lock(&shared.ended));
        if ended.is_empty() {
            select! {
                () = shared.ended_bell.notified() => continue,
                () = shared.until_closed() => return,
            }
        }
        for (holder, ended) in by_holder(ended) {
            select! {
                () = settle_all(shared, holder, ended) => {}
                () = shared.until_closed() => return,
            }
        }
    }
}

/// Nearly always one: another life of this consumer begins only when a lease was lost.
fn by_holder(ended: Vec<Ended>) -> BTreeMap<Holder, Vec<Ended>> {
    let mut sorted = BTreeMap::<Holder, Vec<Ended>>::new();
    for (run, settlement) in ended {
        sorted.entry(run.grip.holder).or_default().push((run, settlement));
    }
    sorted
}

async fn settle_all(shared: &Shared, holder: Holder, mut ended: Vec<Ended>) {
    while !ended.is_empty() {
        let rest = ended.split_off(ended.len().min(SETTLE_MAX));
        settle(shared, holder, ended).await;
        ended = rest;
    }
}

/// Says how these ended, again and again until the store has heard it or others have the jobs.
async fn settle(shared: &Shared, holder: Holder, mut ended: Vec<Ended>) {
    let mut pause = Pause::new();
    while !ended.is_empty() {
        match send(shared, holder, &ended).await {
            Ok(settled) => return written(shared, &ended, &settled),
            Err(StoreError::Refused(why)) if ended.len() == 1 => {
                ended = refused(shared, ended, &why);
            }
            Err(StoreError::Refused(_)) => {
                // One of them is at fault, and the others must not wait for it.
                for one in std::mem::take(&mut ended) {
                    Box::pin(settle(shared, holder, vec![one])).await;
                }
            }
            Err(error) => {
                shared.store_failed("settle", error);
                ended = drop_lost(shared, ended);
                sleep(pause.next()).await;
            }
        }
    }
}

async fn send(
    shared: &Shared,
    holder: Holder,
    ended: &[Ended],
) -> Result<Vec<Settled>, StoreError> {
    let settlements = ended.iter().map(|(_, settlement)| settlement.clone()).collect();
    shared.tally.settle_calls.add(1);
    let settled = shared.store().settle(shared.name(), holder, settlements).await?;
    shared.store_answered();
    Ok(settled)
}

fn written(shared: &Shared, ended: &[Ended], settled: &[Settled]) {
    let stale = ended.iter().zip(settled).filter(|(_, settled)| **settled == Settled::Stale);
    for ((run, _), _) in stale {
        shared.tally.stale.add(1);
        shared.tell_with(|| ConsumerEvent::Stale { id: run.id() });
    }
    let_go(shared, ended);
}

/// The store will not take this ending, now or ever: the job fails for that reason instead.
fn refused(shared: &Shared, mut ended: Vec<Ended>, why: &str) -> Vec<Ended> {
    let is_last_word = matches!(ended[0].1.ending, Ending::Dead { .. });
    shared.store_failed("settle", StoreError::Refused(why.to_owned()));
    if is_last_word {
        let_go(shared, &ended);
        return Vec::new();
    }
    let error = format!("the store refused how it ended: {why}");
    ended[0].1.ending = Ending::Dead { error };
    ended
}

/// Those that others may have by now are not worth asking again.
fn drop_lost(shared: &Shared, ended: Vec<Ended>) -> Vec<Ended> {
    let is_lost = |(run, _): &Ended| run.told() == Stop::Lost;
    let (lost, kept): (Vec<_>, Vec<_>) = ended.into_iter().partition(is_lost);
    shared.tally.stale.add(lost.len());
    let_go(shared, &lost);
    kept
}

/// They are not held any more.
fn let_go(shared: &Shared, ended: &[Ended]) {
    let mut held = lock(&shared.held);
    for (run, _) in ended {
        held.runs.remove(&(run.id(), run.grip.epoch));
    }
    let is_empty = held.runs.is_empty();
    drop(held);
    shared.tally.unsettled.subtract(ended.len());
    if is_empty {
        shared.empty_bell.notify_waiters();
    }
}
