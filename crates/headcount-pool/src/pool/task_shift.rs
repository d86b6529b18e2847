//! One async worker from its first task to its last.
//!
//! The runtime may drop it at any point where it awaits, and does so when it shuts down. Whatever
//! the worker holds at such a point lies in its [`Presence`], which then sets the books right.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::{Context, Poll};

use headcount_core::roster::WorkerId;

use super::shift::{Found, Shift};
use super::tasks::Tasks;
use super::workplace::Place;
use crate::engine::{Badge, Engine, Entry, Fate, Standing};
use crate::task::{Lends, Run, TaskWork, Workplace, enter_workplace};

/// After so many tasks in a row a worker lets others of its runtime run.
const TASKS_IN_A_ROW_MAX: u32 = 64;

/// A worker that exists. Dropped before it has left, it tells the engine that it is lost.
pub(super) struct Presence {
    engine: Arc<Engine<Tasks>>,
    worker: WorkerId,
    badge: Arc<Badge<Tasks>>,
    /// The task that it is at.
    run: Option<Run>,
    stage: Stage,
}

#[derive(PartialEq, Eq)]
enum Stage {
    /// It has not begun to work.
    Hired,
    AtWork,
    /// It was told to leave, and has.
    Left,
}

impl Presence {
    pub(super) fn new(engine: Arc<Engine<Tasks>>, worker: WorkerId) -> Self {
        let badge = Arc::new(Badge::new());
        Self { engine, worker, badge, run: None, stage: Stage::Hired }
    }

    /// Works until it is told to leave.
    pub(super) async fn work(mut self) {
        self.stage = Stage::AtWork;
        let engine = Arc::clone(&self.engine);
        engine.hooks.started(&engine, self.worker.slot());
        self.shift(&engine).await;
        engine.hooks.stopped(&engine, self.worker.slot());
        self.stage = Stage::Left;
        engine.leave(self.worker);
    }

    async fn shift(&mut self, engine: &Arc<Engine<Tasks>>) {
        let place = Place::at(engine, self.worker, &self.badge);
        let books = Shift::new(engine, self.worker, &self.badge);
        let mut shift = TaskShift { books, place, run: &mut self.run, in_a_row: 0 };
        let mut standing = shift.books.started();
        loop {
            standing = match standing {
                Standing::Take => shift.work_off().await,
                Standing::Park => shift.sleep().await,
                Standing::Leave => return,
            };
        }
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        if self.stage == Stage::Left {
            return;
        }
        if let Some(run) = self.run.take() {
            run.discard();
            self.engine.counter(self.worker.slot()).ended(Fate::Stopped);
            self.badge.settle(1);
        }
        if self.stage == Stage::AtWork {
            self.engine.hooks.stopped(&self.engine, self.worker.slot());
        }
        // No worker can be started there any more, so no task is let in.
        self.engine.kind.shuts_down();
        self.engine.close();
        self.engine.lost(self.worker);
    }
}

/// A worker at work. Its books hold nothing while it awaits; what they say is written down before.
struct TaskShift<'a> {
    books: Shift<'a, Tasks>,
    place: Arc<dyn Workplace>,
    run: &'a mut Option<Run>,
    /// Tasks since it last let others run.
    in_a_row: u32,
}

impl TaskShift<'_> {
    async fn sleep(&mut self) -> Standing {
        let books = &mut self.books;
        poll_fn(|context| match books.receive() {
            Some(standing) => Poll::Ready(standing),
            None => {
                books.badge.bed().lie_down(context.waker());
                books.receive().map_or(Poll::Pending, Poll::Ready)
            }
        })
        .await
    }

    /// Runs tasks until there is none or it is asked to report.
    async fn work_off(&mut self) -> Standing {
        let mut lingered = false;
        loop {
            let mut hand = None;
            match (self.books.look(&mut hand), hand) {
                (_, Some(entry)) => {
                    self.serve(entry).await;
                    lingered = false;
                }
                // Whoever is about to submit another may wait for this very thread.
                (Found::Nothing, None) if !lingered => {
                    self.books.pause();
                    self.step_aside().await;
                    lingered = true;
                }
                (_, None) => break,
            }
        }
        self.books.rest();
        self.books.report()
    }

    async fn serve(&mut self, entry: Entry<TaskWork>) {
        let began = self.books.begin();
        match Run::begin(entry.work, began) {
            Ok(run) => {
                self.books.waited(entry.stamp, began);
                self.attend(run).await;
            }
            Err(ended) => self.books.ran_nothing(ended),
        }
        self.in_a_row += 1;
        if TASKS_IN_A_ROW_MAX <= self.in_a_row {
            self.books.measure();
            self.step_aside().await;
        }
    }

    /// Polls a task to its end.
    async fn attend(&mut self, run: Run) {
        let class = run.class();
        if class.is_some() {
            self.books.badge.set_class(class);
        }
        *self.run = Some(run);
        let mut waited = false;
        let ended = poll_fn(|context| {
            let polled = self.poll(context);
            if polled.is_pending() && !waited {
                waited = true;
                self.books.awaits();
            }
            polled
        })
        .await;
        let mut lends = Lends::default();
        if let Some(mut run) = self.run.take() {
            lends = run.close();
            run.discard();
        }
        let fate = ended.unwrap_or_else(|message| {
            self.books.engine.panicked(class, message);
            Fate::Panicked
        });
        self.books.ended(fate);
        self.books.served();
        if waited {
            // By itself, whatever is measured in groups: it took as long as it took.
            self.books.measure();
            self.in_a_row = 0;
        }
        if class.is_some() {
            self.books.badge.set_class(None);
        }
        self.regain(lends).await;
    }

    /// Waits until nobody has the place any more that its last task has lent. Until then it has no
    /// place to run another in.
    async fn regain(&mut self, lends: Lends) {
        let mut waited = false;
        poll_fn(|context| {
            let back = lends.poll_back(context);
            if back.is_pending() && !waited {
                waited = true;
                self.books.awaits();
            }
            back
        })
        .await;
        if waited {
            // The next one did not begin when the last one ended.
            self.books.pause();
            self.in_a_row = 0;
        }
    }

    /// Polls the present task at its place of work.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<Fate, String>> {
        let run = self.run.as_mut().expect("a task is under way until its end was seen");
        let before = enter_workplace(Some(Arc::clone(&self.place)));
        let polled = run.poll(context);
        enter_workplace(before);
        polled
    }

    /// Lets others of the runtime run, once.
    fn step_aside(&mut self) -> impl Future<Output = ()> + use<> {
        self.in_a_row = 0;
        let mut yielded = false;
        poll_fn(move |context| match std::mem::replace(&mut yielded, true) {
            true => Poll::Ready(()),
            false => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
        })
    }
}
