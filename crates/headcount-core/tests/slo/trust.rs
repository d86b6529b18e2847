//! Trust grows on evidence only, fades with time, and shows what it is based on.

use std::time::Duration;

use headcount_core::decide::{Decider, Slo, SloConfig};
use headcount_core::{
    History, LogSums, Notes, Observation, PoolSnapshot, Proposal, Situation, Staffing, Statistics,
    Timestamp,
};

use crate::plant::Stage;
use crate::run::Setting;

/// A pool of so many workers, all busy, with work waiting.
fn full(workers: u32) -> PoolSnapshot {
    let staffing = Staffing::between(0, workers);
    PoolSnapshot { live: workers, busy: workers, queued: 500, ..PoolSnapshot::of(staffing) }
}

fn decide(slo: &mut Slo, millis: u64, pool: PoolSnapshot) -> Proposal {
    let observation = Observation::new(Timestamp::from_millis(millis), pool);
    let history = History::default();
    slo.decide(&Situation { observation: &observation, readings: &[], history: &history })
}

fn ceiling(proposal: &Proposal) -> u32 {
    proposal.wanted.expect("slo always wants something").ceiling
}

#[test]
fn where_no_task_ends_nothing_is_trusted() {
    let mut slo = SloConfig::default().build();
    for tick in 0..500 {
        let proposal = decide(&mut slo, tick * 200, full(64));
        assert_eq!(ceiling(&proposal), 64, "after {tick} ticks");
    }
}

#[test]
fn tasks_that_take_longer_earn_no_trust() {
    // Nothing waits, so nothing can be judged; but more of what is slower is no evidence.
    let mut slo = SloConfig::default().build();
    let mut pool = PoolSnapshot { ceiling: 64, ..PoolSnapshot::default() };
    let mut logs = LogSums::default();
    let mut worked = 0.0;
    for tick in 0..300_u64 {
        let (busy, service) = if tick < 150 { (30, 100) } else { (60, 200) };
        for task in 0..60 {
            logs.add(Duration::from_millis(service / 2 + task * service / 60));
        }
        (pool.busy, pool.live, pool.service_logs) = (busy, busy, Some(logs));
        pool.counters.completed += 60;
        let proposal = decide(&mut slo, tick * 200, pool);
        let belief = proposal.estimates.iter().find(|belief| &belief.name == "worked");
        worked = belief.expect("it is always shown").value;
    }
    assert!((29.0..31.0).contains(&worked), "{worked}");
}

#[test]
fn trust_at_most_doubles_with_each_generation() {
    // Tasks of 100 ms, looked at every 200.
    let setting = Setting { max: 10_000, ..Setting::default() };
    let run = setting.run(&[Stage::load(15.0, 10.0), Stage::load(15.0, 5000.0)]);
    for two in run.moments.windows(2) {
        assert!(two[1].ceiling <= 2 * two[0].ceiling, "{}", run.line(0.2));
    }
    let surged = run.at(17.0);
    assert!(5000 < surged.ceiling, "within two seconds{}", run.line(0.2));
}

/// The most workers that are trusted within so many seconds, where two begin. Tasks of 300 ms have
/// this share of the time that workers are busy; the rest goes to tasks that do not end.
fn most_after(seconds: u64, share: f64) -> u32 {
    let mut slo = SloConfig { trust_start: 2, ..SloConfig::default() }.build();
    let (mut pool, mut logs, mut owed) = (full(2), LogSums::default(), 0.0);
    let mut most = 0;
    for tick in 0..seconds * 5 {
        owed += f64::from(pool.busy) * 0.2 / 0.3 * share;
        while 1.0 <= owed {
            owed -= 1.0;
            logs.add(Duration::from_millis(295 + pool.counters.completed % 10));
            pool.counters.completed += 1;
        }
        pool.service_logs = Some(logs);
        let proposal = decide(&mut slo, tick * 200, pool);
        let counters = pool.counters;
        pool = PoolSnapshot { counters, ..full(ceiling(&proposal).min(1000)) };
        most = most.max(pool.ceiling);
    }
    most
}

/// Long tasks are few; where all take as long as one another, few are enough.
#[test]
fn tasks_that_are_alike_earn_trust_sooner() {
    let most = most_after(30, 1.0);
    assert!(16 <= most, "{most} after half a minute");
}

/// Those that end are alike because the others have not ended.
#[test]
fn quick_tasks_beside_long_ones_are_not_alike() {
    assert_eq!(most_after(60, 0.25), 2, "a hundred have ended");
}

#[test]
fn a_pool_that_runs_already_is_not_cut_at_first() {
    let mut slo = SloConfig::default().build();
    let pool = PoolSnapshot { busy: 300, ..full(500) };
    assert_eq!(ceiling(&decide(&mut slo, 0, pool)), 300);
}

#[test]
fn trust_fades_with_time_however_often_it_is_looked_at() {
    let after = |ticks: u64| {
        let mut slo = SloConfig::default().build();
        decide(&mut slo, 0, full(1000));
        let idle = PoolSnapshot::of(Staffing::between(0, 1000));
        (1..=ticks).map(|tick| ceiling(&decide(&mut slo, tick * 300_000 / ticks, idle))).last()
    };
    assert_eq!(after(10), Some(500), "half of it after five minutes");
    for ticks in [100, 3000] {
        let ceiling = f64::from(after(ticks).expect("there were ticks"));
        assert!((ceiling / 500.0 - 1.0).abs() < 0.06, "{ceiling} after {ticks} ticks");
    }
}

#[test]
fn a_steady_load_leaves_the_ceiling_alone() {
    let run = Setting::default().run(&[Stage::load(300.0, 100.0)]);
    let moves = |from, to| {
        let ceilings: Vec<u32> = run.between(from, to).map(|m| m.ceiling).collect();
        ceilings.windows(2).filter(|two| two[0] != two[1]).count()
    };
    assert!(moves(60.0, 300.0) <= 24, "{} moves{}", moves(60.0, 300.0), run.line(5.0));
}

#[test]
fn every_belief_is_shown() {
    let knee = |load| Stage::load(60.0, load).knee(40.0);
    // Beyond the knee from the start, where only a probe can tell.
    let run = Setting::default().run(&[knee(60.0), knee(50.0)]);
    let estimates = &run.last().decision.proposal.estimates;
    let names: Vec<_> = estimates.iter().map(|e| e.name.to_string()).collect();
    let all = "wait_budget trust worked knee_phase knee service_at_rest rest_proven inflation \
               z_score busy_mean throughput held_share by_logs probe_effect";
    assert_eq!(names.join(" "), all);
    assert_eq!(run.last().estimate("by_logs"), Some(1.0));
    let counted = Setting { logs: false, ..Setting::default() }.run(&[knee(20.0)]);
    assert_eq!(counted.last().estimate("by_logs"), Some(0.0), "by counters alone");
}

#[test]
fn the_forecast_keeps_the_last_known_service_time() {
    let mut slo = SloConfig::default().build();
    let mut pool = full(64);
    pool.spawn_delay = Some(Duration::from_secs(2));
    pool.service = Statistics::of(&[Duration::from_secs(1)]);
    let floor = |proposal: &Proposal| proposal.wanted.map(|wanted| wanted.floor);
    (pool.busy, pool.queued) = (10, 0);
    let mut last = None;
    for second in 0..10 {
        last = floor(&decide(&mut slo, second * 1000, pool));
    }
    // Ten at work, give or take one or two, of whom one in a hundred may wait for a fifth of what
    // those under way still take.
    assert_eq!(last, Some(19));
    pool.service = None;
    assert_eq!(floor(&decide(&mut slo, 10_000, pool)), Some(19), "no task ended");
}

#[test]
fn a_start_that_is_nothing_beside_a_task_is_not_planned_for() {
    let floor = |delay| {
        let mut slo = SloConfig { wait_budget: Duration::ZERO, ..SloConfig::default() }.build();
        let service = Statistics::of(&[Duration::from_secs(1)]);
        let pool = PoolSnapshot { spawn_delay: Some(delay), service, busy: 10, ..full(64) };
        let pool = PoolSnapshot { queued: 0, ..pool };
        let last = (0..10).map(|second| decide(&mut slo, second * 1000, pool)).last();
        last.and_then(|proposal| proposal.wanted).map(|wanted| wanted.floor)
    };
    assert_eq!(floor(Duration::from_micros(100)), Some(0));
    assert!(Some(10) < floor(Duration::from_millis(20)));
}

#[test]
fn a_few_small_tasks_do_not_make_a_start_worth_planning_for() {
    let mut slo = SloConfig { wait_budget: Duration::ZERO, ..SloConfig::default() }.build();
    let (delay, second) = (Duration::from_micros(100), Duration::from_secs(1));
    let mut pool = PoolSnapshot { spawn_delay: Some(delay), busy: 10, queued: 0, ..full(64) };
    let mut logs = LogSums::default();
    let mut floor =
        |pool, tick: u64| decide(&mut slo, tick * 200, pool).wanted.map(|wanted| wanted.floor);
    for tick in 0..500 {
        (0..2).for_each(|_| logs.add(second));
        pool.counters.completed += 2;
        (pool.service_logs, pool.service) = (Some(logs), Statistics::of(&[second]));
        assert_eq!(floor(pool, tick), Some(0), "after {tick} ticks");
    }
    // The one that ended last took hardly any time; then for a while none ends.
    for service in [Statistics::of(&[Duration::from_millis(1)]), None] {
        for tick in 500..600 {
            assert_eq!(floor(PoolSnapshot { service, ..pool }, tick), Some(0), "{service:?}");
        }
    }
}

#[test]
fn no_number_breaks_it() {
    // Every tick a pool of odd numbers, at an odd time; what is remembered can be read back.
    let mut slo = SloConfig { trust_start: 4, ..SloConfig::default() }.build();
    let mut dice = 0x9E37_79B9_7F4A_7C15_u64;
    let mut pick = |from: [u64; 6]| {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        from[usize::try_from(dice % 6).expect("below six")]
    };
    let floats = [0.0, -1.0, f64::NAN, f64::INFINITY, f64::MAX, 1e-300].map(f64::to_bits);
    for tick in 0..20_000_u64 {
        let workers = pick([0, 1, 3, 64, 4000, u64::from(u32::MAX)]);
        let mut pool = full(u32::try_from(workers).expect("as many as can be said"));
        pool.counters.completed = pick([0, tick * 100, tick * 100, tick * 100, u64::MAX, 7]);
        pool.counters.failed = pick([0, tick * 10, tick * 90, tick, u64::MAX, 2]);
        let sums = [pick(floats), pick(floats)].map(f64::from_bits);
        let count = pick([0, tick * 100, tick * 100, tick * 90, u64::MAX, 5]);
        let logs = LogSums { count, sum: sums[0], sum_of_squares: sums[1] };
        pool.service_logs = (pick([0, 1, 2, 3, 4, 5]) < 4).then_some(logs);
        let scv = f64::from_bits(pick(floats));
        let mean = Duration::from_nanos(pick([0, 1, 1_000_000, 100_000_000, 1 << 60, u64::MAX]));
        let service = Statistics { mean, scv, ..Statistics::default() };
        pool.service = (pick([0, 1, 2, 3, 4, 5]) < 4).then_some(service);
        let millis = pick([tick * 200, tick * 200, tick * 200, tick * 200, 0, u64::MAX]);
        assert!(1 <= ceiling(&decide(&mut slo, millis, pool)), "at tick {tick}");

        let mut notes = Notes::default();
        slo.save(&mut notes);
        let mut successor = SloConfig { trust_start: 4, ..SloConfig::default() }.build();
        assert_eq!(successor.load(&mut notes.reader()), Some(()), "at tick {tick}");
    }
}
