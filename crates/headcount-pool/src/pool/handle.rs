//! What can be done with a pool of either kind, but for handing it tasks.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use headcount_core::roster::Counts;
use headcount_core::{Counters, Poke, PoolSnapshot, Resizable, Staffing, Timestamp};

use super::drained::{Drained, Unrun};
use super::idle::Idle;
use super::resize::Resize;
use super::sampling::{SAMPLED_MAX, used_by};
use crate::engine::{Badge, Engine, Fate, Kind};
use crate::event::Event;
use crate::policy::Policies;
use crate::sync::atomic::Ordering;
use crate::sync::lock;
use crate::task::{Overflow, Refusal};

/// A cheap handle to a pool, to be cloned and given away.
///
/// It does not keep the pool alive: once the owner is gone every submit is refused.
///
/// ```
/// use headcount_pool::{Refusal, ThreadPool};
///
/// let pool = ThreadPool::builder().workers(1).build()?;
/// let handle = pool.handle();
/// let elsewhere = std::thread::spawn(move || handle.submit(|| 1 + 1).expect("open").join());
/// assert_eq!(elsewhere.join().expect("no panic")?, 2);
///
/// let handle = pool.handle();
/// drop(pool);
/// assert_eq!(handle.spawn(|| ()).expect_err("it is gone").reason, Refusal::Closed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PoolHandle<K: Kind> {
    engine: Arc<Engine<K>>,
    overflow: Overflow,
}

impl<K: Kind> PoolHandle<K> {
    pub(crate) fn new(engine: Arc<Engine<K>>, overflow: Overflow) -> Self {
        Self { engine, overflow }
    }

    pub(crate) fn engine(&self) -> &Arc<Engine<K>> {
        &self.engine
    }

    /// What the pool does when its line is full, unless a task says otherwise.
    pub(crate) fn overflow(&self) -> Overflow {
        self.overflow
    }

    /// Counts a task that was not taken in.
    pub(crate) fn refuse(&self, reason: Refusal) -> Refusal {
        self.engine.refused.fetch_add(1, Ordering::Relaxed);
        reason
    }

    /// What the pool is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.engine.name
    }

    /// Sets other bounds for the number of workers, and returns at once.
    ///
    /// Workers above the ceiling leave: parked ones now, the others after their task. Workers below
    /// the floor are started. No resize goes beyond the `workers_max` that the pool was built with.
    pub fn resize(&self, staffing: Staffing) -> Resize<K> {
        Resize::new(&self.engine, self.engine.resize(staffing))
    }

    /// Hires a worker for a task only when it has waited for so long, from now on.
    pub fn set_wait_budget(&self, wait_budget: Duration) {
        self.engine.set_wait_budget(wait_budget);
    }

    /// Serves the newest tasks first while the oldest has waited for longer than this, from now on;
    /// `None`: the oldest first. Those passed over so far are served as before until none is left.
    ///
    /// A scaler sets it by its policy: `slo` by what it promises, all others to `None`.
    pub fn set_newest_first_after(&self, after: Option<Duration>) {
        self.engine.floor.set_newest_first_after(after);
    }

    /// Lets a worker above the floor go when it was idle for so long, from now on.
    pub fn set_idle_time(&self, idle_time: Duration) {
        self.engine.set_idle_time(idle_time);
    }

    /// The pool as an autoscaler sees it.
    ///
    /// `queued` and `oldest_wait` are about tasks that are still to run. As long as some in the
    /// line are not, because they were cancelled, expired or run from elsewhere, nobody knows which
    /// of the others is the oldest; `oldest_wait` is then for how long it has waited at least.
    #[must_use]
    pub fn snapshot(&self) -> PoolSnapshot {
        let engine = &self.engine;
        let now = engine.now();
        let served = engine.tally.totals().service.sum();
        let blocked_share = self.blocked_share(now, served);
        // Read at the desk, so that whoever reads later does not see less than another before.
        let mut desk = engine.desk();
        let totals = engine.tally.totals();
        let waiting = engine.floor.waiting(now);
        let refused = engine.refused.load(Ordering::Relaxed);
        let accepted = engine.floor.door.admitted() + engine.ran_beside.load(Ordering::Relaxed);
        // What ended in the line may be in a worker's hand, but has not begun.
        let begun_max = accepted.saturating_sub(totals.unrun());
        let started = desk.staff.started_of(totals.completed(), begun_max);
        PoolSnapshot {
            queue_len_max: Some(engine.floor.door.len_max()),
            counters: Counters {
                submitted: accepted + refused,
                started,
                completed: totals.completed(),
                failed: totals.of(Fate::Failed) + totals.of(Fate::Panicked),
                panicked: totals.of(Fate::Panicked),
                rejected: refused,
                expired: totals.of(Fate::Expired),
                cancelled: totals.of(Fate::Cancelled),
                dropped: totals.of(Fate::Dropped),
                returned: totals.of(Fate::Returned),
            },
            wait: desk.wait_window.statistics(&totals.wait, now),
            service: desk.service_window.statistics(&totals.service, now),
            service_logs: Some(totals.service.log_sums()),
            blocked_share,
            spawn_delay: desk.spawn_delay(),
            draining: engine.floor.door.is_closed(),
            ..desk.roster.snapshot(now, &waiting)
        }
    }

    /// The share of their tasks' time that workers spent blocked, sampled now and then.
    ///
    /// The files of the kernel are read without the desk's lock.
    fn blocked_share(&self, now: Timestamp, served: Duration) -> Option<f64> {
        let mut blocked_share = lock(&self.engine.blocked_share);
        if blocked_share.is_due(now) {
            let desk = self.engine.desk();
            let posts = desk.staff.iter();
            let threads: Vec<_> = posts
                .filter_map(|post| Some((post.worker, post.badge.as_ref()?.thread()?)))
                .collect();
            let at_tasks = desk.staff.badges().filter_map(Badge::since);
            let busy = served + at_tasks.map(|since| now.since(since)).sum::<Duration>();
            drop(desk);
            if !threads.is_empty() && threads.len() <= SAMPLED_MAX {
                let used = threads.iter();
                let used = used.filter_map(|(worker, thread)| Some((*worker, used_by(*thread)?)));
                blocked_share.sample(now, busy, used);
            }
        }
        blocked_share.share()
    }

    /// How many workers there are, by what they do.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.engine.desk().roster.counts()
    }

    /// How many workers are in a [`blocking`](crate::blocking) section.
    #[must_use]
    pub fn blocked(&self) -> u32 {
        self.engine.desk().watchdog.blocked()
    }

    /// The latest events and when they happened, by the clock of the pool.
    #[must_use]
    pub fn events(&self) -> Vec<(Timestamp, Event)> {
        self.engine.events.latest()
    }

    /// The policies that are asked before a task is taken in. Add, find, remove and disable them
    /// at any time.
    #[must_use]
    pub fn policies(&self) -> &Policies {
        &self.engine.policies
    }

    /// Lets no worker begin a task until [`resume`](Self::resume). Tasks that run go on, tasks are
    /// taken in as long as there is room, and each worker may still begin the one it is just
    /// taking.
    ///
    /// What does not wait for a worker begins all the same, where it is submitted or waited for: a
    /// task that its submitter is to run ([`Overflow::CallerRuns`]), one that a task of the pool
    /// hands over where the line is full, or waits for, and those of a `scope` or `map`, which
    /// whoever opened it runs. Whoever runs them would wait for ever where they were held.
    pub fn pause(&self) {
        self.set_paused(true);
    }

    /// Lets tasks begin again.
    pub fn resume(&self) {
        self.set_paused(false);
    }

    fn set_paused(&self, paused: bool) {
        self.engine.visit(0, |desk, _, _| {
            desk.paused = paused && !self.engine.floor.door.is_closed();
        });
        if paused {
            // No worker will: whoever waits for calm may have nothing else to wait for.
            self.engine.clear_last_shells();
        }
    }

    /// Something that can be waited for or awaited: that no task waits and none runs.
    ///
    /// A paused pool is idle, too, once all that waited was cancelled, has expired or was run from
    /// elsewhere; unless it was built for more than 65,536 that wait, as no worker takes what is
    /// left of them out of the line before [`resume`](Self::resume).
    pub fn idle(&self) -> Idle<K> {
        Idle::new(&self.engine)
    }

    /// Waits until no task waits and none runs, without closing the pool. To be called from outside
    /// of the pool: one of its own workers would wait for itself.
    pub fn await_idle(&self) {
        self.idle().wait();
    }

    /// Takes no more tasks. Those that wait still run.
    pub fn close(&self) {
        self.engine.close();
    }

    /// Closes the pool, lets it run what waits until `timeout` is over, and hands back what has not
    /// begun by then.
    ///
    /// With a timeout of zero the line is emptied at once; what a worker or a submitter is just
    /// handing over may still run. To be called from outside of the pool: one of its own workers
    /// would wait for itself.
    pub fn drain(&self, timeout: Duration) -> Drained<K> {
        let deadline = self.engine.now() + timeout;
        if timeout.is_zero() {
            self.engine.floor.door.close();
            return self.hand_back();
        }
        self.engine.close();
        self.idle().wait_until(deadline);
        self.hand_back()
    }

    /// Like [`drain`](Self::drain), for tasks, which must not block their thread.
    pub async fn drain_async(&self, timeout: Duration) -> Drained<K> {
        if timeout.is_zero() {
            return self.drain(timeout);
        }
        let deadline = self.engine.now() + timeout;
        self.engine.close();
        self.idle().or_deadline(deadline).await;
        self.hand_back()
    }

    fn hand_back(&self) -> Drained<K> {
        let left = self.engine.clear();
        self.engine.close();
        let counter = self.engine.counter(0);
        let unrun: Vec<_> = left
            .into_iter()
            .filter_map(|mut work| {
                let lives = K::hand_back(&mut work);
                if !lives {
                    K::take_shell(&work);
                }
                lives.then_some(work)
            })
            .inspect(|_| counter.ended(Fate::Returned))
            .map(Unrun::new)
            .collect();
        let counts = self.counts();
        let beside = self.engine.floor.running_beside();
        Drained { unrun, still_running: counts.busy + counts.written_off + beside }
    }
}

impl<K: Kind> Resizable for PoolHandle<K> {
    fn snapshot(&self) -> PoolSnapshot {
        PoolHandle::snapshot(self)
    }

    fn resize(&self, staffing: Staffing) {
        drop(PoolHandle::resize(self, staffing));
    }

    fn set_wait_budget(&self, wait_budget: Duration) {
        PoolHandle::set_wait_budget(self, wait_budget);
    }

    fn set_newest_first_after(&self, after: Option<Duration>) {
        PoolHandle::set_newest_first_after(self, after);
    }

    fn set_idle_time(&self, idle_time: Duration) {
        PoolHandle::set_idle_time(self, idle_time);
    }

    fn poke_when_full(&self, poke: Poke) {
        self.engine.visit(0, |desk, _, _| desk.poke_when_full(poke));
    }
}

impl<K: Kind> Clone for PoolHandle<K> {
    fn clone(&self) -> Self {
        Self { engine: Arc::clone(&self.engine), overflow: self.overflow }
    }
}

impl<K: Kind> fmt::Debug for PoolHandle<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self.counts();
        let mut handle = f.debug_struct("PoolHandle");
        handle.field("name", &self.name()).field("live", &counts.live);
        handle.field("busy", &counts.busy).finish_non_exhaustive()
    }
}
