//! Each decider around a toy plant: it settles under a constant load, and stays there.
//!
//! The plant is fluid: so much work comes in a second, each worker does one second of it a second,
//! the rest waits. Its size follows what was decided some ticks late, or what is observed of it is
//! some ticks old. Delays of 0 to 3 ticks are tried, at the gains that each decider documents.

use std::collections::VecDeque;
use std::time::Duration;

use headcount_core::decide::{
    Aimd, AllBusy, Backlog, Combine, CompositeConfig, DeciderConfig, HealthZones, PartConfig,
    PidConfig, QueueDepth, Rule, ScheduleConfig, ShiftConfig, SloConfig, Step, Target, Threshold,
};
use headcount_core::guard::Cooldown;
use headcount_core::health::Health;
use headcount_core::signal::Source;
use headcount_core::{
    Autoscaler, Calendar, GuardsConfig, LogSums, Name, Observation, Policy, PolicyConfig,
    PoolSnapshot, Preset, SignalConfig, Staffing, Statistics, Timestamp, Weekday,
};

/// How long one task takes.
const SERVICE: Duration = Duration::from_millis(100);
/// What is tried: less than one worker's worth, whole ones, broken ones, many.
const LOADS: [f64; 6] = [0.4, 1.0, 3.0, 7.3, 20.0, 55.5];

/// What comes late.
#[derive(Clone, Copy, Debug)]
enum Lag {
    /// The size follows what was decided so many ticks late.
    Size(usize),
    /// The pool is observed as it was so many ticks ago.
    Sight(usize),
}

/// A fluid pool.
struct Plant {
    load: f64,
    lag: Lag,
    ordered: VecDeque<Staffing>,
    seen: VecDeque<PoolSnapshot>,
    waiting: f64,
    idle: Duration,
    second: u64,
    pool: PoolSnapshot,
}

impl Plant {
    fn new(load: f64, lag: Lag, size: u32) -> Self {
        let staffing = Staffing::exactly(size);
        let pool =
            PoolSnapshot { service_logs: Some(LogSums::default()), ..PoolSnapshot::of(staffing) };
        let late = match lag {
            Lag::Size(ticks) => ticks,
            Lag::Sight(_) => 0,
        };
        let ordered = std::iter::repeat_n(staffing, late).collect();
        Self {
            load,
            lag,
            ordered,
            seen: VecDeque::new(),
            waiting: 0.0,
            idle: Duration::ZERO,
            second: 0,
            pool,
        }
    }

    /// A second goes by.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn run(&mut self) -> Observation {
        self.second += 1;
        let offered = self.waiting + self.load;
        let done = offered.min(f64::from(self.pool.live));
        self.waiting = offered - done;
        let busy = (done - 1e-9).ceil().max(0.0) as u32;
        self.idle = match busy < self.pool.live {
            true => self.idle + Duration::from_secs(1),
            false => Duration::ZERO,
        };
        self.pool.busy = busy;
        self.pool.parked = self.pool.live - busy;
        self.pool.queued = (self.waiting / SERVICE.as_secs_f64()) as u64;
        self.pool.longest_idle = (busy < self.pool.live).then_some(self.idle);
        let tasks = |work: f64| (work / SERVICE.as_secs_f64()) as u64;
        self.pool.counters.submitted += tasks(self.load);
        self.pool.counters.started += tasks(done);
        self.pool.counters.completed += tasks(done);
        self.pool.service = Statistics::of(&[SERVICE; 3]);
        let wait = Duration::from_secs_f64(self.waiting / self.load.max(1e-9));
        self.pool.wait = Statistics::of(&[wait; 3]);
        let logs = self.pool.service_logs.get_or_insert_default();
        let log = SERVICE.as_secs_f64().ln();
        logs.count += tasks(done);
        logs.sum += tasks(done) as f64 * log;
        logs.sum_of_squares += tasks(done) as f64 * log * log;
        self.observe()
    }

    fn observe(&mut self) -> Observation {
        let now = Timestamp::from_secs(self.second);
        self.seen.push_back(self.pool);
        let old = match self.lag {
            Lag::Sight(ticks) if ticks < self.seen.len() - 1 => self.seen.pop_front(),
            Lag::Sight(_) => self.seen.front().copied(),
            Lag::Size(_) => self.seen.pop_front(),
        };
        let old = old.expect("the pool was seen just now");
        let pool = PoolSnapshot { floor: self.pool.floor, ceiling: self.pool.ceiling, ..old };
        let mut observation = Observation::new(now, pool);
        observation.health = Some(Health { measured_at: now, score: 50.0, worst: None });
        observation.calendar = Calendar::new(Weekday::Monday, 12, 0);
        observation
    }

    /// The size follows: at once, or late.
    fn follow(&mut self, staffing: Staffing) {
        (self.pool.floor, self.pool.ceiling) = (staffing.floor, staffing.ceiling);
        self.ordered.push_back(staffing);
        let reached = self.ordered.pop_front().expect("an order was pushed just now");
        let before = self.pool.live;
        self.pool.live = before.clamp(reached.floor, reached.ceiling);
    }
}

/// Runs so many hours and returns the sizes of the last twenty minutes, and what waited at the end.
fn settle(autoscaler: &mut Autoscaler, mut plant: Plant, hours: usize) -> (Vec<u32>, f64) {
    let mut sizes = Vec::new();
    for _ in 0..hours * 3600 {
        let observation = plant.run();
        let decision = autoscaler.tick(&observation);
        let staffing = decision.resize().unwrap_or(decision.from);
        if decision.resize().is_some() {
            autoscaler.applied(&decision);
        }
        plant.follow(staffing);
        sizes.push(plant.pool.live);
    }
    (sizes.split_off(hours * 3600 - 1200), plant.waiting)
}

fn policy(decider: DeciderConfig, cooldown: u64) -> Policy {
    let seconds = Duration::from_secs(cooldown);
    let config = PolicyConfig {
        workers_min: Some(1),
        workers_max: Some(200),
        decider: Some(decider),
        guards: GuardsConfig {
            cooldown: Some(Cooldown::new(seconds, seconds)),
            ..GuardsConfig::default()
        },
        ..PolicyConfig::default()
    };
    Policy::check(&config, 8).expect("the policy is right")
}

fn check(decider: &DeciderConfig, lag: Lag, cooldown: u64) {
    let plants = LOADS.map(|load| (load, lag));
    check_policy(&policy(decider.clone(), cooldown), decider.name(), &plants, 1);
}

/// Settles within one worker of somewhere, with nothing left to pile up, from below and above.
fn check_policy(policy: &Policy, name: &str, plants: &[(f64, Lag)], hours: usize) {
    for &(load, lag) in plants {
        for start in [1, 16] {
            let (sizes, waiting) = settle(&mut policy.build(), Plant::new(load, lag, start), hours);
            let (least, most) =
                (sizes.iter().min().expect("sizes"), sizes.iter().max().expect("sizes"));
            let told = format!("{name} load {load} from {start}, {lag:?}");
            assert!(most - least <= 2, "{told}: swings from {least} to {most}");
            assert!(load <= f64::from(*most), "{told}: settles at {most}, below the load");
            assert!(waiting < 200.0, "{told}: {waiting} s of work wait at the end");
        }
    }
}

/// Deciders that take steps, under a cooldown of one tick more than sight is late.
fn stepping() -> Vec<DeciderConfig> {
    vec![
        DeciderConfig::Threshold(Threshold::default()),
        DeciderConfig::AllBusy(AllBusy::default()),
        DeciderConfig::QueueDepth(QueueDepth::default()),
        DeciderConfig::Aimd(Aimd::default()),
        DeciderConfig::Aimd(Aimd { grow_step: 2, ..Aimd::default() }),
    ]
}

/// Deciders that go where they want to be.
fn naming() -> Vec<DeciderConfig> {
    let both = |combine| {
        DeciderConfig::Composite(CompositeConfig {
            combine,
            parts: vec![
                PartConfig::of(DeciderConfig::Target(Target::default())),
                PartConfig::of(DeciderConfig::Backlog(Backlog::default())),
            ],
        })
    };
    vec![
        DeciderConfig::Pid(PidConfig::default()),
        DeciderConfig::Target(Target::default()),
        DeciderConfig::Backlog(Backlog::default()),
        both(Combine::Max),
        both(Combine::Weighted),
        both(Combine::First),
        both(Combine::Min),
        both(Combine::Veto),
    ]
}

#[test]
fn every_decider_settles_while_its_pool_follows_late() {
    for ticks in 0..=3 {
        for decider in stepping().iter().chain(&naming()) {
            check(decider, Lag::Size(ticks), 0);
        }
    }
}

#[test]
fn every_decider_settles_on_old_sights_at_its_documented_gain() {
    for ticks in 0..=3 {
        let cooldown = ticks as u64 + 1;
        for decider in stepping() {
            check(&decider, Lag::Sight(ticks), cooldown);
        }
        for decider in naming() {
            check(&decider, Lag::Sight(ticks), 0);
        }
    }
}

#[test]
fn every_preset_settles() {
    // Those that only say how far the pool may go by itself, and the one that health alone moves.
    const OTHERS: [&str; 5] = ["slo", "throughput", "syshealth", "on_demand", "pond"];
    // Those that never rest: up or down in every period, to three every minute, in waves.
    const RESTLESS: [&str; 3] = ["horizon", "envoy", "hill_climb"];
    let presets = Preset::all();
    let fed_back = presets
        .iter()
        .filter(|preset| !OTHERS.contains(&preset.name()) && !RESTLESS.contains(&preset.name()));
    for (preset, ticks) in fed_back.flat_map(|preset| (0..=3).map(move |ticks| (preset, ticks))) {
        let config = PolicyConfig { workers_max: Some(60), ..PolicyConfig::default() };
        let policy = Policy::check(&config.or(preset.config()), 8).expect("presets are right");
        let plants = [0.4, 7.3, 20.0].map(|load| (load, Lag::Size(ticks)));
        check_policy(&policy, preset.name(), &plants, 2);
    }
}

#[test]
fn a_step_that_is_too_long_for_its_delay_does_swing() {
    // A band that one step jumps across, which no documentation allows: the check can fail.
    let utilization = Name::new("utilization").expect("a name");
    let rash = Threshold {
        grow_when_any: vec![Rule::above(utilization, 0.8)],
        shrink_when_all: vec![Rule::below(utilization, 0.7)],
        grow_step: Step::Multiply(2.0),
        shrink_step: Step::Multiply(2.0),
    };
    let policy = policy(DeciderConfig::Threshold(rash), 0);
    let (sizes, _) = settle(&mut policy.build(), Plant::new(20.0, Lag::Sight(3), 1), 1);
    let (least, most) = (sizes.iter().min(), sizes.iter().max());
    assert!(least.map(|least| least + 2) < most.copied(), "swings between {least:?} and {most:?}");
}

#[test]
fn deciders_without_feedback_hold_still() {
    let schedule = ScheduleConfig {
        shifts: vec![ShiftConfig { days: vec![], from_second: 0, to_second: 0, workers: 60 }],
    };
    let zones = DeciderConfig::HealthZones(HealthZones::default());
    for (decider, size) in [(DeciderConfig::Schedule(schedule), 60), (zones, 100)] {
        for ticks in 0..=3 {
            let plant = Plant::new(7.3, Lag::Size(ticks), 1);
            let (sizes, _) = settle(&mut policy(decider.clone(), 0).build(), plant, 1);
            assert!(sizes.iter().all(|n| *n == size), "{} holds {size}", decider.name());
        }
    }
}

#[test]
fn slo_leaves_a_healthy_pool_to_its_inner_loop() {
    for ticks in 0..=3 {
        let slo = DeciderConfig::Slo(SloConfig::default());
        let mut autoscaler = policy(slo, 0).build();
        let plant = Plant::new(20.0, Lag::Size(ticks), 30);
        let (sizes, waiting) = settle(&mut autoscaler, plant, 1);
        assert_eq!((sizes.iter().min(), sizes.iter().max()), (Some(&30), Some(&30)));
        assert!(waiting < 1.0);
    }
}

/// An integral controller whose reading is `delay` ticks late, at such a gain: its deviation from
/// where it should rest, tick by tick, as a multiple of the one it began with.
fn deviations(delay: usize, gain: f64) -> Vec<f64> {
    const REST: f64 = 1e6;
    let name = Name::new("reading").expect("a name");
    let pid = PidConfig { signal: name, setpoint: 1.0, kp: 0.0, ki: gain, kd: 0.0 };
    let source = Source::External(name);
    let config = PolicyConfig {
        workers_max: Some(Policy::WORKERS_MAX),
        signals: Some(vec![SignalConfig { name, source, smoothing: vec![] }]),
        decider: Some(DeciderConfig::Pid(pid)),
        ..PolicyConfig::default()
    };
    let mut decider = match Policy::check(&config, 8) {
        Ok(_) => pid.build(),
        Err(faults) => panic!("{faults:?}"),
    };
    let mut size = REST * 1.001;
    let mut past: VecDeque<f64> = std::iter::repeat_n(size, delay).collect();
    let mut deviations = Vec::new();
    for second in 0..600 {
        past.push_back(size);
        let seen = past.pop_front().expect("as many as the delay");
        size = propose(&mut decider, second, size, REST / seen);
        deviations.push((size / REST - 1.0) / 0.001);
    }
    deviations
}

/// The largest deviation after 500 ticks.
fn swing(delay: usize, gain: f64) -> f64 {
    deviations(delay, gain)[500..].iter().fold(0.0, |worst: f64, d| worst.max(d.abs()))
}

/// How far it went past its rest.
fn overshoot(delay: usize, gain: f64) -> f64 {
    deviations(delay, gain).iter().fold(0.0, |most: f64, d| most.max(-d))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn propose(decider: &mut headcount_core::decide::Pid, second: u64, size: f64, reading: f64) -> f64 {
    use headcount_core::decide::Decider;
    use headcount_core::signal::{Reading, Unit};
    use headcount_core::{History, Reason, Situation};
    let pool = PoolSnapshot::of(Staffing::exactly(size as u32));
    let observation = Observation::new(Timestamp::from_secs(second), pool);
    let name = Name::new("reading").expect("a name");
    let readings =
        [Reading { name, unit: Unit::Number, reason: Reason::SetPoint, value: Some(reading) }];
    let history = History::default();
    let situation = Situation { observation: &observation, readings: &readings, history: &history };
    let wanted = decider.decide(&situation).wanted.expect("it has a reading");
    f64::from(wanted.ceiling)
}

#[test]
fn the_stability_bound_is_two_sine_of_pi_over_two_times_two_d_plus_one() {
    for delay in 0..=3_u32 {
        let bound = 2.0 * (std::f64::consts::PI / f64::from(2 * (2 * delay + 1))).sin();
        let below = swing(delay as usize, bound * 0.97);
        let above = swing(delay as usize, bound * 1.03);
        assert!(below < 0.9, "delay {delay}: a gain below {bound} leaves {below} of the error");
        assert!(1.1 < above, "delay {delay}: a gain above {bound} leaves {above} of the error");
    }
}

#[test]
fn below_the_monotone_gain_nothing_overshoots() {
    let limits = [1.0, 0.25, 4.0 / 27.0, 27.0 / 256.0];
    for (delay, limit) in limits.into_iter().enumerate() {
        // A worker of a million is a thousandth of where it began.
        assert!(swing(delay, limit) < 1e-2, "delay {delay} at {limit} comes to rest");
        assert!(overshoot(delay, limit) < 5e-3, "delay {delay} at {limit} does not overshoot");
        let above = overshoot(delay, limit * 1.5);
        assert!(1e-2 < above, "delay {delay} at half as much again does: {above}");
    }
}
