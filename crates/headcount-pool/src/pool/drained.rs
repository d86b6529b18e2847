//! What a drained pool hands back.

use std::fmt;

use headcount_core::Name;

use crate::engine::{Fate, Kind};
use crate::unhurt::drop_quietly;

/// What was left when a pool was drained.
///
/// ```
/// use headcount_pool::ThreadPool;
/// use std::time::Duration;
///
/// let pool = ThreadPool::builder().workers(1).build()?;
/// pool.pause();
/// let task = pool.submit(|| "done after all")?;
/// let drained = pool.drain(Duration::ZERO);
/// assert_eq!((drained.unrun.len(), drained.still_running), (1, 0));
/// for unrun in drained.unrun {
///     unrun.run();
/// }
/// assert_eq!(task.join()?, "done after all");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "these tasks were taken in and have not run"]
pub struct Drained<K: Kind> {
    /// The tasks that have not begun, oldest first.
    pub unrun: Vec<Unrun<K>>,
    /// How many tasks still run.
    pub still_running: u32,
}

/// A task that a drained pool has not begun. Dropped, it tells its handle that it did not run.
///
/// ```
/// use headcount_pool::{TaskError, ThreadPool};
/// use std::time::Duration;
///
/// let pool = ThreadPool::builder().workers(1).build()?;
/// pool.pause();
/// let task = pool.submit(|| ())?;
/// drop(pool.drain(Duration::ZERO).unrun);
/// assert_eq!(task.join(), Err(TaskError::Returned));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Unrun<K: Kind> {
    work: Option<K::Work>,
}

impl<K: Kind> Unrun<K> {
    pub(crate) fn new(work: K::Work) -> Self {
        Self { work: Some(work) }
    }

    /// The class that its submitter gave it.
    #[must_use]
    pub fn class(&self) -> Option<Name> {
        self.work.as_ref().and_then(K::class)
    }

    pub(crate) fn take(mut self) -> Option<K::Work> {
        self.work.take()
    }
}

impl<K: Kind> Drop for Unrun<K> {
    fn drop(&mut self) {
        if let Some(mut work) = self.work.take() {
            // Counted when it was handed back.
            K::give_up(&mut work, Fate::Returned);
            drop_quietly(work);
        }
    }
}

impl<K: Kind> fmt::Debug for Unrun<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unrun").field("class", &self.class()).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{CancelToken, TaskHandle, TaskOptions, ThreadPool, Threads};

    const ALL: [Fate; 8] = [
        Fate::Ran,
        Fate::Failed,
        Fate::Panicked,
        Fate::Stopped,
        Fate::Cancelled,
        Fate::Expired,
        Fate::Dropped,
        Fate::Returned,
    ];

    /// A task is handed back, and then this happens to it: it is counted once all the same.
    fn check(then: impl FnOnce(TaskHandle<()>, Unrun<Threads>, CancelToken)) {
        let pool = ThreadPool::builder().workers(1).build().expect("no fault");
        let token = CancelToken::new();
        pool.pause();
        let options = TaskOptions::new().token(token.clone());
        let task = pool.submit_with(options, || ()).expect("open");
        let unrun = pool.drain(Duration::ZERO).unrun.pop().expect("it is paused");
        then(task, unrun, token);
        let totals = pool.engine().tally.totals();
        let counted: Vec<_> = ALL.into_iter().filter(|fate| 0 < totals.of(*fate)).collect();
        assert_eq!(counted, [Fate::Returned]);
        assert_eq!(totals.of(Fate::Returned), 1);
    }

    #[test]
    fn a_task_that_was_handed_back_is_counted_once_whatever_becomes_of_it() {
        check(|_, unrun, _| unrun.run());
        check(|_, unrun, _| drop(unrun));
        check(|task, unrun, _| {
            task.cancel();
            unrun.run();
        });
        check(|_, unrun, token| {
            token.cancel();
            drop(unrun);
        });
    }
}
