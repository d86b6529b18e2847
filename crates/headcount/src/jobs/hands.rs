//! The two kinds of pools that can do jobs.

use std::any::Any;

use headcount_core::Resizable;
use headcount_pool::{PoolHandle, Tasks, Threads, report_failure};
use headcount_queue::{Ended, Work};

use super::crew::Slot;

/// A pool that does jobs.
pub(super) trait Hands: Resizable + std::fmt::Debug {
    /// Has all of them done. What it does not take is dropped, and so given back to the store.
    fn take(&self, works: Vec<(Work, Slot)>);

    /// Takes nothing more.
    fn close(&self);
}

impl Hands for PoolHandle<Tasks> {
    fn take(&self, works: Vec<(Work, Slot)>) {
        let task = |(work, slot): (Work, Slot)| async move { report(work.run_in(slot).await) };
        // Refused when the pool is closed: to drop the tasks is to give them back.
        drop(self.spawn_all(works.into_iter().map(task)));
    }

    fn close(&self) {
        Self::close(self);
    }
}

impl Hands for PoolHandle<Threads> {
    fn take(&self, works: Vec<(Work, Slot)>) {
        let task = |(work, slot): (Work, Slot)| move || report(work.run_blocking_in(slot));
        drop(self.spawn_all(works.into_iter().map(task)));
    }

    fn close(&self) {
        Self::close(self);
    }
}

/// The pool counts what failed, for policies that look at it.
fn report(ended: Option<Ended>) {
    if matches!(ended, Some(Ended::Failed | Ended::Dead)) {
        report_failure();
    }
}

/// The owner of a pool that does jobs, of whichever kind.
pub(super) type Owner = Box<dyn Any + Send>;

/// Ends the pool without waiting for a handler that may never end.
pub(super) fn bury(owner: Owner) {
    let name = "bury jobs".to_owned();
    // Without a thread to be had it is waited for here.
    drop(std::thread::Builder::new().name(name).spawn(move || drop(owner)));
}
