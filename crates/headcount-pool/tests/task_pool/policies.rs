//! What policies hear of futures.

use std::any::Any;
use std::future::pending;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use headcount_pool::policy::{Baggage, Ending, Outcome, PoolPolicy, TaskView, Verdict};
use headcount_pool::{Refusal, TaskError, report_failure};
use tokio::task::yield_now;

use crate::stage::{Gate, classed, on_both, pool_of};

/// Writes down what it is told, and takes only tasks with a class.
#[derive(Default)]
struct Witness {
    told: Mutex<Vec<String>>,
    around: AtomicU32,
    inside: AtomicBool,
}

impl Witness {
    fn note(&self, said: String) {
        self.told.lock().expect("no panic").push(said);
    }

    fn told(&self) -> String {
        std::mem::take(&mut *self.told.lock().expect("no panic")).join(", ")
    }
}

impl PoolPolicy for Witness {
    fn name(&self) -> &'static str {
        "witness"
    }

    fn on_enqueue(&self, task: &TaskView<'_>) -> Verdict {
        match task.class {
            Some(_) => Verdict::accept(),
            None => Verdict::reject("no class"),
        }
    }

    fn on_start(&self, task: &TaskView<'_>, _: Option<&mut (dyn Any + Send)>) {
        self.note(format!("{} starts", task.class.unwrap_or("?")));
    }

    fn around(&self, _: Option<&mut (dyn Any + Send)>, inside: &mut dyn FnMut()) {
        self.around.fetch_add(1, Ordering::Relaxed);
        self.inside.store(true, Ordering::Relaxed);
        inside();
        self.inside.store(false, Ordering::Relaxed);
    }

    fn on_complete(&self, task: &TaskView<'_>, ending: Ending, _: Option<Baggage>) {
        let outcome: Outcome = ending.outcome;
        self.note(format!("{} {}", task.class.unwrap_or("?"), outcome.as_str()));
    }
}

#[test]
fn policies_are_around_every_poll_and_hear_of_the_end() {
    on_both(|| async {
        let pool = pool_of(1);
        let witness = Arc::new(Witness::default());
        pool.policies().add(Arc::clone(&witness) as _).expect("the only one");
        let (gate, seen) = (Gate::new(), Arc::clone(&witness));
        let good = pool.submit_with(classed("good"), async move {
            yield_now().await;
            seen.inside.load(Ordering::Relaxed)
        });
        assert_eq!(good.expect("taken").await, Ok(true));
        assert_eq!(witness.around.load(Ordering::Relaxed), 2, "once for each poll");
        assert_eq!(witness.told(), "good starts, good succeeded");

        let bad = pool.submit_with(classed("bad"), async { report_failure() });
        assert_eq!(bad.expect("taken").await, Ok(()));
        let worse = pool.submit_with(classed("worse"), async { panic!("oh") });
        assert!(matches!(worse.expect("taken").await, Err::<(), _>(TaskError::Panicked(_))));
        assert_eq!(witness.told(), "bad starts, bad failed, worse starts, worse panicked");

        let cancelled = pool.submit_with(classed("held"), gate.pass()).expect("taken");
        gate.until_began(1).await;
        cancelled.cancel();
        assert_eq!(cancelled.await, Err(TaskError::Cancelled));
        assert_eq!(witness.told(), "held starts, held cancelled");
    });
}

#[test]
fn policies_hear_that_a_task_took_too_long() {
    on_both(|| async {
        let pool = pool_of(1);
        let witness = Arc::new(Witness::default());
        pool.policies().add(Arc::clone(&witness) as _).expect("the only one");
        let told = loop {
            let slow = classed("slow").run_max(Duration::from_millis(1));
            let slow = pool.submit_with(slow, pending::<()>()).expect("taken");
            assert_eq!(slow.await, Err(TaskError::TimedOut));
            pool.idle().await;
            // Where the machine is slower than that, the task is stopped before its first poll.
            let told = witness.told();
            if !told.is_empty() {
                break told;
            }
        };
        assert_eq!(told, "slow starts, slow timed_out");
    });
}

#[test]
fn a_task_that_a_policy_rejects_does_not_run() {
    on_both(|| async {
        let pool = pool_of(1);
        let witness = Arc::new(Witness::default());
        pool.policies().add(Arc::clone(&witness) as _).expect("the only one");
        let refused = pool.submit(async { "handed back" }).expect_err("it has no class");
        assert!(matches!(refused.reason, Refusal::Rejected(_)));
        assert_eq!(refused.task.await, "handed back");
        assert!(pool.spawn(async {}).is_err());
        assert!(pool.spawn_async(async {}).await.is_err());
        pool.pause();
        let unrun = pool.submit_with(classed("unrun"), async {}).expect("taken");
        unrun.cancel();
        assert_eq!((witness.told(), pool.snapshot().counters.rejected), (String::new(), 3));
        pool.resume();
    });
}
