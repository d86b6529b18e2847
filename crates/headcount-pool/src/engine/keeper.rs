//! The keeper: one thread that rings alarms, starts workers and buries those that have ended.

use std::sync::Arc;

use headcount_core::roster::WorkerId;

use super::Kind;
use super::machine::Engine;
use super::porter::{carried, stood_in, with_porter};
use super::timers::Alarm;
use crate::unhurt::quietly;

/// So many workers are started before the keeper looks again at what else there is to do.
const STARTS_MAX: u32 = 32;

/// Keeps a pool until it is over.
pub(crate) fn keep<K: Kind>(engine: &Arc<Engine<K>>) {
    // A model has no other threads than its own.
    let _employment = (!cfg!(loom)).then(|| with_porter(engine.number(), &engine.name));
    loop {
        let Seen { due, gone, orphan, ends, is_over } = look(engine);
        let busy = !due.is_empty() || !gone.is_empty();
        // What wakes and what is dropped here is the user's, and the keeper must not die of it.
        for alarm in due {
            quietly(|| ring(engine, alarm));
        }
        if !gone.is_empty() {
            let engine = Arc::clone(engine);
            let bury = move || bury(&engine, gone);
            // Nobody else waits for the keeper of a pool that ends.
            if ends { bury() } else { carried(bury) }
        }
        if orphan {
            let engine = Arc::clone(engine);
            stood_in(move || engine.run_orphan());
        }
        if is_over {
            return;
        }
        let at = engine.desk().keeper_looks_at();
        if !busy && engine.now() < at {
            engine.bell.park_until(at, &engine.floor.clock);
        }
    }
}

/// What the keeper sees when it looks.
pub(super) struct Seen<K: Kind> {
    due: Vec<Alarm>,
    /// Who is to be buried.
    gone: Vec<(WorkerId, K::Hand)>,
    /// Whether a task is to be run that no worker comes for.
    pub(super) orphan: bool,
    /// Whether there is nobody left to hire.
    ends: bool,
    /// Whether there is nothing left to keep.
    is_over: bool,
}

pub(super) fn look<K: Kind>(engine: &Arc<Engine<K>>) -> Seen<K> {
    engine.visit(STARTS_MAX, |desk, now, errands| {
        errands.are_keepers();
        desk.keeper_looks(&engine.floor, now);
        desk.serve_room(&engine.floor, errands);
        desk.watch_tasks(&engine.floor, now, errands);
        let (is_over, ends) = (desk.is_over(&engine.floor), desk.is_through(&engine.floor));
        let gone = desk.take_leavers(&engine.floor, now);
        let orphan = desk.takes_care_of_orphan(&engine.floor);
        let due = desk.timers.due(now);
        errands.rings_alarms = !due.is_empty();
        Seen { due, gone, orphan, ends, is_over }
    })
}

fn ring<K: Kind>(engine: &Arc<Engine<K>>, alarm: Alarm) {
    match alarm {
        Alarm::Tell(deadline) => {
            if let Some(deadline) = deadline.upgrade() {
                deadline.passed(engine.now());
            }
        }
        Alarm::Wake(_, waker) => waker.wake(),
    }
}

/// Waits until they are gone, and only then gives their places back.
fn bury<K: Kind>(engine: &Arc<Engine<K>>, gone: Vec<(WorkerId, K::Hand)>) {
    let bury = |(worker, hand)| {
        K::bury(hand);
        worker
    };
    // The last first: until it has ended the others have, too, and nobody is disturbed by this.
    let buried: Vec<WorkerId> = gone.into_iter().rev().map(bury).collect();
    engine.visit(0, |desk, _, errands| {
        for worker in buried {
            desk.buried(worker);
        }
        desk.news(errands);
    });
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::{Barrier, mpsc};
    use std::task::{Wake, Waker};
    use std::time::Duration;

    use headcount_core::Staffing;

    use super::*;
    use crate::ThreadPool;

    /// Longer than it takes, even where many others use the machine.
    const LIMIT: Duration = Duration::from_secs(20);

    /// Holds up whoever wakes it: once as it comes, and until it is let go.
    struct HoldsUp(Barrier);

    impl Wake for HoldsUp {
        fn wake(self: Arc<Self>) {
            self.0.wait();
            self.0.wait();
        }
    }

    #[test]
    fn a_task_that_may_be_hired_for_does_not_wait_for_a_keeper_that_is_held_up() {
        let pool = ThreadPool::builder().workers(1..=4).wait_budget(Duration::ZERO);
        let pool = pool.build().expect("no fault");
        let (begun, begins) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        let stays = move || {
            begun.send(()).expect("somebody waits");
            let _ = released.recv();
        };
        pool.spawn(stays).expect("open");
        begins.recv().expect("it begins");
        let held = Arc::new(HoldsUp(Barrier::new(2)));
        let waker = Waker::from(Arc::clone(&held));
        pool.engine().remind_at(pool.engine().now(), Alarm::Wake(0, waker));
        held.0.wait();
        drop(pool.resize(Staffing::between(3, 4)));
        let (ran, runs) = mpsc::channel();
        pool.spawn(move || ran.send(()).expect("somebody waits")).expect("open");
        let in_time = runs.recv_timeout(LIMIT);
        held.0.wait();
        drop(release);
        assert_eq!(in_time, Ok(()), "its submitter hires");
    }
}
