//! Quick jobs are done on the thread that leased them.
//!
//! Where a job takes a microsecond, handing it to another thread costs many times that: the other
//! is woken, often on another processor, and wakes this one in turn. So where jobs have
//! [proved](super::quick) to end at once, and the [slots](super::Slots::own_thread) allow it, the
//! *taker*, which is the thread that leases, does them itself.
//!
//! Whatever runs a handler can be held up by it for as long as it likes, and nothing else of the
//! consumer may be. So this is how it goes:
//!
//! 1. All loops that take jobs, settle them and end those that go on for too long are tasks of one
//!    runtime, the taker's. The thread only drives it.
//! 2. The lease loop lays jobs out here and goes on to wait for their ends, as it does for those of
//!    any others. The taker *leaves its runtime*, does one after the other, and comes back. A job
//!    that does not end when it is first polled goes on in the runtime of the slots.
//! 3. The keeper looks every few milliseconds whether the taker is still away with the same jobs.
//!    If so, it gives those that have not begun to the slots, and starts a *stand-in*: a thread
//!    that drives the taker's runtime until the taker is back. Meanwhile nothing is laid out.
//!
//! A job that takes long after many that did not thus holds up those that were leased with it, and
//! the next lease, for some milliseconds, whatever it does. When the runtime of the slots shuts
//! down, what has not begun is given back, and nothing is laid out any more: a handler that needs
//! that runtime would only fail. Everything here happens under one lock, that is held for some
//! instructions; bells are rung after it.

use std::collections::VecDeque;
use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::select;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::quick::Quick;
use super::shared::{Phase, Shared};
use super::slots::{OwnThread, Slot};
use super::work::Work;
use crate::sync::lock;

/// How often the keeper looks after the taker, while there is something to look after.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// After how many looks in a row that saw no new jobs it stops looking.
const IDLE_LOOKS_MAX: u32 = 20;

/// What is to be done on the taker's thread.
#[derive(Debug, Default)]
pub(super) struct Here {
    table: Mutex<Table>,
    /// Rung when something is laid out.
    laid_out: Notify,
    /// Rung for the keeper, when it does not look.
    watch: Notify,
    /// Rung for a stand-in.
    back: Notify,
}

#[derive(Debug, Default)]
struct Table {
    quick: Quick,
    works: VecDeque<Work>,
    taker: Taker,
    /// Where jobs are counted that are laid out or have begun here, wherever they go on. `None`:
    /// nothing may be laid out.
    busy: Option<Arc<AtomicUsize>>,
    /// How often something was laid out.
    nth: u64,
    /// Whether the keeper looks.
    is_watched: bool,
}

/// Where the thread is that does what is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Taker {
    /// There is none.
    #[default]
    Nowhere,
    /// It drives its runtime.
    AtHome,
    /// Something is laid out, and it is not back.
    Away,
    /// The same, and another thread drives its runtime.
    Relieved,
}

/// Part of a task that is dropped when the runtime of the slots shuts down.
struct Home(Weak<Shared>);

impl Drop for Home {
    fn drop(&mut self) {
        if let Some(shared) = self.0.upgrade() {
            shared.here.close();
        }
    }
}

impl Here {
    /// A job has ended, so long after its handler began.
    pub(super) fn ended(&self, took: Duration) {
        let mut table = lock(&self.table);
        if table.taker != Taker::Nowhere {
            table.quick.ended(took);
        }
    }

    /// Lays jobs out to be done here, or gives them back where others had better do them.
    pub(super) fn lay_out(&self, works: Vec<Work>) -> Result<(), Vec<Work>> {
        let mut table = lock(&self.table);
        let may_begin = table.taker == Taker::AtHome && table.quick.trusts(works.len());
        let Some(busy) = table.busy.as_ref().filter(|_| may_begin) else { return Err(works) };
        if works.iter().any(Work::is_blocking) {
            return Err(works);
        }
        busy.fetch_add(works.len(), Ordering::AcqRel);
        table.works.extend(works);
        table.nth += 1;
        table.taker = Taker::Away;
        let was_watched = std::mem::replace(&mut table.is_watched, true);
        drop(table);
        self.laid_out.notify_one();
        if !was_watched {
            self.watch.notify_one();
        }
        Ok(())
    }

    fn next(&self) -> Option<Work> {
        lock(&self.table).works.pop_front()
    }

    /// Nothing is done here any more. What has not begun is given back.
    fn close(&self) {
        let mut table = lock(&self.table);
        let works = std::mem::take(&mut table.works);
        if let Some(busy) = table.busy.take() {
            busy.fetch_sub(works.len(), Ordering::AcqRel);
        }
        drop(table);
        drop(works);
    }

    /// The taker is back in its runtime.
    fn come_back(&self) {
        let mut table = lock(&self.table);
        let was = std::mem::replace(&mut table.taker, Taker::AtHome);
        drop(table);
        if was == Taker::Relieved {
            self.back.notify_one();
        }
    }

    /// Returns when the taker is back with what was laid out then.
    async fn until_back(&self, nth: u64) {
        let is_away = || {
            let table = lock(&self.table);
            table.taker == Taker::Relieved && table.nth == nth
        };
        while is_away() {
            self.back.notified().await;
        }
    }

    /// What the taker has not begun, if it is still away with this and nobody stands in for it, and
    /// where that is counted.
    fn relieve(&self, nth: u64) -> Option<(VecDeque<Work>, Option<Arc<AtomicUsize>>)> {
        let mut table = lock(&self.table);
        if table.taker != Taker::Away || table.nth != nth {
            return None;
        }
        table.taker = Taker::Relieved;
        table.quick.disappointed();
        Some((std::mem::take(&mut table.works), table.busy.clone()))
    }

    /// Nobody stands in for the taker after all.
    fn stand_alone(&self) {
        let mut table = lock(&self.table);
        if table.taker == Taker::Relieved {
            table.taker = Taker::Away;
        }
    }

    /// Whether the keeper may stop looking, which it then does.
    fn may_rest(&self, nth: u64) -> bool {
        let mut table = lock(&self.table);
        table.is_watched = table.taker == Taker::Away || table.nth != nth;
        !table.is_watched
    }
}

/// Drives the runtime and does what is laid out, until the loops have ended.
pub(super) fn take(runtime: &Runtime, shared: &Arc<Shared>, mut loops: JoinHandle<()>) {
    let here = &shared.here;
    let own = shared.slots.own_thread();
    let home = own.as_ref().map(|own| {
        let mut table = lock(&here.table);
        table.busy = Some(Arc::clone(&own.busy));
        table.taker = Taker::AtHome;
        drop(table);
        let home = Home(Arc::downgrade(shared));
        own.runtime.spawn(async move {
            let _home = home;
            pending::<()>().await;
        })
    });
    loop {
        let are_over = runtime.block_on(async {
            select! {
                biased;
                () = here.laid_out.notified() => false,
                _ = &mut loops => true,
            }
        });
        match &own {
            Some(own) if !are_over => work_off(here, own),
            _ => break,
        }
    }
    lock(&here.table).taker = Taker::Nowhere;
    here.close();
    if let Some(home) = home {
        home.abort();
    }
}

fn work_off(here: &Here, own: &OwnThread) {
    while let Some(work) = here.next() {
        let mut run = Box::pin(work.run_in(Slot(Arc::clone(&own.busy))));
        // What panics here is none of the handler's, whose panics are caught further in. A task
        // would catch it, too.
        let polled = catch_unwind(AssertUnwindSafe(|| poll_once(own, run.as_mut())));
        if polled.is_ok_and(|polled| polled.is_pending()) {
            lock(&here.table).quick.disappointed();
            own.runtime.spawn(run);
        }
    }
    here.come_back();
}

/// Polls it as a task is polled: a handler that could go on for ever has to let others run.
fn poll_once<F: Future>(own: &OwnThread, mut run: Pin<&mut F>) -> Poll<F::Output> {
    let mut nobody = Context::from_waker(Waker::noop());
    own.runtime.block_on(poll_fn(|_| Poll::Ready(run.as_mut().poll(&mut nobody))))
}

/// Sees to it that a job which holds up the taker holds up nothing else, until the consumer is
/// closed.
pub(super) async fn watch_loop(shared: &Arc<Shared>, runtime: Weak<Runtime>) {
    loop {
        select! {
            () = shared.here.watch.notified() => {}
            () = shared.until_closed() => return,
        }
        watch(shared, &runtime).await;
    }
}

/// Looks until nothing has been laid out for some time.
async fn watch(shared: &Arc<Shared>, runtime: &Weak<Runtime>) {
    let here = &shared.here;
    let mut seen = lock(&here.table).nth;
    let mut idle = 0;
    loop {
        sleep(LOOK_EVERY).await;
        let nth = lock(&here.table).nth;
        idle = if nth == seen { idle + 1 } else { 0 };
        if 0 < idle {
            relieve(shared, runtime, nth);
        }
        let is_over = *shared.phase.borrow() == Phase::Closed;
        if is_over || IDLE_LOOKS_MAX <= idle && here.may_rest(nth) {
            return;
        }
        seen = nth;
    }
}

/// Where the taker is still away with what it had at the last look, others go on for it.
fn relieve(shared: &Arc<Shared>, runtime: &Weak<Runtime>, nth: u64) {
    let here = &shared.here;
    let Some((works, busy)) = here.relieve(nth) else { return };
    let jobs = works.len();
    // They are counted twice for a moment, and not at all at none.
    shared.slots.run_all(works.into());
    if let Some(busy) = busy {
        busy.fetch_sub(jobs, Ordering::AcqRel);
    }
    shared.slot_freed();
    let name = format!("stand in {}", shared.name());
    let (runtime, for_whom) = (Weak::clone(runtime), Arc::clone(shared));
    let stand_in = move || {
        let Some(runtime) = runtime.upgrade() else { return };
        runtime.block_on(async {
            select! {
                () = for_whom.here.until_back(nth) => {}
                () = for_whom.until_closed() => {}
            }
        });
    };
    if thread::Builder::new().name(name).spawn(stand_in).is_err() {
        // There is no thread to be had just now; the next look tries again.
        here.stand_alone();
    }
}
