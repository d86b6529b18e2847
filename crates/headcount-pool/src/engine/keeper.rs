//! The keeper: one thread that rings alarms, starts workers and buries those that have ended.

use std::sync::Arc;

use headcount_core::roster::WorkerId;

use super::Kind;
use super::machine::Engine;
use super::timers::Alarm;
use crate::unhurt::quietly;

/// So many workers are started before the keeper looks again at what else there is to do.
const STARTS_MAX: u32 = 32;

/// Keeps a pool until it is over.
pub(crate) fn keep<K: Kind>(engine: &Arc<Engine<K>>) {
    loop {
        let (due, gone, over) = look(engine);
        let busy = !due.is_empty() || !gone.is_empty();
        // What wakes and what is dropped here is the user's, and the keeper must not die of it.
        for alarm in due {
            quietly(|| ring(engine, alarm));
        }
        bury(engine, gone);
        if over {
            return;
        }
        let at = engine.desk().keeper_looks_at();
        if !busy && engine.now() < at {
            engine.bell.park_until(at, &engine.floor.clock);
        }
    }
}

/// What is due, who is to be buried, and whether there is nothing left to keep.
type Seen<K> = (Vec<Alarm>, Vec<(WorkerId, <K as Kind>::Hand)>, bool);

fn look<K: Kind>(engine: &Arc<Engine<K>>) -> Seen<K> {
    engine.visit(STARTS_MAX, |desk, now, errands| {
        errands.are_keepers();
        desk.keeper_looks(&engine.floor, now);
        desk.serve_room(&engine.floor, errands);
        desk.watch_tasks(&engine.floor, now, errands);
        let over = desk.is_over(&engine.floor);
        (desk.timers.due(now), desk.take_leavers(), over)
    })
}

fn ring<K: Kind>(engine: &Arc<Engine<K>>, alarm: Alarm) {
    match alarm {
        Alarm::Tell(deadline) => {
            if let Some(deadline) = deadline.upgrade() {
                deadline.passed(engine.now());
            }
        }
        Alarm::Wake(waker) => waker.wake(),
    }
}

/// Waits until they are gone, and only then gives their places back.
fn bury<K: Kind>(engine: &Arc<Engine<K>>, gone: Vec<(WorkerId, K::Hand)>) {
    if gone.is_empty() {
        return;
    }
    let bury = |(worker, hand)| {
        K::bury(hand);
        worker
    };
    let buried: Vec<WorkerId> = gone.into_iter().map(bury).collect();
    engine.visit(0, |desk, _, errands| {
        errands.are_keepers();
        for worker in buried {
            desk.buried(worker);
        }
        desk.news(errands);
    });
}
