//! Whose turn it is: the oldest first, and the newest where the oldest are late.

use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use headcount_pool::Overflow;

use super::{Pool, at, builder, does};
use crate::support::{Gate, LIMIT, eventually};

const LATE_AFTER: Duration = Duration::from_millis(5);

/// A pool of one worker at a gate, and what its tasks say, each its number.
struct Bench {
    pool: Pool,
    gate: Gate,
    told: mpsc::Sender<u32>,
    heard: Receiver<u32>,
}

impl Bench {
    fn new(name: &str, newest_first_after: Option<Duration>) -> Self {
        let pool = builder(name).workers(1).queue_len_max(3).overflow(Overflow::DropOldest);
        let pool = match newest_first_after {
            Some(after) => pool.newest_first_after(after),
            None => pool,
        };
        let (told, heard) = mpsc::channel();
        let bench = Self { pool: pool.build().expect("no fault"), gate: Gate::new(), told, heard };
        bench.occupy();
        bench
    }

    /// Has the worker at the gate.
    fn occupy(&self) {
        self.pool.spawn(at(&self.gate)).expect("open");
        self.gate.wait_for(1);
    }

    fn bring(&self, numbers: impl Iterator<Item = u32>) {
        for number in numbers {
            let told = self.told.clone();
            let tells = does(move || told.send(number).expect("somebody listens"));
            self.pool.spawn(tells).expect("open");
        }
    }

    /// One in which the first has run, the second was passed over, and the worker is at a gate.
    fn with_one_passed_over(name: &str) -> (Self, Gate) {
        let bench = Self::new(name, Some(LATE_AFTER));
        bench.bring(1..=2);
        let second = Gate::new();
        bench.pool.spawn(at(&second)).expect("open");
        bench.until_late();
        bench.gate.open();
        assert_eq!(bench.next(), 1);
        // The gate was the newest, so the second waits behind it.
        second.wait_for(1);
        (bench, second)
    }

    fn until_late(&self) {
        let late = || self.pool.snapshot().oldest_wait.is_some_and(|wait| 2 * LATE_AFTER < wait);
        eventually("the oldest is late", late);
    }

    fn next(&self) -> u32 {
        self.heard.recv_timeout(LIMIT).expect("it runs")
    }
}

#[test]
fn where_the_oldest_are_late_the_newest_go_first() {
    let bench = Bench::new("late", Some(LATE_AFTER));
    bench.bring(1..=3);
    bench.until_late();
    bench.gate.open();
    // That the first was late is seen when it is taken.
    assert_eq!([bench.next(), bench.next(), bench.next()], [1, 3, 2]);
}

#[test]
fn the_oldest_go_first_where_nobody_is_late_and_where_nobody_asked_for_more() {
    for (name, after) in [("in-time", Some(LIMIT)), ("plain", None)] {
        let bench = Bench::new(name, after);
        bench.bring(1..=3);
        bench.until_late();
        bench.gate.open();
        assert_eq!([bench.next(), bench.next(), bench.next()], [1, 2, 3], "{name}");
    }
}

/// One that is passed over is still the oldest: for whoever looks, and for whoever drops it.
#[test]
fn who_is_passed_over_counts_as_waiting_and_is_dropped_first() {
    let (bench, second) = Bench::with_one_passed_over("passed");
    let snapshot = bench.pool.snapshot();
    assert_eq!(snapshot.queued, 1);
    assert!(snapshot.oldest_wait.is_some_and(|wait| LATE_AFTER < wait), "{snapshot:?}");
    // There is room for two more; the third is one too many, and the oldest goes for it.
    bench.bring(4..=6);
    second.open();
    // Nobody is left who was passed over, and of the others none is late.
    assert_eq!([bench.next(), bench.next(), bench.next()], [4, 5, 6]);
    bench.pool.await_idle();
    assert!(bench.heard.try_recv().is_err(), "the second was dropped");
}

#[test]
fn nobody_who_is_passed_over_is_lost_when_the_pool_is_drained() {
    let (bench, second) = Bench::with_one_passed_over("drained");
    bench.bring(4..=4);
    let Bench { pool, heard, .. } = bench;
    let drained = pool.drain(Duration::ZERO);
    assert_eq!((drained.unrun.len(), drained.still_running), (2, 1));
    second.open();
    drop(drained);
    assert!(heard.try_recv().is_err(), "what was handed back has not run");
}
