//! A server whose clock jumps: it delays, and loses nothing.
//!
//! The scripts are told the time instead of asking the server for it; all else is as it is live.

use std::time::Duration;

use headcount_core::Clock;
use headcount_core::jobs::port::{Backend, Ending, Leased};
use headcount_core::jobs::{JobSpec, Start, State};

use crate::scene::{SECOND, Scene};
use crate::subject::{block_on, queue};

const HOUR: Duration = Duration::from_secs(3600);

fn in_an_hour(_: u128, spec: &mut JobSpec) {
    spec.start = Start::After(HOUR);
}

fn numbers(leased: &Leased) -> Vec<u128> {
    leased.jobs.iter().map(|job| job.id.as_u128()).collect()
}

#[test]
fn a_step_back_keeps_the_order_and_loses_nothing() {
    block_on(async {
        let mut scene = Scene::new().await;
        let clock = scene.on.clock.clone();
        let noon = clock.now();
        scene.submit([1], |_, _| ()).await;
        scene.submit([9], in_an_hour).await;
        clock.set(noon.before(24 * HOUR));
        scene.submit([2], |_, _| ()).await;
        let leased = scene.lease(7, 10).await;
        assert_eq!(numbers(&leased), [1, 2]);
        scene.end(7, &leased, 0, Ending::Done { result: None }).await;
        // Whoever has vanished is noticed by the time that the clock shows now.
        clock.set(noon.before(24 * HOUR) + 61 * SECOND);
        scene.on.store.sweep(&queue(), 100).await.expect("it sweeps");
        assert_eq!(numbers(&scene.lease(8, 10).await), [2]);
        clock.set(noon + HOUR);
        assert_eq!(numbers(&scene.lease(8, 10).await), [9]);
        let stats = scene.on.store.stats(&queue()).await.expect("it answers");
        assert_eq!((stats.jobs[State::Running], stats.totals.crashed), (2, 1));
    });
}

#[test]
fn a_holder_that_lives_through_a_step_back_has_a_lease_of_the_usual_length() {
    block_on(async {
        let mut scene = Scene::new().await;
        let clock = scene.on.clock.clone();
        let noon = clock.now();
        scene.submit([1, 2], |_, _| ()).await;
        assert_eq!(numbers(&scene.lease(7, 1).await), [1]);
        clock.set(noon.before(24 * HOUR));
        // Its next call renews the lease, which was to last for a day and a minute by now.
        assert_eq!(numbers(&scene.lease(7, 1).await), [2]);
        clock.set(noon.before(24 * HOUR) + 61 * SECOND);
        scene.on.store.sweep(&queue(), 100).await.expect("it sweeps");
        assert_eq!(numbers(&scene.lease(8, 10).await), [1, 2]);
    });
}

#[test]
fn a_jump_ahead_makes_due_what_is_due_and_takes_leases_that_ran_out() {
    block_on(async {
        let mut scene = Scene::new().await;
        let clock = scene.on.clock.clone();
        scene.submit([1], |_, _| ()).await;
        scene.submit([2], in_an_hour).await;
        let leased = scene.lease(7, 10).await;
        assert_eq!(numbers(&leased), [1]);
        clock.set(clock.now() + 365 * 24 * HOUR);
        scene.on.store.sweep(&queue(), 100).await.expect("it sweeps");
        assert_eq!(numbers(&scene.lease(8, 10).await), [1, 2]);
        // The holder that has lost it is refused.
        scene.end(7, &leased, 0, Ending::Done { result: None }).await;
        assert!(scene.ended.values().all(|times| *times == 0));
    });
}
