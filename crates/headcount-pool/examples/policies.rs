//! Policies that are asked before a task is taken in: a breaker, a rate limit, one of our own.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use headcount_pool::policy::{
    Baggage, BreakerConfig, CircuitBreaker, Ending, PoolPolicy, Rate, RateLimit, TaskView, Trip,
    Verdict,
};
use headcount_pool::{ThreadPool, report_failure};

/// Counts what it sees, and rejects nothing.
#[derive(Default)]
struct Counter {
    seen: AtomicU32,
    ended: AtomicU32,
}

impl PoolPolicy for Counter {
    fn name(&self) -> &'static str {
        "counter"
    }

    fn on_enqueue(&self, _task: &TaskView<'_>) -> Verdict {
        self.seen.fetch_add(1, Relaxed);
        Verdict::accept()
    }

    fn on_complete(&self, _task: &TaskView<'_>, _ending: Ending, _baggage: Option<Baggage>) {
        self.ended.fetch_add(1, Relaxed);
    }
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let pool = ThreadPool::builder().workers(1).build()?;
    let counter = Arc::new(Counter::default());
    pool.policies().add(Arc::clone(&counter) as Arc<dyn PoolPolicy>)?;

    let config = BreakerConfig { trip: Some(Trip::Failures(3)), ..BreakerConfig::default() };
    let breaker = CircuitBreaker::new(&config).expect("no fault in it");
    pool.policies().add(Arc::new(breaker.clone()))?;
    for _ in 0..3 {
        pool.submit(report_failure)?.join()?;
    }
    println!("after three failures the breaker is {:?}", breaker.state());
    println!("refused: {}", pool.spawn(|| unreachable!("it does not run")).expect_err("open"));

    pool.policies().disable("circuit_breaker")?;
    pool.spawn(|| println!("runs while the breaker is disabled"))?;
    pool.policies().remove("circuit_breaker")?;

    let rate = RateLimit::new(Rate::per_second(1)).expect("no fault in it");
    pool.policies().add(Arc::new(rate))?;
    pool.spawn(|| ())?;
    println!("refused: {}", pool.spawn(|| ()).expect_err("one each second"));

    pool.await_idle();
    println!("{} asked for, {} ended", counter.seen.load(Relaxed), counter.ended.load(Relaxed));
    Ok(())
}
