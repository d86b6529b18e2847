//! A closure that waits in line, in one word-aligned piece.
//!
//! Small closures lie in the line itself; only larger ones are boxed. So a small task costs no
//! allocation.

use std::sync::Arc;

use headcount_core::{Name, Timestamp};
use smallbox::{SmallBox, smallbox};

use super::promise::{Promise, Runner};
use crate::engine::Fate;
use crate::unhurt::drop_quietly;

/// What a worker does with a task.
#[doc(hidden)]
pub trait Work: Send {
    /// Runs, if it still is to. Called at most once. `None`: there was nothing left to run, and
    /// somebody else has counted it.
    ///
    /// It may panic if it is of no interest to anybody what came of it.
    fn run(&mut self, now: Timestamp) -> Option<Fate>;

    /// It will not run; says so to whoever waits for it. `false`: somebody else has counted it.
    /// Does not panic, whatever the task held.
    fn abandon(&mut self, fate: Fate) -> bool;

    /// Takes it off the pool's books, if it is still to run: from here on nobody counts it. Says
    /// whether it was.
    fn hand_back(&mut self) -> bool;

    /// Whether it would run now, as far as can be seen.
    fn is_to_run(&self, now: Timestamp) -> bool;

    /// The class that its submitter gave it.
    fn class(&self) -> Option<Name>;

    /// Whether it has ended in the line, for whoever takes it out.
    fn take_shell(&self) -> bool {
        false
    }
}

/// So many words of a closure lie in the line.
type Room = [usize; 6];

/// A task in the line.
pub(crate) type SmallWork = SmallBox<dyn Work, Room>;

pub(crate) fn small(work: impl Work + 'static) -> SmallWork {
    smallbox!(work)
}

/// A task whose result nobody waits for.
#[derive(Debug)]
pub(crate) struct Once<F>(Option<F>);

impl<F> Once<F> {
    pub(crate) fn new(task: F) -> Self {
        Self(Some(task))
    }
}

impl<F: FnOnce() + Send> Work for Once<F> {
    fn run(&mut self, _now: Timestamp) -> Option<Fate> {
        let task = self.0.take()?;
        task();
        Some(Fate::Ran)
    }

    fn abandon(&mut self, _fate: Fate) -> bool {
        let Some(task) = self.0.take() else { return false };
        // What it held is another's, and may panic where whoever drops it has done nothing wrong.
        drop_quietly(task);
        true
    }

    fn hand_back(&mut self) -> bool {
        self.0.is_some()
    }

    fn is_to_run(&self, _now: Timestamp) -> bool {
        self.0.is_some()
    }

    fn class(&self) -> Option<Name> {
        None
    }
}

/// A promise in the line. `None`: it has been run.
pub(crate) struct Promised<F, T>(Option<Arc<Promise<F, T>>>);

impl<F, T> Promised<F, T> {
    pub(crate) fn new(promise: Arc<Promise<F, T>>) -> Self {
        Self(Some(promise))
    }
}

impl<F: FnOnce() -> T + Send + 'static, T: Send + 'static> Work for Promised<F, T> {
    fn run(&mut self, now: Timestamp) -> Option<Fate> {
        self.0.take()?.run_now(now, Runner::TookIt)
    }

    fn abandon(&mut self, fate: Fate) -> bool {
        self.0.as_ref().is_some_and(|promise| promise.give_up(fate))
    }

    fn hand_back(&mut self) -> bool {
        self.0.as_ref().is_some_and(|promise| promise.hand_back())
    }

    fn is_to_run(&self, now: Timestamp) -> bool {
        self.0.as_ref().is_some_and(|promise| promise.is_to_run(now))
    }

    fn class(&self) -> Option<Name> {
        self.0.as_ref()?.class()
    }

    fn take_shell(&self) -> bool {
        self.0.as_ref().is_some_and(|promise| promise.take_shell())
    }
}
