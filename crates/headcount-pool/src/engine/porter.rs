//! The porter: does for the keeper what is the user's and may take its time.
//!
//! What a task held that waited for too long is dropped, a listener hears of an event, a thread
//! that ends destroys its own values: all that is code of the user, and may block. The keeper hands
//! it over and goes on, so that others are hired and other deadlines kept meanwhile. The porter is
//! a thread that is started when it is needed and ends when it was not for a while, and with its
//! keeper at the latest; a pool in which nothing expires, nobody leaves and nothing happens has
//! none.
//!
//! Its *stand-in* is another of the kind. It runs tasks where no worker can be started, and apart
//! from the porter, as a task may take for ever and workers are to be buried meanwhile.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, PoisonError};
use std::thread::{self, JoinHandle, LocalKey};
use std::time::Duration;

use crate::sync::{Condvar, Mutex, lock};
use crate::unhurt::quietly;

/// So many things wait for the porter; beyond that the keeper does them by itself.
const WAITING_MAX: usize = 1024;

/// A porter that was not needed for so long goes home. To start another costs a fortieth of it.
const RESTS_FOR: Duration = Duration::from_millis(2);

type Load = Box<dyn FnOnce() + Send>;

thread_local! {
    /// Who carries for this thread, if it is a keeper.
    static PORTER: RefCell<Option<Arc<Porter>>> = const { RefCell::new(None) };
    /// Who runs tasks for it that no worker comes for.
    static STAND_IN: RefCell<Option<Arc<Porter>>> = const { RefCell::new(None) };
    /// The pool whose porter this thread is, told from others by a number. 0: none.
    static CARRIES_FOR: Cell<usize> = const { Cell::new(0) };
}

/// Does something of the user's: here, or where this thread is a keeper, by its porter.
pub(crate) fn carried(act: impl FnOnce() + Send + 'static) {
    by(&PORTER, act);
}

/// Runs a task that no worker comes for: here, or where this thread is a keeper, by its stand-in.
/// By the keeper all the same where no thread can be started at all, as there is nobody else then.
pub(crate) fn stood_in(act: impl FnOnce() + Send + 'static) {
    by(&STAND_IN, act);
}

fn by(whom: &'static LocalKey<RefCell<Option<Arc<Porter>>>>, act: impl FnOnce() + Send + 'static) {
    match whom.try_with(|cell| cell.borrow().clone()).ok().flatten() {
        Some(porter) => porter.carry(Box::new(act)),
        None => quietly(act),
    }
}

/// Whether this thread is the porter of that pool.
pub(crate) fn is_porter_of(pool: usize) -> bool {
    CARRIES_FOR.try_with(Cell::get).is_ok_and(|known| known == pool)
}

/// Has a porter and a stand-in for this thread, which is the keeper of that pool, until what this
/// returns goes.
pub(crate) fn with_porter(pool: usize, name: &str) -> Employment {
    let porter = Porter::new(pool, format!("{name}-porter"));
    let stand_in = Porter::new(pool, format!("{name}-stand-in"));
    PORTER.set(Some(Arc::clone(&porter)));
    STAND_IN.set(Some(Arc::clone(&stand_in)));
    Employment { porter, stand_in }
}

/// A keeper that has a porter and a stand-in.
#[derive(Debug)]
pub(crate) struct Employment {
    porter: Arc<Porter>,
    stand_in: Arc<Porter>,
}

impl Drop for Employment {
    fn drop(&mut self) {
        STAND_IN.set(None);
        PORTER.set(None);
        self.stand_in.dismiss();
        self.porter.dismiss();
    }
}

struct Porter {
    pool: usize,
    name: String,
    state: Mutex<State>,
    called: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Load>,
    thread: Option<JoinHandle<()>>,
    /// The thread has gone home, or is about to: it takes nothing any more.
    is_gone: bool,
    is_over: bool,
}

impl Porter {
    fn new(pool: usize, name: String) -> Arc<Self> {
        let state = Mutex::new(State::default());
        Arc::new(Self { pool, name, state, called: Condvar::new() })
    }

    /// Waits until it has done all it has, and is gone.
    fn dismiss(&self) {
        let thread = {
            let mut state = lock(&self.state);
            state.is_over = true;
            state.thread.take()
        };
        self.called.notify_all();
        if let Some(thread) = thread {
            // What it carried was caught.
            let _ = thread.join();
        }
    }

    fn carry(self: &Arc<Self>, load: Load) {
        let mut state = lock(&self.state);
        if state.waiting.len() < WAITING_MAX && self.is_there(&mut state) {
            state.waiting.push_back(load);
            drop(state);
            self.called.notify_all();
        } else {
            drop(state);
            quietly(load);
        }
    }

    /// Whether its thread is there, which is started if it was not.
    fn is_there(self: &Arc<Self>, state: &mut State) -> bool {
        if std::mem::take(&mut state.is_gone) {
            // It holds nothing any more and is at its end.
            state.thread.take().map(JoinHandle::join);
        }
        if state.thread.is_none() {
            let porter = Arc::clone(self);
            let builder = thread::Builder::new().name(self.name.clone());
            state.thread = builder.spawn(move || porter.work()).ok();
        }
        state.thread.is_some()
    }

    fn work(&self) {
        CARRIES_FOR.set(self.pool);
        while let Some(load) = self.next() {
            quietly(load);
        }
    }

    /// The next thing to do. `None`: there was none for a while, or there will be none.
    fn next(&self) -> Option<Load> {
        let mut state = lock(&self.state);
        let mut has_rested = false;
        loop {
            let next = state.waiting.pop_front();
            if next.is_some() {
                return next;
            }
            if state.is_over || has_rested {
                state.is_gone = true;
                return None;
            }
            let rest = self.called.wait_timeout(state, RESTS_FOR);
            let woken = rest.unwrap_or_else(PoisonError::into_inner);
            (state, has_rested) = (woken.0, woken.1.timed_out());
        }
    }
}

impl fmt::Debug for Porter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Porter").field("name", &self.name).finish_non_exhaustive()
    }
}
