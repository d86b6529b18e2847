//! Models of the engine's handshakes: each tries every order in which its threads can meet.
//!
//! The line, the door, the notice, the badges, the desk and the keeper are the real ones; workers
//! are threads of the model, and the thread that runs it becomes the keeper in the end. A lost
//! wake-up shows as a deadlock, which loom reports; a lost task as one that has not run in the end.

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use headcount_core::roster::{RosterConfig, WorkerId};
use headcount_core::{Name, Staffing};
use loom::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use loom::thread;

use super::desk::Standing;
use super::machine::{Engine, Settings};
use super::notice::{LATE, REPORT};
use super::{Badge, Fate, Kind, Shut, Signal, Watch, WorkerHooks};
use crate::event::Events;
use crate::park::Parker;
use crate::pool::{Admission, Bid};
use crate::sync::{Condvar, Mutex, MutexGuard, lock};
use crate::{CancelToken, Overflow, Refusal};

/// How often a thread may be interrupted where it could have gone on, in one run of a model.
///
/// The handshakes are between two threads and need one or two. With three threads one is what can
/// be tried in a minute; `LOOM_MAX_PREEMPTIONS` in the environment overrules it.
const PREEMPTIONS_MAX: usize = 2;
const PREEMPTIONS_MAX_OF_THREE: usize = 1;

/// Workers are threads of the model, tasks are counted.
#[derive(Debug)]
struct Model {
    ran: Mutex<Ran>,
    changed: Condvar,
    /// Workers that exist.
    live: AtomicU32,
    /// Whether no worker can be started.
    powerless: bool,
}

/// What a task is, where it can end in the line.
#[derive(Debug)]
struct Ends {
    ended: AtomicBool,
}

impl Ends {
    /// It ends, and leaves its shell.
    fn end(&self, engine: &Arc<Engine<Model>>) {
        engine.floor.shell_left();
        self.ended.store(true, Ordering::Release);
        engine.shell_was_left();
    }

    fn take(&self) -> bool {
        self.ended.load(Ordering::Acquire) && self.ended.swap(false, Ordering::AcqRel)
    }
}

/// Tasks that ran.
#[derive(Debug, Default)]
struct Ran {
    count: u32,
    /// Whether whoever runs one stays at it.
    stay: bool,
}

impl Kind for Model {
    type Plan = ();
    type Work = Option<Arc<Ends>>;
    type Bed = Parker;
    type Hand = ();
    type Turn = ();

    const RUNS_AT_ONCE: bool = true;

    fn open((): &()) -> Result<Self, crate::BuildFault> {
        unreachable!("a model opens its pool by itself")
    }

    fn may_block(&self) -> bool {
        true
    }

    fn rouse(bed: &Parker) {
        bed.call();
    }

    fn start(engine: &Arc<Engine<Self>>, worker: WorkerId) -> io::Result<()> {
        if engine.kind.powerless {
            return Err(io::Error::from(io::ErrorKind::WouldBlock));
        }
        let engine = Arc::clone(engine);
        let ceiling = engine.workers_max;
        assert!(engine.kind.live.fetch_add(1, Ordering::AcqRel) < ceiling, "too many workers");
        thread::spawn(move || work(&engine, worker, &Arc::new(Badge::new())));
        Ok(())
    }

    fn bury((): ()) {}

    fn run_here(engine: &Arc<Engine<Self>>, _work: Self::Work) {
        engine.kind.count();
    }

    fn poll_turn((): &mut (), _context: &Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    async fn run_inside(engine: &Arc<Engine<Self>>, _work: Self::Work, (): ()) {
        engine.kind.count();
    }

    fn strand(engine: &Arc<Engine<Self>>, work: Self::Work) {
        Self::run_here(engine, work);
    }

    fn give_up(_work: &mut Self::Work, _fate: Fate) -> bool {
        true
    }

    fn hand_back(_work: &mut Self::Work) -> bool {
        true
    }

    fn class(_work: &Self::Work) -> Option<Name> {
        None
    }

    fn take_shell(work: &Self::Work) -> bool {
        work.as_ref().is_some_and(|ends| ends.take())
    }
}

impl Model {
    /// Runs a task: counts it, and stays at it if it is to.
    fn count(&self) {
        let mut ran = lock(&self.ran);
        ran.count += 1;
        self.changed.notify_all();
        while ran.stay {
            ran = self.wait(ran);
        }
    }

    /// Whether whoever runs a task stays at it, from here on.
    fn stay(&self, stay: bool) {
        lock(&self.ran).stay = stay;
        self.changed.notify_all();
    }

    /// Waits until so many have run, and does nothing meanwhile that could bring it about.
    fn await_ran(&self, count: u32) {
        let mut ran = lock(&self.ran);
        while ran.count < count {
            ran = self.wait(ran);
        }
    }

    fn wait<'a>(&self, ran: MutexGuard<'a, Ran>) -> MutexGuard<'a, Ran> {
        self.changed.wait(ran).unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// What a worker does, as the threads of a pool do it.
fn work(engine: &Arc<Engine<Model>>, worker: WorkerId, badge: &Arc<Badge<Model>>) {
    let mut standing = engine.started(worker, badge);
    loop {
        standing = match standing {
            Standing::Take => {
                engine.floor.en_route.fetch_sub(1, Ordering::Relaxed);
                work_off(engine, worker, badge)
            }
            Standing::Park => sleep(badge),
            Standing::Leave => break,
        };
    }
    engine.kind.live.fetch_sub(1, Ordering::AcqRel);
    engine.leave(worker);
}

fn work_off(engine: &Arc<Engine<Model>>, worker: WorkerId, badge: &Arc<Badge<Model>>) -> Standing {
    while engine.floor.notice.read() & REPORT == 0 && engine.take(badge, &mut None) {
        engine.kind.count();
    }
    engine.report(worker)
}

fn sleep(badge: &Arc<Badge<Model>>) -> Standing {
    loop {
        match badge.receive() {
            Some(Signal::Take) => return Standing::Take,
            Some(Signal::Leave) => return Standing::Leave,
            None => badge.bed().park(),
        }
    }
}

/// A pool of a model.
#[derive(Clone, Copy)]
struct Shape {
    staffing: Staffing,
    queue_len_max: u64,
    idle_time: Duration,
    preemptions_max: usize,
    powerless: bool,
}

const ONE: Shape = Shape {
    staffing: Staffing { floor: 1, ceiling: 1 },
    queue_len_max: 8,
    idle_time: Duration::MAX,
    preemptions_max: PREEMPTIONS_MAX,
    powerless: false,
};

/// Workers come when there is a task, and leave as soon as there is none.
const FLEETING: Shape =
    Shape { staffing: Staffing { floor: 0, ceiling: 1 }, idle_time: Duration::ZERO, ..ONE };

/// Runs a model in which no keeper is needed until all tasks have run. They must run by themselves:
/// that the pool is closed then, which looks after everything once more, is not what helps them.
fn check_unaided(shape: Shape, model: impl Fn(&Arc<Engine<Model>>) -> u32 + Send + Sync + 'static) {
    check(shape, move |engine| {
        let expected = model(engine);
        engine.kind.await_ran(expected);
        expected
    });
}

/// Runs a model on a pool; in the end it is closed, and all that was taken in must have run.
fn check(shape: Shape, model: impl Fn(&Arc<Engine<Model>>) -> u32 + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(shape.preemptions_max));
    // Steps of one run. The longest story takes just over the thousand that there are by default.
    builder.max_branches = 2_000;
    builder.check(move || {
        let engine = Arc::new(engine(shape));
        engine.visit(1, |_, _, _| ());
        let expected = model(&engine);
        engine.close();
        // From here on this thread is the keeper, which goes home last.
        super::keep(&engine);
        assert_eq!(lock(&engine.kind.ran).count, expected, "tasks that ran");
        assert_eq!(engine.floor.queued(), 0, "a task is left");
        assert_eq!(engine.kind.live.load(Ordering::Acquire), 0, "a worker is left");
    });
}

fn engine(shape: Shape) -> Engine<Model> {
    let kind = Model {
        ran: Mutex::new(Ran::default()),
        changed: Condvar::new(),
        live: AtomicU32::new(0),
        powerless: shape.powerless,
    };
    let roster = RosterConfig { idle_time: shape.idle_time, ..RosterConfig::new(shape.staffing) };
    let settings = Settings {
        name: String::new(),
        roster,
        workers_max: shape.staffing.ceiling.max(1),
        queue_len_max: shape.queue_len_max,
        keep_share: None,
        compensate_max: 0,
        replace_stuck_max: 0,
        stuck_after: None,
        hooks: WorkerHooks::default(),
        events: Events::default(),
        panic_policy: crate::PanicPolicy::default(),
    };
    Engine::new(kind, settings, super::Line::new(shape.queue_len_max, None))
}

fn submit(engine: &Arc<Engine<Model>>) -> bool {
    match engine.enter() {
        Ok(number) => {
            engine.put(number, None);
            true
        }
        Err(Shut::Closed) => false,
        Err(Shut::Full) => panic!("nothing else waits"),
    }
}

#[test]
fn a_task_finds_the_worker_that_just_parks() {
    check_unaided(ONE, |engine| {
        assert!(submit(engine));
        assert!(submit(engine));
        2
    });
}

#[test]
fn a_worker_parks_only_when_nobody_is_passed_over() {
    check_unaided(ONE, |engine| {
        engine.floor.notice.raise(LATE);
        assert!(submit(engine));
        assert!(submit(engine));
        2
    });
}

#[test]
fn two_submitters_and_a_worker_that_parks() {
    let shape = Shape { preemptions_max: PREEMPTIONS_MAX_OF_THREE, ..ONE };
    check_unaided(shape, |engine| {
        let other = thread::spawn({
            let engine = Arc::clone(engine);
            move || u32::from(submit(&engine))
        });
        let mine = u32::from(submit(engine));
        mine + other.join().expect("no panic")
    });
}

#[test]
fn a_task_that_comes_as_the_last_worker_leaves_is_run() {
    check(FLEETING, |engine| {
        assert!(submit(engine));
        assert!(submit(engine));
        2
    });
}

#[test]
fn a_task_is_taken_in_and_runs_or_is_refused_as_the_pool_closes() {
    check(ONE, |engine| {
        let other = thread::spawn({
            let engine = Arc::clone(engine);
            move || u32::from(submit(&engine))
        });
        engine.close();
        other.join().expect("no panic")
    });
}

#[test]
fn a_pool_that_shrinks_to_nobody_and_grows_again_runs_what_came_between() {
    check(ONE, |engine| {
        let other = thread::spawn({
            let engine = Arc::clone(engine);
            move || {
                engine.resize(Staffing::exactly(0));
                engine.resize(Staffing::exactly(1));
                // The keeper's part: a resize starts nobody by itself.
                engine.visit(1, |_, _, _| ());
            }
        });
        assert!(submit(engine));
        other.join().expect("no panic");
        1
    });
}

#[test]
fn a_task_that_comes_while_the_keeper_fills_the_floor_is_run() {
    let staffing = Staffing { floor: 0, ceiling: 1 };
    let shape = Shape { staffing, preemptions_max: PREEMPTIONS_MAX_OF_THREE, ..ONE };
    check_unaided(shape, |engine| {
        let other = thread::spawn({
            let engine = Arc::clone(engine);
            move || u32::from(submit(&engine))
        });
        engine.resize(Staffing::exactly(1));
        // What the keeper does when it looks.
        engine.visit(1, |_, _, errands| errands.are_keepers());
        other.join().expect("no panic")
    });
}

/// One that tries to start a worker and one that counts on it: the task is run by its submitter, or
/// by the keeper, who knows that it has to look.
fn check_powerless(first: impl Fn(&Arc<Engine<Model>>) + Send + Sync + Copy + 'static) {
    let staffing = Staffing { floor: 0, ceiling: 1 };
    check(Shape { staffing, powerless: true, ..ONE }, move |engine| {
        let other = thread::spawn({
            let engine = Arc::clone(engine);
            move || u32::from(submit(&engine))
        });
        first(engine);
        let submitted = other.join().expect("no panic");
        let ran = lock(&engine.kind.ran).count;
        if ran < submitted {
            assert!(engine.desk().keeper_looks_at() <= engine.now(), "the keeper is not told");
            assert!(super::keeper::look(engine).orphan, "the keeper sees to nothing");
            engine.run_orphan();
        }
        engine.kind.await_ran(submitted);
        submitted
    });
}

#[test]
fn a_task_is_run_where_the_keeper_cannot_start_a_worker() {
    check_powerless(|engine| engine.visit(1, |_, _, errands| errands.are_keepers()));
}

#[test]
fn a_task_is_run_where_a_pause_ends_and_no_worker_can_be_started() {
    check_powerless(|engine| {
        engine.visit(1, |desk, _, errands| {
            errands.are_keepers();
            desk.paused = true;
        });
        engine.visit(1, |desk, _, _| desk.paused = false);
    });
}

#[test]
fn a_pause_that_ends_lets_run_what_came_meanwhile() {
    check_unaided(ONE, |engine| {
        let other = thread::spawn({
            let engine = Arc::clone(engine);
            move || {
                engine.visit(0, |desk, _, _| desk.paused = true);
                engine.visit(0, |desk, _, _| desk.paused = false);
            }
        });
        assert!(submit(engine));
        other.join().expect("no panic");
        1
    });
}

/// Waits for room, and says under which number it was let in.
fn wait_for_room(engine: &Arc<Engine<Model>>) -> u64 {
    match engine.admit(Bid::new(Overflow::Wait)) {
        Ok(Admission::Enter(number)) => number,
        other => panic!("{other:?}"),
    }
}

#[test]
fn whoever_waits_for_room_gets_the_place_that_a_worker_makes() {
    check_unaided(Shape { queue_len_max: 1, ..ONE }, |engine| {
        for _ in 0..2 {
            engine.put(wait_for_room(engine), None);
        }
        2
    });
}

/// The worker does not report after it took the task: nobody else tells whoever waits.
#[test]
fn whoever_waits_for_room_gets_the_place_though_the_worker_stays_at_its_task() {
    check_unaided(Shape { queue_len_max: 1, ..ONE }, |engine| {
        engine.kind.stay(true);
        assert!(submit(engine));
        let number = wait_for_room(engine);
        engine.kind.stay(false);
        engine.put(number, None);
        2
    });
}

#[test]
fn whoever_waits_for_room_is_released_when_the_pool_closes() {
    check(Shape { queue_len_max: 1, ..ONE }, |engine| {
        engine.visit(0, |desk, _, _| desk.paused = true);
        assert!(submit(engine));
        let other = thread::spawn({
            let engine = Arc::clone(engine);
            move || match engine.admit(Bid::new(Overflow::Wait)) {
                Ok(Admission::Enter(number)) => {
                    engine.put(number, None);
                    1
                }
                _ => 0,
            }
        });
        engine.close();
        1 + other.join().expect("no panic")
    });
}

/// No worker comes, so only whoever ends the task can call it, or it sees the shell by itself.
#[test]
fn whoever_waits_for_room_gets_the_place_of_a_task_that_ends_in_the_line() {
    check(Shape { queue_len_max: 1, ..ONE }, |engine| {
        engine.visit(0, |desk, _, _| desk.paused = true);
        let task = Arc::new(Ends { ended: AtomicBool::new(false) });
        let number = engine.enter().expect("nothing waits");
        engine.put(number, Some(Arc::clone(&task)));
        let other = thread::spawn({
            let engine = Arc::clone(engine);
            move || task.end(&engine)
        });
        engine.put(wait_for_room(engine), None);
        other.join().expect("no panic");
        // Unless it was cleared out, a worker has taken it before it heard of the pause.
        2 - u32::try_from(engine.floor.taken_by_others()).expect("one at most")
    });
}

/// No worker comes, so only whoever ends the last task can call it, or it sees the shell by itself.
#[test]
fn whoever_waits_for_calm_in_a_paused_pool_hears_of_the_last_that_ends() {
    check(Shape { queue_len_max: 1, ..ONE }, |engine| {
        engine.visit(0, |desk, _, _| desk.paused = true);
        let task = Arc::new(Ends { ended: AtomicBool::new(false) });
        let number = engine.enter().expect("nothing waits");
        engine.put(number, Some(Arc::clone(&task)));
        let other = thread::spawn({
            let engine = Arc::clone(engine);
            move || task.end(&engine)
        });
        Watch::new(engine, |desk, engine| desk.is_idle(&engine.floor)).wait();
        other.join().expect("no panic");
        1 - u32::try_from(engine.floor.taken_by_others()).expect("one at most")
    });
}

/// Nobody makes room, so only its token can call it.
#[test]
fn whoever_waits_for_room_hears_its_token() {
    check(Shape { queue_len_max: 1, ..ONE }, |engine| {
        engine.visit(0, |desk, _, _| desk.paused = true);
        assert!(submit(engine));
        let token = CancelToken::new();
        let other = thread::spawn({
            let token = token.clone();
            move || token.cancel()
        });
        let refused = engine.admit(Bid { token: Some(&token), ..Bid::new(Overflow::Wait) });
        assert_eq!(refused.expect_err("there is no room"), Refusal::Cancelled);
        other.join().expect("no panic");
        1
    });
}
