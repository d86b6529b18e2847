//! The loop that ends what goes on for too long.

use std::sync::Arc;
use std::time::Duration;

use tokio::select;
use tokio::time::{Instant, sleep_until};

use super::events::ConsumerEvent;
use super::shared::Shared;
use super::verdict::End;
use crate::handler::{Act, Run, Stop};
use crate::sync::lock;

/// How long a dropped handler may take to be gone before it counts as stuck.
const STUCK_AFTER: Duration = Duration::from_secs(1);
/// How long to sleep when there is nothing to look for.
const FAR: Duration = Duration::from_secs(3600);

/// Ends what goes on for too long, until the consumer is closed.
pub(super) async fn warden_loop(shared: &Shared) {
    loop {
        // Taken away first: whoever sets an alarm during the look rings the bell again.
        *lock(&shared.next_alarm) = None;
        let now = Instant::now();
        let runs = shared.runs();
        for run in &runs {
            look_after(shared, run, now);
        }
        let next = runs.iter().filter(|run| !run.is_settled()).filter_map(|run| run.alarm()).min();
        drop(runs);
        let until = sleep_no_longer_than(shared, next).unwrap_or(now + FAR);
        select! {
            () = sleep_until(until) => {}
            () = shared.alarm_bell.notified() => {}
            () = shared.until_closed() => return,
        }
    }
}

/// The next alarm: this, or one that was set during the look.
fn sleep_no_longer_than(shared: &Shared, next: Option<Instant>) -> Option<Instant> {
    let mut known = lock(&shared.next_alarm);
    *known = known.iter().copied().chain(next).min();
    *known
}

fn look_after(shared: &Shared, run: &Arc<Run>, now: Instant) {
    if run.is_settled() {
        return;
    }
    match run.take_alarm(now) {
        None => {}
        Some(Act::TimeOut) => shared.stop(run, Stop::TimedOut, shared.timing.cancel_grace),
        Some(Act::Abort) => {
            run.abort();
            let kind = &run.job.spec.kind;
            // A handler that blocks cannot be dropped, so there is nothing to wait for.
            let patience = match shared.queue.handlers().known().is_blocking(kind) {
                true => Duration::ZERO,
                false => STUCK_AFTER,
            };
            run.set_alarm(now + patience, Act::GiveUp);
        }
        Some(Act::GiveUp) => give_up(shared, run),
    }
}

/// Nobody waits for it any more; its slot stays taken for as long as it goes on.
fn give_up(shared: &Shared, run: &Arc<Run>) {
    // Counted before it is known, so that no count falls below zero.
    shared.tally.stuck.add(1);
    if !run.counts_as_stuck() {
        shared.tally.stuck.subtract(1);
        return;
    }
    shared.tally.running.subtract(1);
    shared.tell_with(|| ConsumerEvent::Stuck { id: run.id(), kind: run.job.spec.kind.clone() });
    shared.finish(run, End::Stopped);
}
