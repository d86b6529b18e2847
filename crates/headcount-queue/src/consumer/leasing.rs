//! The loop that takes jobs: as many as there are free slots, when there are any.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use headcount_core::jobs::port::{LeaseAsk, Leased, StoreError};
use tokio::select;
use tokio::time::{Instant, sleep};

use super::doubt::Doubt;
use super::gather::Gathering;
use super::keeping::audit;
use super::pause::Pause;
use super::settling::Along;
use super::shared::Shared;
use super::work::Work;
use crate::chance::{fresh_holder, jittered};
use crate::handler::{Grip, Run, Stop};
use crate::sync::lock;
use crate::vigil::Vigil;

/// The most jobs that are taken in one call.
const LEASE_MAX: usize = 1000;
/// The most jobs that have ended and of which the store has not heard, before no more are taken.
const UNSETTLED_MAX: u64 = 10_000;
/// How long an idle consumer waits for the store's sign before it looks by itself.
const WAIT_MAX: Duration = Duration::from_secs(5);
/// How often free slots are looked for that nobody has told of.
const SLOTS_LOOK_EVERY: Duration = Duration::from_secs(1);
/// A store that says there is work sooner than this, when there is none, is left alone for longer
/// and longer, up to the second.
const SIGN_TOO_SOON: Duration = Duration::from_millis(1);
const FRUITLESS_PAUSE_MAX: Duration = Duration::from_millis(100);

/// Takes jobs until the consumer is drained.
pub(super) async fn lease_loop(shared: &Arc<Shared>) {
    let mut pause = Pause::new();
    let mut fruitless = Fruitless::default();
    let mut doubt = Doubt::default();
    let mut tick = pin!(sleep(Duration::ZERO));
    let vigil = Vigil::default();
    let mut gathering = Gathering::new(shared);
    while shared.is_taking() {
        doubt.settle(shared).await;
        let free = free_slots(shared);
        if free == 0 {
            gathering.end();
            until_slots(shared).await;
            continue;
        }
        if !sure(shared) {
            gathering.end();
            select! {
                () = sleep(jittered(Duration::from_millis(50))) => {}
                () = shared.until_draining() => {}
            }
            continue;
        }
        match lease(shared, free).await {
            Ok(catch) => {
                pause.reset();
                let (count, again_in) = (catch.leased.jobs.len(), catch.leased.again_in);
                fruitless.took(count);
                if count == free {
                    gathering.begin(count);
                    hand_over(shared, catch);
                    vigil.until(gathering.until_enough(tick.as_mut())).await;
                } else {
                    gathering.end();
                    hand_over(shared, catch);
                    until_work(shared, again_in, &mut fruitless).await;
                }
            }
            Err(error) => {
                gathering.end();
                shared.store_failed("lease", error);
                doubt.rises();
                select! {
                    () = sleep(pause.next()) => {}
                    () = shared.until_draining() => {}
                }
            }
        }
    }
}

fn free_slots(shared: &Shared) -> usize {
    match UNSETTLED_MAX <= shared.tally.unsettled.get() {
        true => 0,
        false => shared.free().min(LEASE_MAX),
    }
}

/// Returns when there may be a free slot. A sign that came before is kept until it is seen here.
async fn until_slots(shared: &Shared) {
    select! {
        () = shared.slot_bell.notified() => {}
        () = sleep(SLOTS_LOOK_EVERY) => {}
        () = shared.until_draining() => {}
    }
}

/// Whether the lease has certainly not run out, so that asking for more jobs renews it.
///
/// One that ran out and was asked for again would look as if it had never been gone, and nobody
/// would tell the handlers whose jobs others have taken.
fn sure(shared: &Shared) -> bool {
    let mut held = lock(&shared.held);
    if held.is_sure() {
        return true;
    }
    if held.runs.is_empty() {
        // Nothing can have been lost; another life begins.
        held.holder = fresh_holder();
        held.sure_until = None;
        return true;
    }
    drop(held);
    shared.renew_bell.notify_one();
    false
}

/// Jobs, and how they are held.
struct Catch {
    grip: Arc<Grip>,
    leased: Leased,
}

async fn lease(shared: &Shared, jobs_max: usize) -> Result<Catch, StoreError> {
    let ttl = shared.timing.lease_ttl;
    let holder = lock(&shared.held).holder;
    let asked_at = Instant::now();
    shared.tally.lease_calls.add(1);
    let ask = LeaseAsk { holder, ttl, jobs_max };
    let along = Along::of(shared, holder);
    let leased = match along.is_empty() {
        true => shared.store().lease(shared.name(), ask).await?,
        false => {
            shared.tally.settle_calls.add(1);
            let turned = shared.store().turn(shared.name(), along.settlements(), ask).await?;
            along.written(&turned.settled);
            turned.leased
        }
    };
    shared.store_answered();
    shared.tally.leased.add(leased.jobs.len());
    // The answer took so long that the lease may have run out before it was made anew.
    if !lock(&shared.held).is_sure() {
        audit(shared).await;
    }
    lock(&shared.held).renewed(holder, asked_at + ttl);
    let (queue, epoch) = (shared.name().clone(), leased.epoch);
    let bytes_max = shared.queue.payload_bytes_max();
    let grip = Grip { queue, holder, epoch, bytes_max, leased: Instant::now() };
    Ok(Catch { grip: Arc::new(grip), leased })
}

/// Hands jobs to the slots, or back to the store when they came too late.
fn hand_over(shared: &Arc<Shared>, catch: Catch) {
    if catch.leased.jobs.is_empty() {
        return;
    }
    let jobs = catch.leased.jobs.into_iter();
    let runs: Vec<_> = jobs.map(|job| Arc::new(Run::new(Arc::clone(&catch.grip), job))).collect();
    let mut held = lock(&shared.held);
    for run in &runs {
        held.runs.insert((run.id(), run.grip.epoch), Arc::clone(run));
    }
    // An answer that took longer than the lease, as in a process that slept: others may have taken
    // them by now, and done them. The store knows; what is still ours goes back to it.
    let is_ours = held.is_sure_of(catch.grip.holder);
    drop(held);
    if !is_ours || !shared.is_taking() {
        for run in &runs {
            shared.stop(run, Stop::Asked, Duration::ZERO);
        }
        return;
    }
    let known = shared.queue.handlers().known();
    let works = runs.into_iter().map(|run| Work::new(Arc::clone(shared), Arc::clone(&known), run));
    if let Err(works) = shared.here.lay_out(works.collect()) {
        shared.slots.run_all(works);
    }
}

/// Returns when there may be something to take.
async fn until_work(shared: &Shared, again_in: Option<Duration>, fruitless: &mut Fruitless) {
    let pause = fruitless.pause();
    if !pause.is_zero() {
        sleep(pause).await;
    }
    let begun = Instant::now();
    let most = again_in.unwrap_or(WAIT_MAX).min(jittered(WAIT_MAX));
    let waited = select! {
        waited = shared.store().wait(shared.name(), most) => waited,
        () = shared.until_draining() => return,
    };
    match waited {
        Ok(()) => fruitless.waited(begun.elapsed()),
        Err(error) => {
            shared.store_failed("wait", error);
            fruitless.waited(Duration::ZERO);
        }
    }
}

/// How often in a row the store promised work and gave none.
#[derive(Debug, Default)]
struct Fruitless {
    in_a_row: u32,
    was_too_soon: bool,
}

impl Fruitless {
    fn took(&mut self, count: usize) {
        self.in_a_row = match count == 0 && self.was_too_soon {
            true => self.in_a_row.saturating_add(1),
            false => 0,
        };
    }

    fn waited(&mut self, span: Duration) {
        self.was_too_soon = span < SIGN_TOO_SOON;
    }

    fn pause(&self) -> Duration {
        let doubled = self.in_a_row.min(10);
        match doubled {
            0 => Duration::ZERO,
            _ => (SIGN_TOO_SOON * (1 << doubled)).min(FRUITLESS_PAUSE_MAX),
        }
    }
}
