//! How a consumer ends.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use headcount_core::jobs::port::ExtendAsk;
use tokio::select;
use tokio::time::{Instant, timeout_at};

use super::events::Drained;
use super::shared::{Phase, Shared};
use super::verdict::End;
use crate::handler::{Run, Stop};
use crate::sync::lock;

/// No drain is shorter than this: what is given back has to reach the store.
const GRACE_MIN: Duration = Duration::from_millis(250);
/// At the end of the grace, so much of it is kept for stopping what has not stopped: a quarter,
/// and never more than this.
const STOPPING_MAX: Duration = Duration::from_secs(3);

/// Begins the drain; one that has begun is hastened where this would end sooner.
pub(super) fn begin(shared: &Shared, grace: Duration) {
    let grace = grace.max(GRACE_MIN);
    let end_at = Instant::now() + grace;
    let stop_at = end_at - (grace / 4).min(STOPPING_MAX);
    shared.phase.send_if_modified(|phase| {
        let is_sooner = match *phase {
            Phase::Taking => true,
            Phase::Draining { end_at: before, .. } => end_at < before,
            Phase::Closed => false,
        };
        if is_sooner {
            *phase = Phase::Draining { stop_at, end_at };
        }
        is_sooner
    });
}

/// Waits for the drain and sees it through: what has not begun is given back, the rest is asked to
/// stop, then stopped; then the lease is ended and with it all that is still held.
pub(super) async fn see_through(shared: &Shared, leasing: impl Future<Output = ()>) -> Drained {
    let mut leasing = pin!(leasing);
    let is_over = select! {
        () = &mut leasing => true,
        () = shared.until_draining() => false,
    };
    let (handed_back, begun) = ask_to_stop(shared);
    if !is_over {
        // What comes too late is given back as it comes, or with the lease.
        in_time(shared, |(stop_at, _)| stop_at, leasing).await;
    }
    in_time(shared, |(stop_at, _)| stop_at, emptied(shared)).await;
    let (stop_at, end_at) = hours(shared);
    let stopped = stop(shared, end_at.saturating_duration_since(stop_at) / 2);
    in_time(shared, |(_, end_at)| end_at, emptied(shared)).await;
    let left = lock(&shared.held).runs.len() as u64;
    let unsettled = match end_leases(shared, end_at).await {
        true => 0,
        false => left,
    };
    let finished = begun.saturating_sub(stopped);
    Drained { finished, handed_back, stopped, unsettled }
}

/// Gives back what has not begun, and asks the rest to stop. Returns how many there were of each.
fn ask_to_stop(shared: &Shared) -> (u64, u64) {
    let (mut handed_back, mut begun) = (0, 0);
    for run in shared.runs().iter().filter(|run| !run.is_settled()) {
        run.tell(Stop::Asked);
        match run.claim_beginning() {
            true => {
                shared.finish(run, End::Stopped);
                handed_back += 1;
            }
            false => begun += 1,
        }
    }
    (handed_back, begun)
}

/// Stops what has not ended, and says how many that were.
fn stop(shared: &Shared, moment: Duration) -> u64 {
    let runs = shared.runs();
    let left: Vec<&Arc<Run>> = runs.iter().filter(|run| !run.is_settled()).collect();
    for run in &left {
        shared.stop(run, Stop::Drained, moment);
    }
    left.len() as u64
}

/// When what runs is stopped, and when the drain ends, as far as is known now.
fn hours(shared: &Shared) -> (Instant, Instant) {
    match *shared.phase.borrow() {
        Phase::Draining { stop_at, end_at } => (stop_at, end_at),
        Phase::Taking | Phase::Closed => unreachable!("taking ends when the drain begins"),
    }
}

/// Waits for something until its hour has come, which may move forward meanwhile.
async fn in_time(
    shared: &Shared,
    hour: impl Fn((Instant, Instant)) -> Instant,
    something: impl Future<Output = ()>,
) {
    let mut something = pin!(something);
    let mut phase = shared.phase.subscribe();
    loop {
        let hastened = timeout_at(hour(hours(shared)), phase.changed());
        select! {
            () = something.as_mut() => return,
            hastened = hastened => if hastened.is_err() { return },
        }
    }
}

/// Returns when nothing is held any more.
async fn emptied(shared: &Shared) {
    loop {
        let rung = shared.empty_bell.notified();
        let mut rung = pin!(rung);
        rung.as_mut().enable();
        if lock(&shared.held).runs.is_empty() {
            return;
        }
        rung.await;
    }
}

/// Whether the store knows that nothing is held any more.
async fn end_leases(shared: &Shared, deadline: Instant) -> bool {
    let mut holders = BTreeSet::from([lock(&shared.held).holder]);
    holders.extend(shared.runs().iter().map(|run| run.grip.holder));
    let mut all = true;
    for holder in holders {
        let ask = ExtendAsk { holder, ttl: Duration::ZERO, notes: Vec::new() };
        let ended = shared.store().extend(shared.name(), ask);
        all &= matches!(timeout_at(deadline + GRACE_MIN, ended).await, Ok(Ok(_)));
    }
    all
}
