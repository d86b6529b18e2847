//! What policies lend to tasks they get back, and what goes wrong in them is told.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use headcount_core::Name;
use headcount_pool::TaskOptions;
use headcount_pool::policy::{Baggage, Ending, PoolPolicy, Rate, RateLimit, TaskView, Verdict};

use super::{at, builder, does};
use crate::support::{Gate, LIMIT, eventually};

/// Rejects everything.
struct Never;

impl PoolPolicy for Never {
    fn name(&self) -> &'static str {
        "never"
    }

    fn on_enqueue(&self, _: &TaskView<'_>) -> Verdict {
        Verdict::reject("never")
    }
}

#[test]
fn a_rate_limit_gets_back_what_a_task_took_that_never_began() {
    let pool = builder("tokens").workers(1).queue_len_max(2).build().expect("no fault");
    let hourly = Rate { tokens: 10, per: Duration::from_secs(3600), burst: 10 };
    let limit = RateLimit::new(hourly).expect("no fault");
    pool.policies().add(Arc::new(limit.clone())).expect("the only one");
    let gate = Gate::new();
    pool.spawn(at(&gate)).expect("open");
    gate.wait_for(1);
    let cancelled = pool.submit(does(|| ())).expect("open");
    let soon = TaskOptions::new().wait_max(Duration::from_millis(1));
    let expired = pool.submit_with(soon, does(|| ())).expect("open");
    eventually("it expires", || expired.is_done());
    eventually("its token is back", || limit.tokens() == 8);
    cancelled.cancel();
    assert_eq!(limit.tokens(), 9, "only the one at the gate has begun");
    pool.policies().add(Arc::new(Never)).expect("another name");
    drop(pool.try_spawn(does(|| ())).expect_err("a policy behind it rejects"));
    pool.policies().disable("never").expect("it is there");
    gate.open();
    assert!(pool.idle().wait_timeout(LIMIT));
    pool.pause();
    (0..2).for_each(|_| pool.try_spawn(does(|| ())).expect("there is room"));
    drop(pool.try_spawn(does(|| ())).expect_err("two wait"));
    assert_eq!(limit.tokens(), 7, "of the three that ran or may");
    drop(pool.drain(Duration::ZERO));
    assert_eq!(limit.tokens(), 9, "two of them did not");
}

/// Panics where it is dropped.
struct Sore;

impl Drop for Sore {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

/// Panics in every hook, and so does what it gives to tasks that have a class.
struct Clumsy;

impl PoolPolicy for Clumsy {
    fn name(&self) -> &'static str {
        "clumsy"
    }

    fn on_enqueue(&self, task: &TaskView<'_>) -> Verdict {
        assert!(task.class.is_some(), "asked");
        Verdict::accept_with(Sore)
    }

    fn on_start(&self, _: &TaskView<'_>, _: Option<&mut (dyn Any + Send)>) {
        panic!("started");
    }

    fn around(&self, _: Option<&mut (dyn Any + Send)>, inside: &mut dyn FnMut()) {
        inside();
        panic!("around");
    }

    fn on_complete(&self, _: &TaskView<'_>, _: Ending, _: Option<Baggage>) {
        panic!("ended");
    }

    fn on_switch(&self, _: bool) {
        panic!("switched");
    }
}

#[test]
fn a_hook_of_a_policy_that_panics_is_told_by_its_name() {
    let pool = builder("clumsy").workers(1).build().expect("no fault");
    pool.policies().add(Arc::new(Clumsy)).expect("the only one");
    let task = pool.submit(does(|| ())).expect("whoever cannot answer has no objection");
    assert_eq!(task.join(), Ok(()));
    pool.pause();
    let classed = TaskOptions::new().class(Name::new("cancelled").expect("a name"));
    pool.submit_with(classed, does(|| ())).expect("open").cancel();
    pool.policies().disable("clumsy").expect("it is there");
    let told: Vec<String> = pool.events().iter().map(|(_, event)| event.to_string()).collect();
    for hook in ["on_enqueue", "on_start", "around", "on_complete", "drop", "on_switch"] {
        let event = format!("the hook {hook} of the policy clumsy panicked and was ignored");
        assert_eq!(told.iter().filter(|told| **told == event).count(), 1, "{hook}: {told:?}");
    }
    assert_eq!(pool.policies().hook_panics(), 6);
}
