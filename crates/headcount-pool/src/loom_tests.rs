//! Models of the limiter's protocol: each tries every order in which its threads can meet.
//!
//! A lost wake-up shows as a deadlock, which loom reports; a lost permit as a place that is still
//! taken at the end, or as somebody who waits for it for ever.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use headcount_core::PoolSnapshot;
use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::thread;

use crate::park::Parker;
use crate::{Acquire, Closed, Limiter, Permit};

/// How often a thread may be interrupted where it could have gone on, in one run of a model.
///
/// Most bugs need one or two; without a bound, three threads take hours. `LOOM_MAX_PREEMPTIONS` in
/// the environment overrules it.
const PREEMPTIONS_MAX: usize = 4;

/// Runs a model; in the end the limiter must be empty, and its books must balance.
fn check(limit: u32, model: impl Fn(&Limiter) + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(PREEMPTIONS_MAX));
    builder.check(move || {
        let limiter = Limiter::new(limit);
        model(&limiter);
        let snapshot = balanced(limiter.snapshot());
        assert_eq!((snapshot.busy, snapshot.queued), (0, 0), "somebody is left");
    });
}

/// What must hold in every snapshot, whenever it is read.
fn balanced(snapshot: PoolSnapshot) -> PoolSnapshot {
    let counted = snapshot.counters;
    let resolved = counted.started + counted.rejected + counted.expired;
    assert_eq!(counted.submitted, resolved + snapshot.queued);
    assert_eq!(counted.started, counted.completed + u64::from(snapshot.busy));
    assert!(counted.failed <= counted.completed);
    snapshot
}

fn spawn<T: 'static>(
    limiter: &Limiter,
    work: impl FnOnce(&Limiter) -> T + 'static,
) -> thread::JoinHandle<T> {
    let limiter = limiter.clone();
    thread::spawn(move || work(&limiter))
}

fn poll(acquire: &mut Acquire, waker: &Waker) -> Poll<Result<Permit, Closed>> {
    Pin::new(acquire).poll(&mut Context::from_waker(waker))
}

fn acquire(limiter: &Limiter) -> Permit {
    limiter.acquire().expect("nobody closes it")
}

fn acquire_and_drop(limiter: &Limiter) {
    drop(acquire(limiter));
}

#[test]
fn as_many_are_in_as_the_limit_allows() {
    check(1, |limiter| {
        let inside = Arc::new(AtomicU32::new(0));
        let work = |inside: Arc<AtomicU32>| {
            move |limiter: &Limiter| {
                let permit = acquire(limiter);
                assert_eq!(inside.fetch_add(1, Ordering::Relaxed), 0, "two are in");
                inside.fetch_sub(1, Ordering::Relaxed);
                permit.success();
            }
        };
        let others = [spawn(limiter, work(inside.clone())), spawn(limiter, work(inside.clone()))];
        work(inside)(limiter);
        for other in others {
            other.join().unwrap();
        }
    });
}

/// As under a mutex: loom knows who may see the cell, and a permit is what orders them. Whoever
/// fails leaves at the desk, everybody else by the wicket if it is open.
#[test]
fn what_was_done_under_one_permit_is_seen_under_the_next() {
    type Visit = (fn(&Limiter) -> Option<Permit>, fn(Permit));
    fn visit((enter, leave): Visit, cell: Arc<UnsafeCell<u32>>) -> impl FnOnce(&Limiter) {
        move |limiter| {
            if let Some(permit) = enter(limiter) {
                cell.with_mut(|_| ());
                leave(permit);
            }
        }
    }
    let check = |first: Visit, second: Visit| {
        check(1, move |limiter| {
            let cell = Arc::new(UnsafeCell::new(0));
            let other = spawn(limiter, visit(first, cell.clone()));
            visit(second, cell)(limiter);
            other.join().unwrap();
        });
    };
    let waits: fn(&Limiter) -> Option<Permit> = |limiter| limiter.acquire().ok();
    let tries: fn(&Limiter) -> Option<Permit> = |limiter| limiter.try_acquire().ok();
    check((waits, Permit::success), (waits, Permit::success));
    check((tries, Permit::success), (tries, Permit::success));
    check((waits, Permit::success), (tries, Permit::success));
    check((waits, Permit::dropped), (tries, Permit::success));
}

/// A snapshot shuts the wicket as others come and go by it, and opens it again.
#[test]
fn every_snapshot_is_exact() {
    check(1, |limiter| {
        let pass = |limiter: &Limiter| drop(limiter.try_acquire());
        let fail = |limiter: &Limiter| {
            if let Ok(permit) = limiter.try_acquire() {
                permit.dropped();
            }
        };
        let others = [spawn(limiter, pass), spawn(limiter, fail)];
        let before = balanced(limiter.snapshot()).counters;
        for other in others {
            other.join().unwrap();
        }
        let after = balanced(limiter.snapshot()).counters;
        assert!(before.submitted <= after.submitted && before.completed <= after.completed);
        assert_eq!(after.submitted, 2);
        assert!(1 <= after.started, "one of them was first");
    });
}

/// The limit falls as another passes the wicket: whoever comes when that is done finds it lower.
#[test]
fn the_limit_falls_while_others_pass() {
    check(2, |limiter| {
        let held = acquire(limiter);
        let other = spawn(limiter, |limiter| limiter.try_acquire().ok());
        limiter.resize(1);
        assert!(limiter.try_acquire().is_err(), "one is in, and one more came");
        drop(held);
        drop(other.join().unwrap());
    });
}

#[test]
fn the_limit_falls_while_others_come() {
    check(2, |limiter| {
        let (first, second) = (acquire(limiter), acquire(limiter));
        let waits = spawn(limiter, acquire_and_drop);
        limiter.resize(1);
        drop(first);
        assert_eq!(limiter.in_use(), 1, "the second permit, and nobody in place of the first");
        drop(second);
        waits.join().unwrap();
    });
}

#[test]
fn the_limit_falls_as_permits_come_back() {
    check(2, |limiter| {
        let (first, second) = (acquire(limiter), acquire(limiter));
        let resizes = spawn(limiter, |limiter| limiter.resize(1));
        let waits = spawn(limiter, acquire_and_drop);
        drop(first);
        drop(second);
        resizes.join().unwrap();
        waits.join().unwrap();
    });
}

#[test]
fn growing_wakes_as_many_as_there_is_room_for() {
    check(0, |limiter| {
        let waits = [spawn(limiter, acquire), spawn(limiter, acquire)];
        limiter.resize(2);
        let held = waits.map(|waits| waits.join().unwrap());
        assert_eq!(limiter.in_use(), 2);
        drop(held);
    });
}

#[test]
fn growing_by_one_is_enough_for_two_in_turn() {
    check(0, |limiter| {
        let waits = [spawn(limiter, acquire_and_drop), spawn(limiter, acquire_and_drop)];
        limiter.resize(1);
        for waits in waits {
            waits.join().unwrap();
        }
    });
}

/// The future is dropped before, after and at the moment at which its turn comes.
#[test]
fn a_dropped_future_passes_its_turn_on() {
    check(1, |limiter| {
        let held = acquire(limiter);
        let gives_up = spawn(limiter, |limiter| {
            let mut future = limiter.acquire_async();
            drop(poll(&mut future, Waker::noop()));
        });
        let waits = spawn(limiter, acquire_and_drop);
        drop(held);
        gives_up.join().unwrap();
        waits.join().unwrap();
    });
}

/// The same for a future that waits before the other, and a limit that grows.
#[test]
fn a_dropped_future_passes_on_what_a_growth_gave_it() {
    check(0, |limiter| {
        let mut future = limiter.acquire_async();
        assert!(poll(&mut future, Waker::noop()).is_pending());
        let gives_up = spawn(limiter, |_| drop(future));
        let waits = spawn(limiter, acquire_and_drop);
        limiter.resize(1);
        gives_up.join().unwrap();
        waits.join().unwrap();
    });
}

/// Time does not pass in a model, so it has passed from the beginning.
#[test]
fn a_timeout_passes_its_turn_on() {
    check(1, |limiter| {
        let held = acquire(limiter);
        let gives_up = spawn(limiter, |limiter| drop(limiter.acquire_timeout(Duration::ZERO)));
        let waits = spawn(limiter, acquire_and_drop);
        drop(held);
        gives_up.join().unwrap();
        waits.join().unwrap();
    });
}

/// A task that moved waits with its newest waker; the older one wakes nobody.
#[test]
fn the_newest_waker_is_called() {
    check(1, |limiter| {
        let held = acquire(limiter);
        let waits = spawn(limiter, |limiter| {
            let mut future = limiter.acquire_async();
            if poll(&mut future, Waker::noop()).is_ready() {
                return;
            }
            let parker = Arc::new(Parker::default());
            let waker = Waker::from(parker.clone());
            while poll(&mut future, &waker).is_pending() {
                parker.park();
            }
        });
        drop(held);
        waits.join().unwrap();
    });
}

#[test]
fn closing_releases_who_waits() {
    check(1, |limiter| {
        let held = acquire(limiter);
        let waits = [(); 2].map(|()| spawn(limiter, Limiter::acquire));
        limiter.close();
        for waits in waits {
            assert_eq!(waits.join().unwrap().err(), Some(Closed), "there was no room before");
        }
        drop(held);
    });
}

/// Whoever was admitted before the closing has a permit; nobody is left with neither.
#[test]
fn closing_meets_admission() {
    check(1, |limiter| {
        let held = acquire(limiter);
        let waits = spawn(limiter, |limiter| drop(limiter.acquire()));
        let closes = spawn(limiter, Limiter::close);
        drop(held);
        waits.join().unwrap();
        closes.join().unwrap();
    });
}
