//! The limiter as its users hold it: with wakers that count, with threads, under stress.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, Weak, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use super::{Acquire, AcquireTimeoutError, Closed, Limiter, Permit, TryAcquireError};

/// A waker that counts its calls.
#[derive(Default)]
struct Bell(AtomicU32);

impl Bell {
    fn rings(&self) -> u32 {
        self.0.load(SeqCst)
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// A task that waits, and the bell that calls it.
struct Waits {
    acquire: Acquire,
    bell: Arc<Bell>,
}

impl Waits {
    /// Somebody who has joined the queue.
    fn at(limiter: &Limiter) -> Self {
        let mut waits = Self { acquire: limiter.acquire_async(), bell: Arc::default() };
        assert!(waits.poll().is_pending(), "there was room");
        waits
    }

    fn poll(&mut self) -> Poll<Result<Permit, Closed>> {
        let waker = Waker::from(self.bell.clone());
        Pin::new(&mut self.acquire).poll(&mut Context::from_waker(&waker))
    }

    fn collect(mut self) -> Permit {
        assert_eq!(self.bell.rings(), 1, "called once");
        match self.poll() {
            Poll::Ready(permit) => permit.expect("nobody closes it"),
            Poll::Pending => panic!("called too early"),
        }
    }
}

fn acquire(limiter: &Limiter) -> Permit {
    limiter.try_acquire().expect("there is room")
}

/// Waits until so many stand in the queue. A thread joins it at some time that only it knows.
fn until_waiting(limiter: &Limiter, count: usize) {
    while limiter.waiting() != count {
        thread::yield_now();
    }
}

/// What tokio's semaphore does not do: there `forget_permits` finds none to forget while others
/// wait, and the limit stays at 2.
#[test]
fn the_limit_falls_while_others_wait() {
    let limiter = Limiter::new(2);
    let (first, second) = (acquire(&limiter), acquire(&limiter));
    let waits = Waits::at(&limiter);

    limiter.resize(1);
    assert_eq!((limiter.limit(), limiter.in_use()), (1, 2), "nobody is thrown out");
    drop(first);
    assert_eq!((waits.bell.rings(), limiter.in_use()), (0, 1), "and nobody replaced");
    drop(second);
    drop(waits.collect());
    assert_eq!(limiter.try_acquire().map(|_| limiter.in_use()), Ok(1));
}

#[test]
fn growing_calls_exactly_as_many_as_there_is_room_for() {
    let limiter = Limiter::new(0);
    let waits: Vec<_> = (0..5).map(|_| Waits::at(&limiter)).collect();
    let rings = || waits.iter().map(|waits| waits.bell.rings()).collect::<Vec<_>>();
    limiter.resize(2);
    assert_eq!(rings(), [1, 1, 0, 0, 0]);
    limiter.resize(3);
    assert_eq!(rings(), [1, 1, 1, 0, 0]);
    limiter.resize(1000);
    assert_eq!(rings(), [1; 5]);
    let held: Vec<_> = waits.into_iter().map(Waits::collect).collect();
    assert_eq!(limiter.in_use(), 5);
    drop(held);
    assert_eq!(limiter.in_use(), 0);
}

/// Thread, task, thread, task: they are let in as they came.
#[test]
fn threads_and_tasks_stand_in_one_queue() {
    let limiter = Limiter::new(0);
    let (report, reports) = mpsc::channel();
    let thread = |name: &'static str| {
        let (limiter, report) = (limiter.clone(), report.clone());
        thread::spawn(move || report.send((name, limiter.acquire())).expect("somebody listens"))
    };
    thread("first thread");
    until_waiting(&limiter, 1);
    let first_task = Waits::at(&limiter);
    thread("second thread");
    until_waiting(&limiter, 3);
    let second_task = Waits::at(&limiter);

    limiter.resize(1);
    let (name, permit) = reports.recv().expect("the first thread");
    assert_eq!((name, first_task.bell.rings()), ("first thread", 0));
    drop(permit);
    drop(first_task.collect());
    let (name, permit) = reports.recv().expect("the second thread");
    assert_eq!((name, second_task.bell.rings()), ("second thread", 0));
    drop(permit);
    drop(second_task.collect());
}

#[test]
fn a_dropped_future_passes_its_turn_on() {
    let limiter = Limiter::new(1);
    let held = acquire(&limiter);
    let [first, second, third] = [(); 3].map(|()| Waits::at(&limiter));
    // One leaves the queue, one is called and does not come.
    drop(second);
    assert_eq!(limiter.waiting(), 2);
    drop(held);
    assert_eq!((first.bell.rings(), third.bell.rings()), (1, 0));
    drop(first);
    drop(third.collect());
    assert_eq!((limiter.in_use(), limiter.waiting()), (0, 0));
}

#[test]
fn a_future_does_nothing_until_it_is_polled() {
    let limiter = Limiter::new(1);
    let future = limiter.acquire_async();
    assert_eq!((limiter.in_use(), limiter.waiting()), (0, 0));
    drop(future);
    assert_eq!(limiter.snapshot().counters.submitted, 0);
}

#[test]
fn a_task_that_moved_is_called_where_it_is_now() {
    let limiter = Limiter::new(0);
    let mut waits = Waits::at(&limiter);
    let before = std::mem::take(&mut waits.bell);
    assert!(waits.poll().is_pending());
    limiter.resize(1);
    assert_eq!(before.rings(), 0);
    drop(waits.collect());
}

#[test]
fn a_timeout_leaves_the_queue() {
    let limiter = Limiter::new(0);
    for timeout in [Duration::ZERO, Duration::from_micros(50)] {
        let error = limiter.acquire_timeout(timeout).expect_err("nobody is let in");
        assert_eq!(error, AcquireTimeoutError::TimedOut);
    }
    assert_eq!(limiter.waiting(), 0);
    assert_eq!(limiter.snapshot().counters.expired, 2);
}

#[test]
fn a_timeout_that_is_long_enough_is_no_timeout() {
    let limiter = Limiter::new(0);
    thread::scope(|scope| {
        let waits = scope.spawn(|| limiter.acquire_timeout(Duration::MAX).map(Permit::success));
        until_waiting(&limiter, 1);
        limiter.resize(1);
        assert_eq!(waits.join().expect("no panic"), Ok(()));
    });
}

#[test]
fn closing_releases_everybody_who_waits() {
    let limiter = Limiter::new(1);
    let held = acquire(&limiter);
    let mut task = Waits::at(&limiter);
    thread::scope(|scope| {
        let thread = scope.spawn(|| limiter.acquire().map(drop));
        let timed = scope.spawn(|| limiter.acquire_timeout(Duration::MAX).map(drop));
        until_waiting(&limiter, 3);
        limiter.close();
        assert_eq!(thread.join().expect("no panic"), Err(Closed));
        assert_eq!(timed.join().expect("no panic"), Err(AcquireTimeoutError::Closed));
    });
    assert_eq!(task.bell.rings(), 1);
    assert!(matches!(task.poll(), Poll::Ready(Err(Closed))));
    assert_eq!(limiter.try_acquire().map(drop), Err(TryAcquireError::Closed));
    assert_eq!((limiter.is_closed(), limiter.in_use()), (true, 1), "a permit stays good");
    held.success();
    assert_eq!(limiter.in_use(), 0);
}

/// A caller's code may do anything, so it runs when our lock is free.
#[test]
fn a_waker_may_use_the_limiter() {
    struct Meddler(Mutex<Option<Limiter>>);
    impl Meddler {
        fn meddle(&self) {
            let limiter = self.0.lock().expect("no panic").take();
            limiter.expect("told once").resize(7);
        }
    }
    impl Wake for Meddler {
        fn wake(self: Arc<Self>) {
            self.meddle();
        }
    }
    impl Drop for Meddler {
        fn drop(&mut self) {
            if self.0.lock().expect("no panic").is_some() {
                self.meddle();
            }
        }
    }
    let check = |limit, then: fn(&Limiter, Acquire)| {
        let limiter = Limiter::new(limit);
        let waker = Waker::from(Arc::new(Meddler(Mutex::new(Some(limiter.clone())))));
        let mut acquire = limiter.acquire_async();
        let asked = Pin::new(&mut acquire).poll(&mut Context::from_waker(&waker));
        drop((waker, asked));
        then(&limiter, acquire);
        assert_eq!((limiter.limit(), limiter.in_use()), (7, 0));
    };
    check(0, |limiter, acquire| {
        limiter.resize(1);
        drop(acquire);
    });
    check(0, |limiter, acquire| {
        limiter.close();
        drop(acquire);
    });
    check(0, |_, acquire| drop(acquire));
    check(0, |_, mut acquire| {
        let polled = Pin::new(&mut acquire).poll(&mut Context::from_waker(Waker::noop()));
        drop(polled);
    });
}

#[test]
fn wakers_are_kept_no_longer_than_they_are_needed() {
    let limiter = Limiter::new(0);
    let kept = |waits: &Waits| Arc::downgrade(&waits.bell);
    let [admitted, gives_up, turned_away] = [(); 3].map(|()| Waits::at(&limiter));
    let bells = [kept(&admitted), kept(&gives_up), kept(&turned_away)];
    limiter.resize(1);
    drop(gives_up);
    limiter.close();
    drop((admitted, turned_away));
    assert_eq!(bells.map(|bell: Weak<Bell>| bell.strong_count()), [0, 0, 0]);
}

#[test]
fn how_the_work_ended_is_counted() {
    let limiter = Limiter::new(1);
    let check = |end: fn(Permit), expected: (u64, u64, u64, u64)| {
        let before = limiter.snapshot();
        let permit = acquire(&limiter);
        let _ = catch_unwind(AssertUnwindSafe(|| end(permit)));
        let after = limiter.snapshot();
        let timed = |snapshot: &headcount_core::PoolSnapshot| {
            snapshot.service_logs.expect("they are kept").count
        };
        let counted = (
            after.counters.completed - before.counters.completed,
            after.counters.failed - before.counters.failed,
            after.counters.panicked - before.counters.panicked,
            timed(&after) - timed(&before),
        );
        assert_eq!(counted, expected);
        assert_eq!(after.busy, 0);
    };
    check(Permit::success, (1, 0, 0, 1));
    check(drop, (1, 0, 0, 1));
    check(Permit::ignore, (1, 0, 0, 0));
    check(Permit::dropped, (1, 1, 0, 1));
    check(|_permit| std::panic::resume_unwind(Box::new("a bug of the user")), (1, 1, 1, 1));
}

/// More than are timed one by one, and nobody reads meanwhile.
#[test]
fn what_is_held_for_a_moment_is_counted_in_full_though_few_are_timed() {
    const PERMITS: u64 = 100_000;
    let limiter = Limiter::new(1);
    for n in 0..PERMITS {
        let permit = acquire(&limiter);
        assert_eq!(limiter.try_acquire().map(drop), Err(TryAcquireError::Full));
        match n % 100 {
            0 => permit.dropped(),
            _ => permit.success(),
        }
    }
    let snapshot = limiter.snapshot();
    let counted = snapshot.counters;
    assert_eq!((counted.submitted, counted.started), (2 * PERMITS, PERMITS));
    assert_eq!((counted.completed, counted.rejected), (PERMITS, PERMITS));
    assert_eq!(counted.failed, PERMITS / 100);
    assert_eq!(snapshot.wait.map(|wait| (wait.count, wait.p99)), Some((PERMITS, Duration::ZERO)));
    let timed = snapshot.service.expect("some were timed").count;
    assert!(timed.abs_diff(PERMITS) < PERMITS / 4, "they stand for {timed}");
}

#[test]
fn permits_and_futures_go_where_the_work_goes() {
    fn goes_anywhere<T: Send + Sync + Unpin + 'static>() {}
    goes_anywhere::<Limiter>();
    goes_anywhere::<Permit>();
    goes_anywhere::<Acquire>();
}

/// Threads that wait, wait for a while, try, or give up, and one that resizes without pause.
#[test]
fn under_stress_the_limit_holds_and_nobody_is_lost() {
    const THREADS: u32 = 6;
    const ROUNDS: u32 = 10_000;
    const LIMIT_MAX: u32 = 3;
    let limiter = Limiter::new(1);
    let (inside, working) = (AtomicU32::new(0), AtomicU32::new(THREADS));
    let work = |permit: Permit| {
        assert!(inside.fetch_add(1, SeqCst) < LIMIT_MAX, "more are in than was ever allowed");
        // The others come meanwhile, and find it full.
        thread::yield_now();
        inside.fetch_sub(1, SeqCst);
        permit.success();
    };
    let round = |n: u32| match n % 4 {
        0 => drop(limiter.try_acquire().map(work)),
        1 => drop(limiter.acquire_timeout(Duration::from_micros(20)).map(work)),
        2 => {
            let mut acquire = limiter.acquire_async();
            let asked = Pin::new(&mut acquire).poll(&mut Context::from_waker(Waker::noop()));
            thread::yield_now();
            drop((asked, acquire));
        }
        _ => limiter.acquire().map(work).expect("nobody closes it"),
    };
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (round, working) = (&round, &working);
            scope.spawn(move || {
                (0..ROUNDS).for_each(|n| round(n + thread));
                working.fetch_sub(1, SeqCst);
            });
        }
        scope.spawn(|| {
            for n in 0_u32.. {
                limiter.resize(n % (LIMIT_MAX + 1));
                if working.load(SeqCst) == 0 {
                    return;
                }
                thread::yield_now();
            }
        });
    });
    let (snapshot, counted) = (limiter.snapshot(), limiter.snapshot().counters);
    assert_eq!((snapshot.busy, snapshot.queued), (0, 0), "everybody has gone");
    assert_eq!(counted.submitted, u64::from(THREADS * ROUNDS));
    assert_eq!(counted.submitted, counted.started + counted.rejected + counted.expired);
    assert_eq!(counted.started, counted.completed);
}

/// Of permits held for a moment few are timed; of those who wait each is.
#[test]
fn everybody_who_waited_is_measured() {
    const WAITERS: u64 = 10;
    let limiter = Limiter::new(1);
    (0..1_000).for_each(|_| drop(limiter.acquire()));
    let held = limiter.acquire().expect("open");
    let mut context = Context::from_waker(Waker::noop());
    let mut waits: Vec<_> = (0..WAITERS).map(|_| Box::pin(limiter.acquire_async())).collect();
    for wait in &mut waits {
        assert!(wait.as_mut().poll(&mut context).is_pending());
    }
    drop(held);
    for wait in &mut waits {
        let Poll::Ready(permit) = wait.as_mut().poll(&mut context) else { panic!("its turn") };
        drop(permit);
    }
    let wait = limiter.snapshot().wait.expect("many came");
    assert_eq!(wait.count, 1_001 + WAITERS);
    assert!(Duration::ZERO < wait.mean, "{wait:?}");
}

#[test]
fn a_waker_that_panics_keeps_nobody_from_being_called() {
    /// Panics when it is called.
    struct Bad;
    impl Wake for Bad {
        fn wake(self: Arc<Self>) {
            panic!("a bug of the user");
        }
    }
    let limiter = Limiter::new(0);
    let bell = Arc::new(Bell::default());
    let mut waits = [limiter.acquire_async(), limiter.acquire_async()];
    let wakers = [Waker::from(Arc::new(Bad)), Waker::from(Arc::clone(&bell))];
    for (wait, waker) in waits.iter_mut().zip(&wakers) {
        assert!(Pin::new(wait).poll(&mut Context::from_waker(waker)).is_pending());
    }
    limiter.resize(2);
    assert_eq!(bell.rings(), 1);
}
