//! The breaker as its users hold it: permits that are dropped, clones, a pool's endings.

use std::sync::Arc;
use std::time::Duration;

use headcount_core::{Breaker, Name};

use super::{BreakerConfig, BreakerPermit, CircuitBreaker, Trip};
use crate::policy::policies_tests::Watch;
use crate::policy::{Ending, Outcome, Policies, PoolPolicy, TaskView};

fn breaker(failures: u32) -> (CircuitBreaker, Arc<Watch>) {
    let watch = Arc::new(Watch::default());
    let config = BreakerConfig { trip: Some(Trip::Failures(failures)), ..Default::default() };
    (CircuitBreaker::with_clock(&config, watch.clone()).expect("no fault"), watch)
}

fn call(breaker: &CircuitBreaker) -> BreakerPermit {
    breaker.try_call().expect("calls pass")
}

/// Tasks that end like this, one after another, leave a breaker that opens at two failures so.
fn check(outcomes: &[Outcome], expected: Breaker) {
    let (breaker, _) = breaker(2);
    let policies = Policies::new();
    policies.add(Arc::new(breaker.clone())).expect("the only one");
    let task = TaskView::default();
    for outcome in outcomes {
        let escort = policies.enqueue(&task).expect("it is closed");
        escort.ended(&task, Ending { outcome: *outcome, ran: Duration::ZERO });
    }
    assert_eq!(breaker.state(), expected, "{outcomes:?}");
}

#[test]
fn what_fails_panics_or_times_out_is_a_failure() {
    check(&[Outcome::Failed, Outcome::Panicked], Breaker::Open);
    check(&[Outcome::TimedOut, Outcome::TimedOut], Breaker::Open);
    check(&[Outcome::Failed, Outcome::Succeeded, Outcome::Succeeded], Breaker::Closed);
    check(&[Outcome::Failed, Outcome::Cancelled, Outcome::Cancelled], Breaker::Closed);
}

#[test]
fn a_pool_whose_breaker_is_open_rejects_and_says_when_to_come_back() {
    let (breaker, watch) = breaker(1);
    let policies = Policies::new();
    policies.add(Arc::new(breaker.clone())).expect("the only one");
    call(&breaker).failed();
    watch.advance(Duration::from_secs(20));
    let rejection = policies.enqueue(&TaskView::default()).expect_err("it is open");
    let expected = "circuit_breaker: the circuit breaker is open; try again in 10.0s";
    assert_eq!(rejection.to_string(), expected);
    assert_eq!(rejection.retry_after, Some(Duration::from_secs(10)));
}

#[test]
fn tasks_that_never_run_give_their_probes_back() {
    let (breaker, watch) = breaker(1);
    let policies = Policies::new();
    policies.add(Arc::new(breaker.clone())).expect("the only one");
    call(&breaker).failed();
    watch.advance(Duration::from_secs(30));
    let enqueue = || policies.enqueue(&TaskView::default());
    let waiting = [enqueue(), enqueue(), enqueue()];
    let rejection = enqueue().expect_err("three are out").reason;
    let expected =
        "the circuit breaker is half open and all its probes are out; try again in 60.0s";
    assert_eq!(rejection, expected);
    drop(waiting);
    assert!(enqueue().is_ok());
    assert_eq!((breaker.state(), breaker.counts().given_back), (Breaker::HalfOpen, 4));
}

#[test]
fn clones_are_the_same_breaker() {
    let (first, _) = breaker(1);
    let second = first.clone().named(Name::new("database").expect("a name"));
    call(&first).failed();
    assert_eq!((second.name(), second.state()), ("database", Breaker::Open));
    second.close();
    assert_eq!(first.state(), Breaker::Closed);
}

#[test]
fn a_permit_may_outlive_what_it_was_made_for() {
    let (breaker, _) = breaker(1);
    let (first, second) = (call(&breaker), call(&breaker));
    first.failed();
    breaker.reset();
    second.failed();
    assert_eq!((breaker.state(), breaker.counts().late), (Breaker::Closed, 1));
}
