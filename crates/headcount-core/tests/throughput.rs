//! `throughput` on a heap of work: how soon it has enough workers, and whether it stops in time.

mod dice;

use std::time::Duration;

use headcount_core::{
    Autoscaler, Decision, LogSums, Name, Observation, Policy, PolicyConfig, PoolSnapshot, Preset,
    Staffing, Timestamp,
};

use dice::Dice;

const STEP: Duration = Duration::from_millis(1);
const TICK_STEPS: u64 = 25;
const WORKERS_MAX: u32 = 256;

/// How tasks differ.
#[derive(Clone, Copy, Debug)]
enum Sizes {
    Alike,
    /// By up to half, in a fixed pattern.
    Pattern,
    /// By chance, as those do that end at any moment alike.
    Exponential,
}

/// What the workers stand in front of.
#[derive(Clone, Copy)]
struct World {
    /// What a task takes at rest, in steps.
    service: f64,
    /// How many are served at once without anybody noticing.
    knee: f64,
    /// Twice as many take two to this as long; 1 is a queue, more is a crowd.
    steepness: f64,
    /// Whether those beyond the knee are refused at once in place of slowed down.
    refuses: bool,
    sizes: Sizes,
    cpu_fill: Option<f64>,
    cpu_busy: Option<f64>,
}

impl World {
    fn of(service: f64, knee: f64) -> Self {
        let (refuses, sizes) = (false, Sizes::Alike);
        let (cpu_fill, cpu_busy) = (None, None);
        Self { service, knee, steepness: 1.0, refuses, sizes, cpu_fill, cpu_busy }
    }
}

struct Plant {
    world: World,
    pool: PoolSnapshot,
    /// Of each task that runs: steps of work left, and when it began.
    tasks: Vec<(f64, u64)>,
    /// Steps that it takes to hire one.
    hiring: u64,
    /// Steps from one tick to the next.
    tick_steps: u64,
    now: u64,
    begun: u64,
    dice: Dice,
}

impl Plant {
    fn new(world: World) -> Self {
        let pool = PoolSnapshot::of(Staffing::between(1, 1));
        let pool = PoolSnapshot { service_logs: Some(LogSums::default()), queued: 100, ..pool };
        let dice = Dice::new(7);
        let (tasks, tick_steps) = (Vec::new(), TICK_STEPS);
        Self { world, pool, tasks, hiring: 0, tick_steps, now: 0, begun: 0, dice }
    }

    fn step(&mut self) {
        self.now += 1;
        let World { knee, steepness, refuses, .. } = self.world;
        let crowd = (self.tasks.len() as f64 / knee).max(1.0);
        let speed = if refuses { 1.0 } else { crowd.powf(-steepness) };
        let logs = self.pool.service_logs.get_or_insert_default();
        let (now, counters) = (self.now, &mut self.pool.counters);
        self.tasks.retain_mut(|(left, began)| {
            *left -= speed;
            if *left <= 0.0 {
                let is_refused = *left < -1e6;
                counters.completed += 1;
                counters.failed += u64::from(is_refused);
                logs.add(STEP * u32::try_from(now - *began).expect("short").max(1));
            }
            0.0 < *left
        });
        let at_work = u32::try_from(self.tasks.len()).expect("few");
        let hired = match self.hiring {
            0 => self.pool.ceiling,
            hiring if now % hiring == 0 => self.pool.live + 1,
            _ => self.pool.live,
        };
        self.pool.live = hired.min(self.pool.ceiling).max(at_work);
        for _ in at_work..self.pool.live {
            self.begin();
        }
        self.pool.busy = u32::try_from(self.tasks.len()).expect("few");
    }

    /// One step, and what follows from it when it is time for a tick.
    fn step_under(&mut self, autoscaler: &mut Autoscaler) {
        self.step();
        if self.now.is_multiple_of(self.tick_steps) {
            self.tick_under(autoscaler);
        }
    }

    /// Asks the autoscaler, and goes by what it says.
    fn tick_under(&mut self, autoscaler: &mut Autoscaler) -> Decision {
        let decision = autoscaler.tick(&self.observation());
        if let Some(staffing) = decision.resize() {
            self.pool.ceiling = staffing.ceiling;
            autoscaler.applied(&decision);
        }
        decision
    }

    fn begin(&mut self) {
        self.begun += 1;
        let differs = [0.5, 1.5, 0.75, 1.25, 1.0][usize::try_from(self.begun % 5).expect("few")];
        let times = match self.world.sizes {
            Sizes::Alike => 1.0,
            Sizes::Pattern => differs,
            Sizes::Exponential => -(f64::from(self.dice.below(1_000_000) + 1) / 1e6).ln(),
        };
        let is_refused = self.world.refuses && self.world.knee <= self.tasks.len() as f64;
        let work = if is_refused { -1e7 } else { self.world.service * times };
        self.tasks.push((work, self.now));
    }

    fn observation(&self) -> Observation {
        let at = Timestamp::ORIGIN + STEP * u32::try_from(self.now).expect("short");
        let mut observation = Observation::new(at, self.pool);
        let World { cpu_fill, cpu_busy, .. } = self.world;
        for (name, value) in [("cpu_fill", cpu_fill), ("cpu_busy", cpu_busy)] {
            if let Some(value) = value {
                let name = Name::new(name).expect("a name");
                observation.externals.set(name, value).expect("there is room");
            }
        }
        observation
    }
}

fn autoscaler() -> Autoscaler {
    autoscaler_within(WORKERS_MAX)
}

fn autoscaler_within(workers_max: u32) -> Autoscaler {
    let bounds = PolicyConfig { workers_max: Some(workers_max), ..PolicyConfig::default() };
    Policy::check(&bounds.or(Preset::throughput().config()), 4)
        .expect("the preset is right")
        .build()
}

/// The ceilings after each of some milliseconds.
fn ceilings(world: World, at: &[u64]) -> Vec<u32> {
    let (mut plant, mut autoscaler) = (Plant::new(world), autoscaler());
    let mut seen = Vec::new();
    for now in 1..=*at.last().expect("some time") {
        plant.step_under(&mut autoscaler);
        if at.contains(&now) {
            seen.push(plant.pool.ceiling);
        }
    }
    seen
}

/// After some milliseconds the ceiling lies within bounds.
fn check(world: World, expected: &[(u64, std::ops::RangeInclusive<u32>)]) {
    let times: Vec<u64> = expected.iter().map(|(at, _)| *at).collect();
    let seen = ceilings(world, &times);
    let is_within = expected.iter().zip(&seen).all(|((_, range), size)| range.contains(size));
    assert!(is_within, "{seen:?} at {times:?}, expected {expected:?}");
}

#[test]
fn workers_that_help_are_there_within_seven_tasks() {
    check(World::of(100.0, 1e9), &[(700, 128..=256), (2000, 256..=256)]);
    check(
        World { sizes: Sizes::Pattern, ..World::of(100.0, 1e9) },
        &[(1500, 128..=256), (9000, 200..=256)],
    );
}

/// In the second around each of some milliseconds, the ceiling usually lies within bounds, and no
/// try, which is short, goes beyond them by more than a quarter.
fn check_usual(world: World, expected: &[(u64, std::ops::RangeInclusive<u32>)]) {
    for (at, range) in expected {
        let ticks: Vec<u64> = (at - 500..at + 500).filter(|n| n % TICK_STEPS == 0).collect();
        let mut seen = ceilings(world, &ticks);
        seen.sort_unstable();
        let usual = seen[seen.len() / 2];
        assert!(range.contains(&usual), "{usual} around {at} ms, expected {range:?}; {seen:?}");
        let (fewest, most) = (seen[0], seen[seen.len() - 1]);
        let is_near = 3 * range.start() <= 4 * fewest && 4 * most <= 5 * range.end();
        assert!(is_near, "{fewest} to {most} around {at} ms, expected {range:?}");
    }
}

#[test]
fn it_stops_at_a_knee_and_stays_there() {
    check_usual(World::of(50.0, 12.0), &[(1500, 10..=24), (5000, 10..=18), (20_000, 10..=18)]);
    let crowd = World { steepness: 1.5, ..World::of(50.0, 12.0) };
    check_usual(crowd, &[(1500, 10..=24), (5000, 10..=16), (20_000, 10..=16)]);
    check_usual(World { sizes: Sizes::Pattern, ..crowd }, &[(5000, 9..=18), (20_000, 9..=18)]);
}

/// How many times as long a heap takes as with as many workers as the knee says, which is `millis`.
fn slowdown_of(mut plant: Plant, millis: f64) -> f64 {
    let heap = millis * plant.world.knee / plant.world.service;
    let mut autoscaler = autoscaler();
    while (plant.pool.counters.completed as f64) < heap {
        plant.step_under(&mut autoscaler);
    }
    plant.now as f64 / millis
}

/// The same at worst and on average over many knees.
fn slowdown(sizes: Sizes, millis: f64) -> (f64, f64) {
    let slowdowns = (6..=32).map(|knee| {
        let world = World { steepness: 1.5, sizes, ..World::of(50.0, f64::from(knee)) };
        slowdown_of(Plant::new(world), millis)
    });
    let all: Vec<f64> = slowdowns.collect();
    (all.iter().copied().fold(0.0, f64::max), all.iter().sum::<f64>() / all.len() as f64)
}

#[test]
fn a_heap_takes_little_longer_than_with_the_right_number() {
    let check = |sizes, millis, worst_max, mean_max| {
        let (worst, mean) = slowdown(sizes, millis);
        let is_little = worst < worst_max && mean < mean_max;
        assert!(is_little, "{sizes:?}, {millis} ms: {worst} at worst, {mean} on average");
    };
    check(Sizes::Alike, 6e3, 1.2, 1.13);
    check(Sizes::Alike, 6e4, 1.06, 1.03);
    check(Sizes::Pattern, 6e4, 1.08, 1.05);
    check(Sizes::Exponential, 6e4, 1.3, 1.15);
}

#[test]
fn tasks_that_differ_seldom_end_the_ramp_by_chance() {
    let world = World { sizes: Sizes::Exponential, ..World::of(100.0, 140.0) };
    let slowdowns = (0..40).map(|seed| {
        // As often as a driver looks while something happens.
        let plant = Plant { tick_steps: 6, dice: Dice::new(seed), ..Plant::new(world) };
        slowdown_of(plant, 3e3)
    });
    let mut all: Vec<f64> = slowdowns.collect();
    all.sort_by(f64::total_cmp);
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    assert!(all[36] < 1.3 && mean < 1.4, "{mean} on average of {all:?}");
}

#[test]
fn a_generation_is_over_when_its_tasks_are() {
    let plant = Plant { tick_steps: 6, ..Plant::new(World::of(100.0, 140.0)) };
    let slowdown = slowdown_of(plant, 2e3);
    assert!(slowdown < 1.22, "{slowdown}: four, twelve, thirty-six and enough");
}

#[test]
fn it_never_has_far_more_than_help() {
    let every: Vec<u64> = (1..200).map(|tick| tick * TICK_STEPS).collect();
    for world in [World::of(50.0, 12.0), World { sizes: Sizes::Pattern, ..World::of(80.0, 20.0) }] {
        let most = ceilings(world, &every).into_iter().max().expect("some");
        assert!(f64::from(most) <= 4.0 * world.knee, "{most} for {}", world.knee);
    }
}

#[test]
fn refusals_stop_it_too() {
    let world = World { refuses: true, ..World::of(50.0, 12.0) };
    check(world, &[(3000, 6..=18), (20_000, 6..=18)]);
}

#[test]
fn known_cores_end_the_ramp_without_a_try() {
    let world = World { cpu_fill: Some(4.2), ..World::of(40.0, 4.0) };
    check(world, &[(100, 4..=4), (300, 4..=5)]);
}

#[test]
fn while_nothing_ends_idle_processors_let_it_grow() {
    let long = World { cpu_busy: Some(0.1), ..World::of(60_000.0, 1e9) };
    check(long, &[(900, 4..=4), (2200, 8..=16), (9000, 64..=64)]);
    let computing = World { cpu_busy: Some(0.99), ..long };
    check(computing, &[(9000, 4..=4)]);
    check(World { cpu_busy: None, ..long }, &[(9000, 4..=4)]);
}

/// The ceilings that are asked for over some minutes within eight workers, then over some more
/// after the knee has come down to four.
fn within_eight(world: World) -> [Vec<u32>; 2] {
    let (mut plant, mut autoscaler) = (Plant::new(world), autoscaler_within(8));
    let mut asked = [Vec::new(), Vec::new()];
    for now in 1..=600_000_u64 {
        let is_later = 300_000 < now;
        if is_later {
            plant.world.knee = 4.0;
        }
        plant.step();
        if now % TICK_STEPS == 0 {
            let decision = plant.tick_under(&mut autoscaler);
            if let Some(wanted) = decision.proposal.wanted {
                asked[usize::from(is_later)].push(wanted.ceiling);
            }
        }
    }
    asked
}

#[test]
fn what_bounds_keep_from_it_is_not_asked_for_ever_more() {
    let plain = World { sizes: Sizes::Pattern, ..World::of(50.0, 1e9) };
    for world in [World { cpu_fill: Some(6.0), ..plain }, World { cpu_fill: Some(30.0), ..plain }] {
        let [before, after] = within_eight(world);
        let most = before.iter().max().expect("some");
        assert!(*most <= 16, "{most} are asked for");
        let last = &after[after.len() - 100..];
        assert!(last.iter().all(|size| (3..=6).contains(size)), "{last:?}");
    }
}

#[test]
fn a_ramp_that_bounds_hold_back_sees_a_knee_that_comes_later() {
    for sizes in [Sizes::Alike, Sizes::Pattern] {
        let [before, after] = within_eight(World { sizes, ..World::of(50.0, 1e9) });
        assert!(before[before.len() - 100..].iter().all(|size| 8 <= *size));
        let last = &after[after.len() - 100..];
        assert!(last.iter().all(|size| (3..=6).contains(size)), "{last:?}");
    }
}

/// Where each new worker takes its time, a try that doubles them is far from full for long.
#[test]
fn slow_hiring_does_not_end_a_try() {
    let mut plant = Plant { hiring: 10, ..Plant::new(World::of(100.0, 12.0)) };
    let mut autoscaler = autoscaler();
    for now in 1..=60_000_u64 {
        if now == 5000 {
            plant.world.knee = 1e9;
        }
        plant.step_under(&mut autoscaler);
    }
    assert!(200 <= plant.pool.ceiling, "{} where 256 are of use", plant.pool.ceiling);
}

#[test]
fn notes_carry_it_over_a_restart() {
    let (mut plant, mut first) = (Plant::new(World::of(50.0, 12.0)), autoscaler());
    let mut second: Option<Autoscaler> = None;
    for now in 1..=4000_u64 {
        plant.step();
        if now % TICK_STEPS != 0 {
            continue;
        }
        let observation = plant.observation();
        let decision = first.tick(&observation);
        if let Some(other) = &mut second {
            assert_eq!(other.tick(&observation).to, decision.to, "at {now}");
        }
        if let Some(staffing) = decision.resize() {
            plant.pool.ceiling = staffing.ceiling;
            first.applied(&decision);
            if let Some(other) = &mut second {
                other.applied(&decision);
            }
        }
        if now == 2000 {
            let mut other = autoscaler();
            other.restore(&first.save()).expect("its own notes");
            second = Some(other);
        }
    }
}
