//! Everything at once, and the same thing very often.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use std::{env, thread};

use headcount_core::{Counters, Staffing};
use headcount_pool::{CancelToken, Overflow, TaskError, TaskHandle, TaskOptions, blocking};

use super::{Handle, Pool, RUNS_WHAT_BEGINS, alive, at, builder, does, workers_alive};
use crate::support::{Dice, Gate, LIMIT, eventually, within};

/// What became of the tasks, counted by the tasks and by those who submitted them.
#[derive(Debug, Default)]
struct Ledger {
    accepted: AtomicU64,
    refused: AtomicU64,
    ran: AtomicU64,
    /// By the number of a [`TaskError`], see [`Ledger::lost`].
    lost: [AtomicU64; 5],
}

/// A task that was taken in, and whether it has run.
type Kept = (TaskHandle<()>, Arc<AtomicBool>);

impl Ledger {
    fn add(count: &AtomicU64) {
        count.fetch_add(1, Ordering::SeqCst);
    }

    fn get(count: &AtomicU64) -> u64 {
        count.load(Ordering::SeqCst)
    }

    /// A task that did not run, though it may have begun: a future can be dropped before its first
    /// poll. One that panicked, or was asked to stop while it ran, has run.
    fn lost(&self, error: &TaskError, ran: bool) {
        match error {
            _ if ran => {}
            TaskError::Cancelled => Self::add(&self.lost[0]),
            TaskError::Expired => Self::add(&self.lost[1]),
            TaskError::Dropped => Self::add(&self.lost[2]),
            TaskError::Returned => Self::add(&self.lost[3]),
            TaskError::TimedOut => Self::add(&self.lost[4]),
            other => panic!("it has not run, but {other}"),
        }
    }

    fn lost_in_all(&self) -> u64 {
        self.lost.iter().map(Self::get).sum()
    }
}

struct Submitter {
    dice: Dice,
    pool: Handle,
    ledger: Arc<Ledger>,
    token: CancelToken,
    kept: Vec<Kept>,
}

impl Submitter {
    fn task(&mut self, ran: &Arc<AtomicBool>) -> impl FnOnce() + Send + use<> + 'static {
        let ran = Arc::clone(ran);
        let (ledger, kind, spins) =
            (Arc::clone(&self.ledger), self.dice.below(20), self.dice.below(400) + 1);
        move || {
            Ledger::add(&ledger.ran);
            assert!(!ran.swap(true, Ordering::SeqCst), "once");
            match kind {
                0 => panic!("now and then"),
                1 => blocking(|| Dice::new(spins).dawdle(spins * 10)),
                _ => Dice::new(spins).dawdle(spins),
            }
        }
    }

    fn options(&mut self) -> TaskOptions {
        let overflow = match self.dice.below(6) {
            0 => Overflow::Reject,
            1 => Overflow::DropOldest,
            2 => Overflow::DropNewest,
            3 => Overflow::CallerRuns,
            4 => Overflow::WaitFor(Duration::from_micros(self.dice.below(300))),
            _ => Overflow::Wait,
        };
        let options = TaskOptions::new().overflow(overflow);
        match self.dice.below(8) {
            0 => options.wait_max(Duration::from_micros(self.dice.below(500))),
            1 => options.run_max(Duration::from_millis(5)),
            2 => options.token(self.token.clone()),
            _ => options,
        }
    }

    fn submit(&mut self) {
        let ran = Arc::default();
        let (task, options) = (self.task(&ran), self.options());
        match self.pool.submit_with(options, does(task)) {
            Ok(handle) => {
                Ledger::add(&self.ledger.accepted);
                self.kept.push((handle, ran));
            }
            Err(refused) => {
                Ledger::add(&self.ledger.refused);
                drop(refused);
            }
        }
    }

    fn step(&mut self) {
        match self.dice.below(40) {
            0 => self.pool.pause(),
            1 | 2 => self.pool.resume(),
            3 | 4 => {
                let ceiling = u32::try_from(self.dice.below(4) + 1).expect("small");
                let floor = u32::try_from(self.dice.below(3)).expect("small");
                drop(self.pool.resize(Staffing::between(floor, ceiling)));
            }
            5..8 if !self.kept.is_empty() => {
                let index = usize::try_from(self.dice.below(self.kept.len() as u64));
                self.kept[index.expect("an index")].0.cancel();
            }
            8 => self.token.cancel(),
            9 => self.token = CancelToken::new(),
            10 => drop(self.pool.snapshot()),
            _ => self.submit(),
        }
    }
}

/// Some of these rules wait for room, and somebody may have paused the pool: so it is resumed.
fn run_all(pool: &Pool, ledger: &Arc<Ledger>, seed: u64) -> Vec<Kept> {
    thread::scope(|scope| {
        let submitters: Vec<_> = (0..3)
            .map(|index| {
                let mut submitter = Submitter {
                    dice: Dice::new(seed * 3 + index + 1),
                    pool: pool.handle(),
                    ledger: Arc::clone(ledger),
                    token: CancelToken::new(),
                    kept: Vec::new(),
                };
                scope.spawn(move || {
                    (0..600).for_each(|_| submitter.step());
                    submitter.kept
                })
            })
            .collect();
        eventually("all have submitted", || {
            pool.resume();
            submitters.iter().all(thread::ScopedJoinHandle::is_finished)
        });
        submitters.into_iter().flat_map(|s| s.join().expect("no panic")).collect()
    })
}

#[test]
fn every_accepted_task_ends_in_exactly_one_way() {
    for seed in 1..=8 {
        let pool = builder("stress")
            .workers(0..=3)
            .queue_len_max(16)
            .idle_time(Duration::from_micros(200))
            .compensate_max(2)
            .stuck_after(Duration::from_millis(2))
            .replace_stuck_max(1)
            .build()
            .expect("no fault");
        let ledger = Arc::new(Ledger::default());
        let handles = run_all(&pool, &ledger, seed);
        let drained = pool.drain(Duration::from_micros(100 * seed));
        let handed_back = drained.unrun.len() as u64;
        drop(drained);
        let before = ledger.clone();
        within("every task has an outcome", move || {
            for (handle, ran) in handles {
                if let Err(error) = handle.join() {
                    before.lost(&error, ran.load(Ordering::SeqCst));
                }
            }
        });
        let counts = pool.handle();
        within("the drop", move || drop(pool));
        let (accepted, ran) = (Ledger::get(&ledger.accepted), Ledger::get(&ledger.ran));
        assert_eq!(accepted, ran + ledger.lost_in_all(), "seed {seed}: {ledger:?}");
        let counters = counts.snapshot().counters;
        let [cancelled, expired, _, returned, timed_out] = &ledger.lost;
        let unpolled = match RUNS_WHAT_BEGINS {
            true => 0,
            false => Ledger::get(cancelled) + Ledger::get(timed_out),
        };
        let completed = counters.completed;
        assert!(ran <= completed && completed <= ran + unpolled, "seed {seed}: {ledger:?}");
        assert_eq!(counters.started, completed, "seed {seed}");
        // One that was handed back is off the books. If its time is over before it is dropped its
        // submitter hears that it has expired, and otherwise that it was returned: each is one of
        // the two, and those on the books have all expired.
        let (expired, returned) = (Ledger::get(expired), Ledger::get(returned));
        assert_eq!(counters.expired + handed_back, expired + returned, "seed {seed}: {ledger:?}");
        assert!(counters.expired <= expired, "seed {seed}: {ledger:?}");
        let Counters { rejected, cancelled, dropped, returned, .. } = counters;
        assert_eq!(returned, handed_back, "seed {seed}");
        let unrun = counters.expired + cancelled + dropped + returned;
        assert_eq!(counters.submitted - rejected, completed + unrun, "seed {seed}: {counters:?}");
        let refused = Ledger::get(&ledger.refused);
        assert!(refused <= counters.rejected, "seed {seed}");
        assert_eq!(counters.submitted, accepted + refused, "seed {seed}");
        eventually("no threads", || alive("stress") == 0);
    }
}

/// A count that is off by one now and then shows after very many resizes.
#[test]
fn counts_do_not_drift_over_many_resizes_and_expiries() {
    let full = env::var("HEADCOUNT_SOAK").ok().and_then(|count| count.parse().ok());
    let resizes: u64 = full.unwrap_or(100_000);
    let shifts = Arc::new((AtomicU64::new(0), AtomicU64::new(0)));
    let (started, stopped) = (Arc::clone(&shifts), Arc::clone(&shifts));
    let pool = builder("soak")
        .workers(0..=4)
        .idle_time(Duration::from_micros(1))
        .on_worker_start(move |_| Ledger::add(&started.0))
        .on_worker_stop(move |_| Ledger::add(&stopped.1))
        .build()
        .expect("no fault");
    let mut dice = Dice::new(2024);
    let ran = Arc::new(AtomicU64::new(0));
    let mut submitted = 0;
    for n in 0..resizes {
        let ceiling = u32::try_from(dice.below(4) + 1).expect("small");
        let floor = u32::try_from(dice.below(u64::from(ceiling) + 1)).expect("small");
        let resize = pool.resize(Staffing::between(floor, ceiling));
        if dice.below(4) == 0 {
            let ran = Arc::clone(&ran);
            pool.spawn(does(move || Ledger::add(&ran))).expect("open");
            submitted += 1;
        }
        if n % 16 == 0 {
            assert!(resize.wait_timeout(LIMIT), "{:?}", resize.progress());
        }
    }
    assert!(pool.idle().wait_timeout(LIMIT));
    assert_eq!(Ledger::get(&ran), submitted);
    for size in [3, 1, 4] {
        assert!(pool.resize(Staffing::exactly(size)).wait_timeout(LIMIT));
        eventually("all parked", || pool.counts().parked == size);
        let counts = pool.counts();
        assert_eq!((counts.live, counts.starting, counts.busy), (size, 0, 0));
        assert_eq!((counts.leaving, counts.retiring, counts.written_off), (0, 0, 0));
        eventually("so many threads", || workers_alive("soak") == size as usize);
    }
    let gate = Gate::new();
    (0..4).for_each(|_| pool.spawn(at(&gate)).expect("open"));
    gate.wait_for(4);
    gate.open();
    assert!(pool.idle().wait_timeout(LIMIT));
    assert_eq!(pool.snapshot().counters.completed, submitted + 4);
    within("the drop", move || drop(pool));
    let (started, stopped) = (Ledger::get(&shifts.0), Ledger::get(&shifts.1));
    assert_eq!(started, stopped);
    assert!(resizes / 50 < started, "only {started} came and went");
}
