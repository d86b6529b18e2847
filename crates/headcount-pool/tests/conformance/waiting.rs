//! What ends the waiting of a submitter that finds the line full: room, its token, its time.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

use headcount_pool::policy::{PoolPolicy, TaskView, Verdict};
use headcount_pool::{CancelToken, Overflow, Refusal, SubmitError, TaskError, TaskOptions};

use super::{Pool, at, builder, does, run};
use crate::support::{Calls, Gate, LIMIT, eventually, within};

/// As long as somebody waits here who comes back without having been let in.
const MOMENT: Duration = Duration::from_millis(20);

/// A pool of one worker that is at the gate, with one task in a line for one.
fn full(name: &str) -> (Pool, Gate) {
    let pool = builder(name).workers(1).queue_len_max(1).build().expect("no fault");
    let gate = Gate::new();
    pool.spawn(at(&gate)).expect("open");
    gate.wait_for(1);
    pool.spawn(does(|| ())).expect("there is room for one");
    (pool, gate)
}

/// Tells of each task that the pool is asked to take in, just before that waits for room.
struct Tells(Sender<()>);

impl PoolPolicy for Tells {
    fn name(&self) -> &'static str {
        "tells"
    }

    fn on_enqueue(&self, _task: &TaskView<'_>) -> Verdict {
        let _ = self.0.send(());
        Verdict::Accept(None)
    }
}

#[test]
fn a_submitter_that_waits_for_room_hears_its_token() {
    let (pool, gate) = full("token");
    let (asked, is_asked) = channel();
    pool.policies().add(Arc::new(Tells(asked))).unwrap_or_else(|_| panic!("the only one"));
    for _ in 0..50 {
        let (handle, token) = (pool.handle(), CancelToken::new());
        let options = TaskOptions::new().token(token.clone());
        let waits = thread::spawn(move || match handle.submit_with(options, does(|| 5)) {
            Ok(_) => panic!("there is no room"),
            Err(SubmitError { reason, task }) => (reason, run(task)),
        });
        is_asked.recv_timeout(LIMIT).expect("it asks before it waits");
        token.cancel();
        let came_back = within("it hears of it", move || waits.join()).expect("no panic");
        assert_eq!(came_back, (Refusal::Cancelled, 5));
    }
    gate.open();
    assert!(pool.idle().wait_timeout(LIMIT));
    let counters = pool.snapshot().counters;
    assert_eq!((counters.submitted, counters.rejected, counters.completed), (52, 50, 2));
}

#[test]
fn a_submitter_waits_for_room_no_longer_than_its_task_may_wait() {
    let (pool, _gate) = full("patience");
    let began = Instant::now();
    let options = TaskOptions::new().wait_max(MOMENT);
    let handle = pool.handle();
    let came_back = within("it comes back", move || {
        let refused = handle.submit_with(options, does(|| 5)).expect_err("there is no room");
        (refused.reason, run(refused.task))
    });
    assert_eq!(came_back, (Refusal::TimedOut, 5));
    assert!(MOMENT <= began.elapsed());
    let counters = pool.snapshot().counters;
    assert_eq!((counters.rejected, counters.expired), (1, 0), "it was handed back");
}

/// The shorter of two times is the one that counts.
#[test]
fn a_task_that_may_wait_for_less_than_its_submitter_comes_back_earlier() {
    let (pool, _gate) = full("shorter");
    for (overflow, wait_max) in [(3 * LIMIT, MOMENT), (MOMENT, 3 * LIMIT)] {
        let options = TaskOptions::new().overflow(Overflow::WaitFor(overflow)).wait_max(wait_max);
        let handle = pool.handle();
        let reason = within("it comes back", move || {
            handle.submit_with(options, does(|| ())).expect_err("there is no room").reason
        });
        assert_eq!(reason, Refusal::TimedOut);
    }
}

/// Polls once, under the eyes of `calls`.
fn poll<F: Future>(future: &mut Pin<&mut F>, calls: &Arc<Calls>) -> Poll<F::Output> {
    future.as_mut().poll(&mut Context::from_waker(&calls.waker()))
}

/// Submits and awaits, until something ends its waiting.
#[track_caller]
fn check_awaits(pool: &Pool, options: TaskOptions, end: impl FnOnce(), expected: &Refusal) {
    let calls = Arc::new(Calls::default());
    let mut waiting = pin!(pool.submit_async(options, does(|| 5)));
    assert!(poll(&mut waiting, &calls).is_pending(), "there is no room");
    end();
    eventually("it is called", || 0 < calls.count());
    let Poll::Ready(Err(refused)) = poll(&mut waiting, &calls) else { panic!("it waits on") };
    assert_eq!((&refused.reason, run(refused.task)), (expected, 5));
}

#[test]
fn an_async_submitter_hears_its_token_and_keeps_to_its_time() {
    let (pool, gate) = full("await");
    let new = TaskOptions::new;
    let token = CancelToken::new();
    check_awaits(&pool, new().token(token.clone()), || token.cancel(), &Refusal::Cancelled);
    check_awaits(&pool, new().wait_max(MOMENT), || (), &Refusal::TimedOut);
    let a_while = new().overflow(Overflow::WaitFor(MOMENT));
    check_awaits(&pool, a_while, || (), &Refusal::TimedOut);
    check_awaits(&pool, new(), || pool.close(), &Refusal::Closed);
    gate.open();
    assert!(pool.idle().wait_timeout(LIMIT));
}

#[test]
fn an_async_submitter_does_at_a_full_line_what_its_options_say() {
    let (pool, gate) = full("rules");
    let calls = Arc::new(Calls::default());
    let submit = |overflow, n| {
        let mut submitted =
            pin!(pool.submit_async(TaskOptions::new().overflow(overflow), does(move || n)));
        match poll(&mut submitted, &calls) {
            Poll::Ready(answer) => answer.map_err(|refused| (refused.reason, run(refused.task))),
            Poll::Pending => panic!("{overflow:?} does not wait"),
        }
    };
    let reason = Refusal::Full { queue_len_max: 1 };
    assert_eq!(submit(Overflow::Reject, 1).expect_err("full"), (reason, 1));
    let dropped = submit(Overflow::DropNewest, 2).expect("taken in");
    assert_eq!(dropped.join(), Err(TaskError::Dropped));
    let ran_here = submit(Overflow::CallerRuns, 3).expect("taken in");
    assert!(ran_here.is_done(), "by whoever awaits");
    assert_eq!(ran_here.join(), Ok(3));
    let last = submit(Overflow::DropOldest, 4).expect("taken in");
    gate.open();
    assert_eq!(within("there is room", move || last.join()), Ok(4));
}
