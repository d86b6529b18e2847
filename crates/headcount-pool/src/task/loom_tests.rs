//! Models of a promise: whoever starts it, cancels it, and waits for it, in every order.

use std::sync::{Arc, Weak};
use std::task::{Poll, Waker};

use headcount_core::{Name, Timestamp};
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::thread;

use super::promise::{Pledge, Promise, Runner};
use super::terms::{Home, Terms};
use super::{CancelToken, TaskError};
use crate::engine::{Deadline, Fate};
use crate::park::Parker;

/// Counts tasks that ended without a worker.
struct Books {
    cancelled: AtomicU32,
    /// Those that ended in the line, as far as nobody has taken them out.
    shells: AtomicU32,
}

impl Home for Books {
    fn pool(&self) -> usize {
        0
    }

    fn now(&self) -> Timestamp {
        Timestamp::ORIGIN
    }

    fn ended(&self, fate: Fate) {
        assert_eq!(fate, Fate::Cancelled);
        self.cancelled.fetch_add(1, Ordering::AcqRel);
    }

    fn shell_left(&self) {
        self.shells.fetch_add(1, Ordering::AcqRel);
    }

    fn shell_taken(&self) {
        assert_ne!(self.shells.fetch_sub(1, Ordering::AcqRel), 0, "it was not counted");
    }

    fn shell_was_left(self: Arc<Self>) {}

    #[cfg(feature = "tokio")]
    fn beside(self: Arc<Self>) -> Box<dyn Send + Sync> {
        Box::new(())
    }

    fn expired(&self, _class: Option<Name>) {}

    fn panicked(&self, _class: Option<Name>, _message: &str) {}

    fn remind(&self, _at: Timestamp, _deadline: Weak<dyn Deadline>) {}
}

fn join<T>(pledge: &dyn Pledge<T>) -> Result<T, TaskError> {
    let parker = Arc::new(Parker::default());
    let waker = Waker::from(Arc::clone(&parker));
    loop {
        match pledge.poll_outcome(&waker) {
            Poll::Ready(outcome) => return outcome,
            Poll::Pending => parker.park(),
        }
    }
}

/// A worker runs the task while another cancels it and a third waits: it is counted once, who waits
/// hears what happened, and the worker has taken out what is left.
fn check(cancel: impl Fn(&CancelToken, &dyn Pledge<u32>) + Copy + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(3));
    builder.check(move || {
        let books = Arc::new(Books { cancelled: AtomicU32::new(0), shells: AtomicU32::new(0) });
        let token = CancelToken::new();
        let terms = Terms::new(None, None, None, Some(token.clone()));
        let home: Arc<dyn Home> = Arc::clone(&books) as _;
        let promise = Arc::new(Promise::of_closure(home, Some(Box::new(terms)), None, || 7));
        let worker = thread::spawn({
            let promise = Arc::clone(&promise);
            move || promise.run_now(Timestamp::ORIGIN, Runner::TookIt)
        });
        let canceller = thread::spawn({
            let promise = Arc::clone(&promise);
            move || {
                Pledge::arm(Arc::clone(&promise));
                cancel(&token, &*promise);
            }
        });
        let outcome = join(&*promise);
        let ran = worker.join().expect("no panic");
        canceller.join().expect("no panic");
        let cancelled = books.cancelled.load(Ordering::Acquire);
        assert_eq!(books.shells.load(Ordering::Acquire), 0, "a shell is left");
        match ran {
            // Before it was told: the worker counts it.
            Some(Fate::Cancelled) => {
                assert_eq!((outcome, cancelled), (Err(TaskError::Cancelled), 0));
            }
            Some(fate) => assert_eq!((fate, outcome, cancelled), (Fate::Ran, Ok(7), 0)),
            None => assert_eq!((outcome, cancelled), (Err(TaskError::Cancelled), 1)),
        }
    });
}

#[test]
fn a_task_runs_or_is_cancelled_and_never_both() {
    check(|_, promise| promise.cancel());
}

#[test]
fn a_token_that_is_cancelled_as_the_task_starts_is_heard_once() {
    check(|token, _| token.cancel());
}
