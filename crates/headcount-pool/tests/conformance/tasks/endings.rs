//! How async workers end when their runtime does.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use headcount_pool::{Event, Refusal, TaskError, blocking, is_cancelled};

use super::{Handle, RUNTIMES, at, builder, does, run, script};
use crate::support::{Gate, LIMIT, counter, eventually, read, within};

/// Shuts the runtime of the pool called so down.
fn end_runtime(pool: &str) {
    let runtime = RUNTIMES.with_borrow_mut(|runtimes| runtimes.remove(pool));
    let runtime = runtime.expect("it has one");
    within("the end of the runtime", move || drop(runtime));
}

/// Uses the pool from where what a future holds is dropped.
struct LastWords(Handle, Arc<AtomicUsize>);

impl Drop for LastWords {
    fn drop(&mut self) {
        drop(self.0.spawn(does(|| ())));
        let live = self.0.counts().live;
        let spoke = blocking(|| !is_cancelled());
        self.1.fetch_add(usize::from(spoke && live < 10), Ordering::SeqCst);
    }
}

/// `thread_system`: values of a thread were used after they had been destroyed.
#[test]
fn a_future_that_its_runtime_drops_may_still_use_the_pool() {
    let pool = builder("words").workers(3).build().expect("no fault");
    let (gate, spoken) = (Gate::new(), counter());
    for _ in 0..3 {
        let words = LastWords(pool.handle(), Arc::clone(&spoken));
        pool.spawn(script(|| (), &gate, move || drop(words))).expect("open");
    }
    gate.wait_for(3);
    end_runtime("words");
    eventually("all have spoken", || read(&spoken) == 3);
    within("the drop", move || drop(pool));
}

/// What a thread that cannot be started is to the other kind: the task comes back, and an event
/// says why.
#[test]
fn where_no_worker_can_be_started_every_task_comes_back() {
    let pool = builder("none").workers(1).build().expect("no fault");
    let gate = Gate::new();
    let runs = pool.submit(at(&gate)).expect("open");
    gate.wait_for(1);
    let waits = pool.submit(does(|| ())).expect("open");
    end_runtime("none");
    assert_eq!(runs.join_timeout(LIMIT).expect("it was dropped"), Err(TaskError::Cancelled));
    assert_eq!(waits.join_timeout(LIMIT).expect("nobody comes"), Err(TaskError::Returned));
    let refused = pool.submit(does(|| 7)).expect_err("nobody can run it");
    assert_eq!(refused.reason, Refusal::RuntimeGone);
    assert_eq!(run(refused.task), 7);
    let failed = |event: &Event| matches!(event, Event::HireFailed { stranded: true, .. });
    eventually("it is told", || pool.events().iter().any(|(_, event)| failed(event)));
    let counters = pool.snapshot().counters;
    assert_eq!((counters.submitted, counters.completed, counters.rejected), (3, 1, 1));
    within("the drop", move || drop(pool));
}
