//! Small runs that are reckoned by hand, event by event. Times are milliseconds.

use std::time::Duration;

use headcount_core::{Policy, PolicyConfig, Preset, Timestamp};
use headcount_sim::Promise;
use headcount_sim::load::Job;
use headcount_sim::run::{PoolSetup, Setup, Simulation};
use headcount_sim::world::{Downstream, Faults};

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn at(n: u64) -> Timestamp {
    Timestamp::from_millis(n)
}

/// A pool for jobs that come at a time and take another, which may wait for 100 ms. Nobody idle is
/// kept for longer than 50 ms, and workers are there at once.
fn pool(preset: &Preset, (min, max): (u32, u32), jobs: &[(u64, u64)]) -> PoolSetup {
    let bounds =
        PolicyConfig { workers_min: Some(min), workers_max: Some(max), ..PolicyConfig::default() };
    let policy = Policy::check(&bounds.or(preset.config()), 8).expect("no fault");
    let job = |(came, size): &(u64, u64)| Job { at: at(*came), size: ms(*size), class: 0 };
    let pool = PoolSetup::new("story", policy, jobs.iter().map(job).collect());
    PoolSetup { spawn_delay: Duration::ZERO, ..pool }
}

/// So many workers, always.
fn fixed(workers: u32, jobs: &[(u64, u64)]) -> PoolSetup {
    pool(&Preset::gopipe(), (workers, workers), jobs)
}

/// From nobody up to four, hired for those who wait, 10 ms before they come.
fn elastic(jobs: &[(u64, u64)]) -> PoolSetup {
    PoolSetup { spawn_delay: ms(10), ..pool(&Preset::slo(ms(100)), (0, 4), jobs) }
}

/// Ends after so long, and tells how it went: waits in order of length, and what it cost.
#[track_caller]
fn check(setup: Setup, end: u64, expected: &str) {
    let setup = Setup { end: Some(at(end)), checked: true, ..setup };
    let ended = Simulation::new(setup).run_with_books().expect("no rule is broken");
    let (score, books) = &ended[0];
    let waits: Vec<String> = books.waits.iter().map(|wait| format!("{}", in_ms(*wait))).collect();
    let cost = in_ms(Duration::from_secs_f64(score.worker_seconds));
    let (hired, late) = (score.spawns, score.late);
    let told = format!("waits {}; {hired} hired for {cost}; {late} late", waits.join(" "));
    assert_eq!(told, expected);
}

/// Rounded to a microsecond.
fn in_ms(span: Duration) -> f64 {
    (span.as_secs_f64() * 1e6).round() / 1e3
}

#[test]
fn one_worker_takes_one_job_after_the_other() {
    let setup = Setup::of(fixed(1, &[(0, 100), (10, 50), (20, 30)]));
    check(setup, 200, "waits 0 90 130; 1 hired for 200; 1 late");
}

#[test]
fn a_job_that_ends_after_the_end_is_judged_by_its_wait() {
    let setup = Setup::of(fixed(1, &[(0, 1000), (10, 50), (150, 10)]));
    check(setup, 200, "waits 0 50 190; 1 hired for 200; 1 late");
}

#[test]
fn a_run_goes_on_until_every_promise_is_over() {
    // Twenty mean services are over at 20 s, when nobody has waited for 30 s. Then, one begins
    // every second up to and with the last moment; of the others none can be in time any more.
    let jobs = [(0, 1000); 100];
    let promise = Promise::Wait(Duration::from_secs(30));
    let setup = Setup::of(PoolSetup { promise, ..fixed(1, &jobs) });
    let score = &Simulation::new(setup).run().expect("no rule is broken")[0];
    assert_eq!((score.span, score.late), (Duration::from_secs(30), 69));
    assert!((score.done() - 0.3).abs() < 1e-9, "{score:?}");
}

#[test]
fn a_run_does_not_go_on_for_ever_for_the_longest_promise() {
    let promise = Promise::Wait(Duration::MAX);
    let setup = Setup::of(PoolSetup { promise, ..fixed(1, &[(0, 1000)]) });
    let score = &Simulation::new(setup).run().expect("no rule is broken")[0];
    assert_eq!((score.span, score.late), (Duration::from_secs(20 * 86_400), 0));
}

#[test]
fn what_can_no_longer_be_done_in_time_is_late_at_the_end() {
    // The first is due at the very end, and not done. The second is due at 400 and takes 150.
    let pool = fixed(1, &[(0, 1000), (100, 150)]);
    let promise = Promise::Latency(ms(300));
    let setup = |promise| Setup::of(PoolSetup { promise, ..pool.clone() });
    check(setup(promise), 300, "waits 0 200; 1 hired for 300; 2 late");
    // By 401 both may be done yet.
    check(setup(Promise::Latency(ms(350))), 300, "waits 0 200; 1 hired for 300; 0 late");
    check(setup(Promise::Wait(ms(200))), 300, "waits 0 200; 1 hired for 300; 1 late");
}

#[test]
fn a_knee_slows_jobs_that_are_under_way() {
    // Alone until 50, then two at half speed: the first ends at 150 and the third begins. It ends
    // at 170, when 40 of the second are left, which end beside the fourth at 250.
    let jobs = [(0, 100), (50, 100), (60, 10), (80, 1000), (81, 1)];
    let downstream = Downstream { crowding: 0.0, ..Downstream::with_knee(1.0) };
    let setup = Setup::of(fixed(2, &jobs)).calling(downstream);
    check(setup, 300, "waits 0 0 90 90 169; 2 hired for 600; 1 late");
}

/// Half speed is better than nobody.
#[test]
fn who_knows_of_a_knee_below_one_worker_has_one() {
    let jobs = [(0, 100), (50, 100)];
    let told = PoolSetup { knows_knee: true, ..pool(&Preset::on_demand(), (0, 4), &jobs) };
    let downstream = Downstream { crowding: 0.0, ..Downstream::with_knee(0.5) };
    check(Setup::of(told).calling(downstream), 500, "waits 0 150; 1 hired for 500; 1 late");
}

#[test]
fn crowding_costs_throughput() {
    // Two beside a knee of one, at 2 * (1 + 0.5) = 3 times as long each: both end at 300.
    let downstream = Downstream { crowding: 0.5, ..Downstream::with_knee(1.0) };
    let setup = Setup::of(fixed(2, &[(0, 100), (0, 100), (1, 1)])).calling(downstream);
    check(setup, 400, "waits 0 0 299; 2 hired for 800; 1 late");
}

#[test]
fn pools_that_call_the_same_are_in_each_others_way() {
    // One job in each pool, both at half speed until 200.
    let downstream = Downstream { crowding: 0.0, ..Downstream::with_knee(1.0) };
    let mut setup = Setup::of(fixed(1, &[(0, 100), (1, 1)])).calling(downstream);
    let other = PoolSetup { downstream: Some(0), ..fixed(1, &[(0, 100)]) };
    setup.pools.push(other);
    check(setup, 300, "waits 0 199; 1 hired for 300; 1 late");
}

#[test]
fn a_brown_out_reaches_the_job_under_way() {
    // 50 at full speed, 30 at half, and the 35 that are left at full speed again: until 115.
    let changes = vec![(at(50), 0.5), (at(80), 1.0)];
    let downstream = Downstream { crowding: 0.0, changes, ..Downstream::with_knee(1.0) };
    let setup = Setup::of(fixed(1, &[(0, 100), (10, 10)])).calling(downstream);
    check(setup, 200, "waits 0 105; 1 hired for 200; 1 late");
}

#[test]
fn whoever_waits_too_long_is_dropped() {
    // The second is found to have waited for more than 50 when the third comes, at 70.
    let pool = fixed(1, &[(0, 100), (10, 10), (70, 10), (105, 1)]);
    let setup = Setup::of(PoolSetup { expire_after: Some(ms(50)), ..pool });
    check(setup, 200, "waits 0 5 30 60; 1 hired for 200; 1 late");
}

#[test]
fn where_the_oldest_is_late_the_newest_go_first() {
    // At 100 the second has waited for 90: the fourth goes first, at 110 the fifth, then the third,
    // and the second last. In the order of arrival each of them would wait for 85 at least.
    let jobs = [(0, 100), (10, 10), (20, 10), (95, 10), (105, 10)];
    let pool = PoolSetup { newest_first_after: Some(ms(50)), ..fixed(1, &jobs) };
    check(Setup::of(pool), 200, "waits 0 5 5 100 120; 1 hired for 200; 1 late");
    // Nobody has waited for so long.
    let pool = PoolSetup { newest_first_after: Some(ms(95)), ..fixed(1, &jobs) };
    check(Setup::of(pool), 200, "waits 0 25 25 90 90; 1 hired for 200; 0 late");
}

#[test]
fn a_line_that_is_full_takes_nobody() {
    let pool = fixed(1, &[(0, 100), (10, 10), (20, 10), (105, 10)]);
    let setup = Setup::of(PoolSetup { queue_len_max: Some(1), ..pool });
    check(setup, 200, "waits 0 5 90; 1 hired for 200; 1 late");
}

#[test]
fn a_line_that_would_turn_jobs_away_has_workers_hired_before_it_is_full() {
    // Until the deadline of the second job, at 95, the fifth would find the line of three full. But
    // at 21 it is half full: workers are hired for the second and the third, and for the fourth as
    // it comes. They are there after 10, and the fifth waits until the first of them is done.
    let jobs = [(0, 500), (20, 100), (21, 100), (22, 100), (40, 10)];
    let pool = PoolSetup { queue_len_max: Some(3), ..elastic(&jobs) };
    check(Setup::of(pool), 1000, "waits 10 10 10 11 91; 4 hired for 1050; 0 late");
}

#[test]
fn where_more_wait_than_may_be_hired_nobody_waits_for_a_deadline() {
    // Three more may be hired, and three wait for deadlines from 95 on. With the fourth, at 23,
    // there are more than that: three are hired, and there after 10. The fourth waits until 113,
    // when the first of them is done. Had they waited they would begin at 105, and it at 185.
    let jobs = [(0, 500), (20, 80), (21, 110), (22, 120), (23, 10)];
    check(Setup::of(elastic(&jobs)), 1000, "waits 10 11 12 13 90; 4 hired for 1060; 0 late");
}

#[test]
fn what_fails_is_tried_again_later() {
    // The first fails at 10 and comes again at 110, when the second is at work until 125. It fails
    // for good at 135, until when the third waits. All of them fail twice, and the second tries
    // begin at 125, 225 and 245: what counts is how long those were waited for.
    let faults = Faults { job_fails: 1.0, retries: 1, retry_after: ms(100), ..Faults::default() };
    let setup = Setup { faults, ..Setup::of(fixed(1, &[(0, 10), (105, 20), (130, 1)])) };
    check(setup, 300, "waits 115 120 125; 1 hired for 300; 3 late");
}

#[test]
fn the_job_of_a_worker_that_died_is_taken_up_by_the_next() {
    // 5 to start, 10 of work: deaths at 15 and 30. The third try is under way at the end, and it
    // is the one that the job waited for.
    let faults = Faults { worker_dies: 1.0, ..Faults::default() };
    let pool = PoolSetup { spawn_delay: ms(5), ..fixed(1, &[(0, 10)]) };
    check(Setup { faults, ..Setup::of(pool.clone()) }, 40, "waits 35; 3 hired for 40; 0 late");
    // The first two began in time, the third did not: the wait says so as the lateness does.
    let promise = Promise::Wait(ms(30));
    let setup = Setup { faults, ..Setup::of(PoolSetup { promise, ..pool }) };
    check(setup, 40, "waits 35; 3 hired for 40; 1 late");
}

#[test]
fn the_place_of_a_worker_that_died_is_filled_although_the_line_is_full() {
    // At 10 the worker dies, its job finds the line full, and the next worker comes all the same:
    // it begins the second job, with which it dies as well.
    let faults = Faults { worker_dies: 1.0, ..Faults::default() };
    let pool = fixed(1, &[(0, 10), (1, 10)]);
    let setup = Setup::of(PoolSetup { spawn_delay: ms(5), queue_len_max: Some(1), ..pool });
    // 0 to 5: both wait, where there is room for one. So the second is the one refused.
    check(Setup { faults, ..setup }, 31, "waits 31; 3 hired for 31; 1 late");
    let pool = fixed(1, &[(0, 10), (6, 10)]);
    let setup = Setup::of(PoolSetup { spawn_delay: ms(5), queue_len_max: Some(1), ..pool });
    check(Setup { faults, ..setup }, 31, "waits 25; 3 hired for 31; 1 late");
}

#[test]
fn a_worker_that_is_idle_for_50_ms_leaves() {
    // Hired at 0, at work from 10 to 30 and, woken, from 60 to 80: gone at 130. The third job has
    // another one hired, from 200 to 280.
    let setup = Setup::of(elastic(&[(0, 20), (60, 20), (200, 20)]));
    check(setup, 1000, "waits 0 10 10; 2 hired for 210; 0 late");
}

#[test]
fn somebody_is_hired_only_for_those_who_would_wait_too_long() {
    // The first worker is busy from 10 to 310. For the second job one is hired at 95, which is 85
    // less the start after it came, and wakes for the third at 170: gone at 230. The fourth would
    // have one hired at 315, but the first worker takes it at 310: gone at 370.
    let setup = Setup::of(elastic(&[(0, 300), (20, 50), (170, 10), (240, 10)]));
    check(setup, 1000, "waits 0 10 70 85; 2 hired for 505; 0 late");
}

#[test]
fn hires_that_fail_are_tried_again() {
    // Nobody ever comes: the job waits until the end, and is late.
    let faults = Faults { spawn_fails: 1.0, ..Faults::default() };
    let setup = Setup { faults, ..Setup::of(fixed(1, &[(0, 10)])) };
    let ended = Simulation::new(Setup { end: Some(at(10_000)), checked: true, ..setup }).run();
    let score = &ended.expect("no rule is broken")[0];
    assert_eq!((score.late, score.wait_p50), (1, ms(10_000)));
    assert!((3..100).contains(&score.spawns), "{} tries in ten seconds", score.spawns);
}

/// When a pool at the ceiling of its knee is looked at, in milliseconds.
fn looks(preset: &Preset, jobs: &[(u64, u64)]) -> Vec<u64> {
    let mut looks = Vec::new();
    let mut watch = |_: usize, observation: &headcount_core::Observation, _: &_| {
        looks.push(observation.at.as_nanos() / 1_000_000);
    };
    let setup = Setup::of(pool(preset, (1, 64), jobs)).calling(Downstream::with_knee(4.0));
    let setup = Setup { end: Some(at(20_000)), checked: true, ..setup };
    Simulation::new(setup).watched(&mut watch).run().expect("no rule is broken");
    looks
}

#[test]
fn a_pool_at_its_ceiling_is_looked_at_before_the_tick() {
    let jobs: Vec<(u64, u64)> = (0..2000).map(|index| (10 * index, 50)).collect();
    let tick = |looks: &[u64]| looks.windows(2).map(|two| two[1] - two[0]).min();
    // It is called by whoever has to wait, but not sooner than a quarter of its 200 ms.
    let slo = looks(&Preset::slo(ms(100)), &jobs);
    assert!(slo.is_sorted(), "time goes on");
    assert_eq!(tick(&slo), Some(50));
    // One that counts its looks is not.
    assert_eq!(tick(&looks(&Preset::gopipe(), &jobs)), Some(1000));
}

#[test]
fn a_call_long_after_the_last_look_is_heard_at_once_and_not_before() {
    // The last look before the burst is at 13,800, so that a quarter of a tick after it has passed
    // when the first of the burst has to wait.
    let burst = (0..400).map(|index| (14_000 + index, 200));
    let jobs: Vec<(u64, u64)> = (0..500).map(|index| (10 * index, 50)).chain(burst).collect();
    let looks = looks(&Preset::slo(ms(100)), &jobs);
    assert!(looks.is_sorted(), "{looks:?}");
    let first = looks.iter().find(|look| 13_800 < **look);
    assert!(first.is_some_and(|look| (14_000..14_200).contains(look)), "{looks:?}");
}
