//! The loop that keeps the lease: it renews it, sends notes, and learns what is not wanted.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use headcount_core::jobs::port::{ExtendAsk, Extended, Listing, Note};
use headcount_core::jobs::{Holder, JobId};
use tokio::select;
use tokio::time::{Instant, sleep_until};

use super::events::ConsumerEvent;
use super::pause::Pause;
use super::shared::Shared;
use crate::chance::fresh_holder;
use crate::handler::{Run, Stop};
use crate::sync::lock;

/// Renews the lease until the consumer is closed.
pub(super) async fn renew_loop(shared: &Shared) {
    let mut pause = Pause::new();
    let mut next = Instant::now() + shared.timing.renew_every;
    let mut is_well = true;
    loop {
        select! {
            () = sleep_until(next) => {}
            // A store that does not answer is left alone, whoever is in a hurry.
            () = shared.renew_bell.notified(), if is_well => {}
            () = shared.until_closed() => return,
        }
        let begun = Instant::now();
        is_well = renew_all(shared).await;
        next = match is_well {
            true => {
                pause.reset();
                begun + shared.timing.renew_every
            }
            false => Instant::now() + pause.next().min(shared.timing.renew_every),
        };
    }
}

/// Whether all leases under which something is held were renewed, or found to be lost.
async fn renew_all(shared: &Shared) -> bool {
    let mut is_well = true;
    for (holder, runs) in by_holder(shared.runs()) {
        is_well &= renew(shared, holder, &runs).await;
    }
    is_well
}

fn by_holder(runs: Vec<Arc<Run>>) -> BTreeMap<Holder, Vec<Arc<Run>>> {
    let mut sorted = BTreeMap::<Holder, Vec<Arc<Run>>>::new();
    // What is lost is nobody's business here any more.
    for run in runs.into_iter().filter(|run| run.told() != Stop::Lost) {
        sorted.entry(run.grip.holder).or_default().push(run);
    }
    sorted
}

async fn renew(shared: &Shared, holder: Holder, runs: &[Arc<Run>]) -> bool {
    let ttl = shared.timing.lease_ttl;
    let noted: Vec<(&Arc<Run>, Note)> =
        runs.iter().filter_map(|run| Some((run, run.take_note()?))).collect();
    let notes = noted.iter().map(|(_, note)| note.clone()).collect();
    let begun = Instant::now();
    let extended = shared.store().extend(shared.name(), ExtendAsk { holder, ttl, notes }).await;
    match extended {
        Ok(extended) if extended.alive => {
            shared.store_answered();
            lock(&shared.held).renewed(holder, begun + ttl);
            heed(shared, runs, &extended);
            true
        }
        Ok(_) => {
            shared.store_answered();
            lost(shared, holder, runs);
            true
        }
        Err(error) => {
            for (run, note) in &noted {
                run.untake_note(note);
            }
            shared.store_failed("extend", error);
            false
        }
    }
}

/// Stops what is not wanted, and what somebody else has.
fn heed(shared: &Shared, runs: &[Arc<Run>], extended: &Extended) {
    let of = |ids: &[JobId], run: &Arc<Run>| !run.is_settled() && ids.contains(&run.id());
    for run in runs {
        if of(&extended.stale, run) {
            shared.stop(run, Stop::Lost, Duration::ZERO);
        } else if of(&extended.cancel, run) && run.told() < Stop::Cancelled {
            shared.stop(run, Stop::Cancelled, shared.timing.cancel_grace);
        }
    }
}

/// The lease is gone and with it all that was held when it was to be renewed. What was leased
/// since is under a lease of its own, even if it has the same name.
fn lost(shared: &Shared, holder: Holder, runs: &[Arc<Run>]) {
    let mut held = lock(&shared.held);
    if held.holder == holder {
        held.holder = fresh_holder();
        held.sure_until = None;
    }
    drop(held);
    shared.tally.lost_leases.add(1);
    shared.tell_with(|| ConsumerEvent::LeaseLost { held: runs.len() });
    for run in runs {
        shared.stop(run, Stop::Lost, shared.timing.cancel_grace);
    }
}

/// Asks the store which of the held jobs are held, and stops those that are not. A store that does
/// not say is asked no further: it will refuse what others have taken.
pub(super) async fn audit(shared: &Shared) {
    let runs = shared.runs();
    let ids = runs.iter().map(|run| run.id()).collect();
    let Ok(page) = shared.store().list(shared.name(), Listing::Ids(ids)).await else { return };
    let held: BTreeMap<JobId, Option<(Holder, u64)>> =
        page.jobs.into_iter().map(|job| (job.id, job.held)).collect();
    let is_lost = |run: &&Arc<Run>| {
        let grip = (run.grip.holder, run.grip.epoch);
        !run.is_settled() && held.get(&run.id()) != Some(&Some(grip))
    };
    let lost: Vec<&Arc<Run>> = runs.iter().filter(is_lost).collect();
    if lost.is_empty() {
        return;
    }
    shared.tally.lost_leases.add(1);
    shared.tell_with(|| ConsumerEvent::LeaseLost { held: lost.len() });
    for run in lost {
        shared.stop(run, Stop::Lost, shared.timing.cancel_grace);
    }
}
