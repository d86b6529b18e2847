//! The loop that does what somebody has to do: it sweeps, counts, and submits what is scheduled.

use std::time::Duration;

use headcount_core::jobs::port::{StoreError, Submitted};
use tokio::select;
use tokio::time::{Instant, sleep_until};

use super::events::ConsumerEvent;
use super::pause::Pause;
use super::shared::Shared;
use crate::chance::jittered;
use crate::schedule::{Roster, Schedule};
use crate::sync::lock;

/// The most jobs that a step of a sweep looks at.
const SWEEP_MAX: usize = 1000;
/// How many sweeps follow each other when one of them leaves something.
const SWEEPS_MAX: usize = 10;

/// Puts right what time and lost holders have changed, until the consumer is closed.
///
/// It begins with that: where processes are lost one after the other, none may live for long enough
/// to come to it later.
pub(super) async fn sweep_loop(shared: &Shared) {
    loop {
        match may_be_expired(shared) {
            // A store that was away: our own lease is renewed before anybody sweeps it up.
            true => shared.renew_bell.notify_one(),
            false => sweep_all(shared).await,
        }
        let next = Instant::now() + jittered(shared.timing.sweep_every);
        select! {
            () = sleep_until(next) => {}
            () = shared.until_closed() => return,
        }
    }
}

async fn sweep_all(shared: &Shared) {
    let mut sweeps = 0;
    while sweeps < SWEEPS_MAX && sweep(shared).await {
        sweeps += 1;
    }
}

/// Whether a sweep might take from this consumer what it holds.
fn may_be_expired(shared: &Shared) -> bool {
    let held = lock(&shared.held);
    !held.is_sure() && !held.runs.is_empty()
}

/// Whether another one would find more.
async fn sweep(shared: &Shared) -> bool {
    match shared.store().sweep(shared.name(), SWEEP_MAX).await {
        Ok(swept) => {
            shared.store_answered();
            swept.more
        }
        Err(error) => {
            shared.store_failed("sweep", error);
            false
        }
    }
}

/// Asks for the queue in numbers, until the consumer is closed.
pub(super) async fn stats_loop(shared: &Shared) {
    let Some(every) = shared.timing.stats_every else { return };
    loop {
        match shared.store().stats(shared.name()).await {
            Ok(stats) => {
                *lock(&shared.backlog) = Some((Instant::now(), stats.clone()));
                shared.tell_with(|| ConsumerEvent::Counted(Box::new(stats)));
            }
            Err(error) => shared.store_failed("stats", error),
        }
        select! {
            () = sleep_until(Instant::now() + every) => {}
            () = shared.until_closed() => return,
        }
    }
}

/// How often the store is asked for the time, at least.
const CLOCK_EVERY: Duration = Duration::from_secs(60);

/// Submits what is scheduled, until the consumer is drained.
pub(super) async fn schedule_loop(shared: &Shared, schedules: Vec<Schedule>) {
    if schedules.is_empty() {
        return;
    }
    let mut pause = Pause::new();
    let mut roster = None;
    loop {
        let until = match tick(shared, &mut roster, &schedules).await {
            Ok(until) => {
                pause.reset();
                until
            }
            Err(error) => {
                shared.store_failed("enqueue", error);
                pause.next()
            }
        };
        select! {
            () = sleep_until(Instant::now() + until) => {}
            () = shared.until_draining() => return,
        }
    }
}

/// Submits what is due, and says when to look again. The store's clock is the one that counts, so
/// that all processes agree on when a tick is.
async fn tick(
    shared: &Shared,
    roster: &mut Option<Roster>,
    schedules: &[Schedule],
) -> Result<Duration, StoreError> {
    let now = shared.store().stats(shared.name()).await?.now;
    let roster = roster.get_or_insert_with(|| Roster::new(schedules.to_vec(), now));
    let due = roster.due(now);
    if !due.is_empty() {
        let submitted = shared.store().enqueue(shared.name(), due).await?;
        let new = submitted.iter().filter(|one| matches!(one, Submitted::New(_))).count();
        shared.tally.scheduled.add(new);
    }
    roster.submitted(now);
    let next = roster.next(now).map_or(CLOCK_EVERY, |next| next.since(now));
    Ok(next.clamp(Duration::from_millis(1), CLOCK_EVERY))
}
