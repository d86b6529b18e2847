//! The bound against cases solved by hand, against trying everything, and against what must hold.

use std::time::Duration;

use headcount_core::Timestamp;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::load::Job;
use crate::load::trace_file::{azure, read_jobs};

use super::*;
use crate::Promise;

fn secs(secs: f64) -> Duration {
    Duration::from_secs_f64(secs)
}

fn job(at: f64, size: f64) -> Job {
    Job { at: Timestamp::ORIGIN + secs(at), size: secs(size), class: 0 }
}

/// Slots of a second, nobody there at first, hires that cost `hire` seconds.
fn config(promise: Promise, hire: f64) -> BoundConfig {
    BoundConfig { spawn_cost: secs(hire), workers_min: 0, ..BoundConfig::of(promise) }
}

#[track_caller]
fn check(jobs: &[(f64, f64)], config: &BoundConfig, seconds_expected: f64) {
    let bound = Bound::of(jobs.iter().map(|&(at, size)| job(at, size)), config).unwrap();
    let seconds = bound.j * bound.work_seconds;
    assert!(
        (seconds - seconds_expected).abs() < 1e-6,
        "{seconds} of {seconds_expected}: {bound:?}"
    );
    assert!((0.0..1e-6).contains(&bound.gap), "{bound:?}");
}

#[test]
fn hires_that_cost_nothing_leave_the_work() {
    check(&[(0.0, 4.0), (7.5, 2.5)], &config(Promise::Wait(secs(3.0)), 0.0), 6.5);
}

#[test]
fn a_job_that_can_wait_is_spread_over_its_time() {
    // Ten seconds for four of work: four tenths of a worker, hired at 5 s each.
    check(&[(0.0, 4.0)], &config(Promise::Wait(secs(6.0)), 5.0), 4.0 + 0.4 * 5.0);
    check(&[(0.0, 4.0)], &config(Promise::Latency(secs(8.0)), 5.0), 4.0 + 0.5 * 5.0);
}

#[test]
fn a_worker_is_kept_through_a_pause_that_is_cheaper_than_a_hire() {
    let jobs = [(0.0, 1.0), (5.0, 1.0)];
    check(&jobs, &config(Promise::Wait(secs(0.0)), 3.0), 2.0 + 2.0 * 3.0);
    check(&jobs, &config(Promise::Wait(secs(0.0)), 5.0), 6.0 + 5.0);
}

#[test]
fn the_delay_of_a_hire_is_paid_for_too() {
    let once = BoundConfig { spawn_delay: secs(2.0), ..config(Promise::Wait(secs(0.0)), 3.0) };
    check(&[(0.0, 1.0)], &once, 1.0 + 3.0 + 2.0);
    let bound = Bound::of([job(0.0, 1.0)], &once).unwrap();
    assert!((bound.worker_seconds - 3.0).abs() < 1e-6, "{bound:?}");
    assert!((bound.spawns - 1.0).abs() < 1e-6, "{bound:?}");
}

#[test]
fn the_minimum_is_paid_for_until_the_last_arrival() {
    let free = BoundConfig { workers_min: 2, ..config(Promise::Wait(secs(0.0)), 0.0) };
    // Two for ten seconds, and one more second of work after that.
    check(&[(0.0, 1.0), (10.0, 1.0)], &free, 21.0);
    check(&[(0.0, 1.0), (10.0, 1.0)], &BoundConfig { spawn_cost: secs(9.0), ..free }, 21.0);
}

fn knee(steps: &[(f64, f64)]) -> Vec<KneeStep> {
    let step = |&(from, workers)| KneeStep { from: Timestamp::ORIGIN + secs(from), workers };
    steps.iter().map(step).collect()
}

#[test]
fn a_knee_brings_the_work_forward() {
    // Four seconds of work due in two: with room for one in the second half, three come first.
    let wide = config(Promise::Latency(secs(2.0)), 1.0);
    check(&[(0.0, 2.0), (0.0, 2.0)], &wide, 4.0 + 2.0);
    let narrow = BoundConfig { knee: knee(&[(0.0, 3.0), (1.0, 1.0)]), ..wide.clone() };
    check(&[(0.0, 2.0), (0.0, 2.0)], &narrow, 4.0 + 3.0);
    // The knee of a slot is the mean over it: half of it at 5, half at 1.
    let halves = BoundConfig { knee: knee(&[(0.0, 5.0), (0.5, 1.0)]), ..wide };
    check(&[(0.0, 2.0), (0.0, 2.0)], &halves, 4.0 + 3.0);
}

#[test]
fn an_outage_is_worked_before() {
    // Six seconds of work due in three, of which two are lost; one worker idles until the last job.
    let free = BoundConfig { workers_min: 1, ..config(Promise::Latency(secs(3.0)), 0.0) };
    let outage = BoundConfig { knee: knee(&[(0.0, 9.0), (1.0, 0.0), (3.0, 9.0)]), ..free };
    check(&[(0.0, 3.0), (0.0, 3.0), (10.0, 1.0)], &outage, 6.0 + 9.0 + 1.0);
}

#[test]
fn where_the_knee_leaves_no_room_that_is_said() {
    let wide = config(Promise::Latency(secs(2.0)), 1.0);
    let error = |steps: &[(f64, f64)]| {
        let config = BoundConfig { knee: knee(steps), ..wide.clone() };
        Bound::of([job(3.0, 2.0), job(3.0, 2.0)], &config).unwrap_err()
    };
    let at = Timestamp::from_secs(4);
    assert_eq!(error(&[(0.0, 1.5)]), BoundError::BeyondTheKnee { at, late: secs(1.0) });
    assert_eq!(
        error(&[(0.0, 1.5)]).to_string(),
        "no policy keeps the promise: at 4.000 s work of 1s is late, whatever one does"
    );
    assert_eq!(error(&[(0.0, f64::NAN)]), BoundError::WrongKnee { step: 0 });
    assert_eq!(error(&[(0.0, 9.0), (1.0, -1.0)]), BoundError::WrongKnee { step: 1 });
    assert_eq!(error(&[(1.0, 9.0), (0.0, 9.0)]), BoundError::WrongKnee { step: 1 });
}

#[test]
fn runs_that_are_none_have_no_bound() {
    let config = config(Promise::Wait(secs(1.0)), 1.0);
    let of = |jobs: &[Job], config: &BoundConfig| Bound::of(jobs.iter().copied(), config);
    assert_eq!(of(&[], &config), Err(BoundError::NoWork));
    assert_eq!(of(&[job(1.0, 0.0)], &config), Err(BoundError::NoWork));
    let endless = of(&[job(1e9, 1.0)], &config);
    assert_eq!(endless, Err(BoundError::TooManySlots { max: SLOTS_MAX }));
    let none = BoundConfig { slot: Duration::ZERO, ..config };
    assert_eq!(of(&[job(0.0, 1.0)], &none), Err(BoundError::NoSlot));
}

/// The least cost by trying every number of workers in sixths, in three slots.
fn tried(arrived: [f64; 2], due: [f64; 3], config: &BoundConfig) -> f64 {
    const PARTS: u32 = 6;
    let most = config.knee.first().map_or(f64::INFINITY, |step| step.workers);
    let hire = config.spawn_cost.as_secs_f64();
    let sizes = || (0..=8 * PARTS).map(|parts| f64::from(parts) / f64::from(PARTS));
    let mut least = f64::INFINITY;
    for one in sizes() {
        for two in sizes() {
            for three in sizes() {
                let (mut there, mut done, mut owed, mut before) = (0.0, 0.0_f64, 0.0, 0.0);
                let (mut cost, mut in_time) = (0.0, true);
                for (slot, workers) in [one, two, three].into_iter().enumerate() {
                    there += arrived.get(slot).unwrap_or(&0.0);
                    owed += due[slot];
                    done = there.min(done + workers.min(most));
                    in_time &= owed < done + 1e-9;
                    cost += workers + hire * (workers - before).max(0.0);
                    before = workers;
                }
                if in_time && cost < least {
                    least = cost;
                }
            }
        }
    }
    least
}

#[test]
fn nothing_that_can_be_tried_is_cheaper() {
    let counts = [0_u32, 1, 3];
    let cases = counts.into_iter().flat_map(|first| counts.map(|second| (first, second)));
    for (first, second) in cases.filter(|&counts| counts != (0, 0)) {
        for (hire, most) in [(0.5, f64::INFINITY), (2.0, f64::INFINITY), (7.0, 4.0)] {
            // Two seconds for each job of one second, so that all is over after three.
            let steps = if most.is_finite() { knee(&[(0.0, most)]) } else { Vec::new() };
            let config = config(Promise::Latency(secs(2.0)), hire);
            let config = BoundConfig { knee: steps, ..config };
            let jobs = [(0.0, first), (1.0, second)];
            let jobs = jobs.iter().flat_map(|&(at, count)| (0..count).map(move |_| (at, 1.0)));
            let (first, second) = (f64::from(first), f64::from(second));
            let least = tried([first, second], [0.0, first, second], &config);
            check(&jobs.collect::<Vec<_>>(), &config, least);
        }
    }
}

#[test]
fn the_azure_trace_costs_what_another_solver_found() {
    // A wait of one mean job, workers that start in 0.1 ms and cost 10 or 50 ms: HiGHS found 1.244.
    let jobs = read_jobs(azure::jobs()).unwrap();
    for (spawn_cost_ms, expected) in [(10, 1.2433), (50, 1.2452)] {
        let config = BoundConfig {
            spawn_delay: Duration::from_micros(100),
            spawn_cost: Duration::from_millis(spawn_cost_ms),
            ..BoundConfig::of(Promise::Wait(Duration::from_millis(987)))
        };
        let bound = Bound::of(jobs.iter().copied(), &config).unwrap();
        assert!((bound.j - expected).abs() < 1e-4, "{bound:?}");
        assert!(bound.gap < 1e-6, "{bound:?}");
    }
}

/// Made-up runs: jobs as (tenths of a second, hundredths of a second).
fn runs() -> impl Strategy<Value = Vec<Job>> {
    let tenths = (0_u32..600, 1_u32..500);
    let jobs = tenths.prop_map(|(at, size)| job(f64::from(at) / 10.0, f64::from(size) / 100.0));
    vec(jobs, 1..60)
}

fn bound(jobs: &[Job], config: &BoundConfig) -> Bound {
    Bound::of(jobs.iter().copied(), config).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 60,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(5),
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_answer_is_sharp(
        jobs in runs(), wait in 0.0..9.0_f64, power in -4.0..4.0_f64, min in 0_u32..4,
    ) {
        let config = config(Promise::Wait(secs(wait)), 10_f64.powf(power));
        let config = BoundConfig { workers_min: min, ..config };
        let found = bound(&jobs, &config);
        prop_assert!(1.0 - 1e-9 < found.j, "{found:?}");
        prop_assert!((0.0..1e-5 * found.j).contains(&found.gap), "{found:?}");
    }

    #[test]
    fn dearer_hires_never_lower_it(jobs in runs(), hire in 0.0..9.0_f64, more in 0.0..9.0_f64) {
        let of = |hire| bound(&jobs, &config(Promise::Wait(secs(1.0)), hire)).j;
        prop_assert!(of(hire) <= of(hire + more) + 1e-6);
    }

    #[test]
    fn more_patience_never_raises_it(jobs in runs(), wait in 0.0..9.0_f64, more in 0.0..9.0_f64) {
        let of = |wait| bound(&jobs, &config(Promise::Wait(secs(wait)), 2.0)).j;
        prop_assert!(of(wait + more) <= of(wait) + 1e-6);
    }

    #[test]
    fn a_knee_never_lowers_it(jobs in runs(), most in 1.0..20.0_f64, later in 1.0..20.0_f64) {
        let wide = config(Promise::Wait(secs(2.0)), 3.0);
        let narrow = BoundConfig { knee: knee(&[(0.0, most), (20.3, later)]), ..wide.clone() };
        if let Ok(found) = Bound::of(jobs.iter().copied(), &narrow) {
            prop_assert!(bound(&jobs, &wide).j <= found.j + 1e-6);
            prop_assert!((0.0..1e-5 * found.j).contains(&found.gap), "{found:?}");
        }
    }

    #[test]
    fn longer_slots_only_weaken_it(jobs in runs(), times in 2_u32..6) {
        let sharp = config(Promise::Wait(secs(2.0)), 3.0);
        let blurred = BoundConfig { slot: sharp.slot * times, ..sharp.clone() };
        prop_assert!(bound(&jobs, &blurred).j <= bound(&jobs, &sharp).j + 1e-6);
    }

    #[test]
    fn whoever_hires_for_each_job_pays_no_less(jobs in runs(), hire in 0.0..9.0_f64) {
        let found = bound(&jobs, &config(Promise::Wait(secs(1.0)), hire));
        prop_assert!(found.j * found.work_seconds <= found.work_seconds + hire * jobs.len() as f64);
    }
}
