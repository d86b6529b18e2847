//! What policies lend to tasks they get back.

use std::sync::Arc;
use std::time::Duration;

use headcount_pool::TaskOptions;
use headcount_pool::policy::{PoolPolicy, Rate, RateLimit, TaskView, Verdict};

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
