//! A policy through a made-up half hour.
//!
//! Time is virtual and the load is a fluid, so it is over at once and the same every time. Work
//! comes in, each worker does one second of it a second, what is left waits.

use std::io::Write;
use std::time::Duration;

use headcount_core::guard::HealthBrake;
use headcount_core::health::Health;
use headcount_core::{
    Autoscaler, Decision, GuardsConfig, LogSums, Observation, Policy, PolicyConfig, PoolSnapshot,
    Staffing, Statistics, Timestamp,
};

use crate::Stop;
use crate::command::preset;

/// How long one task takes.
const SERVICE: Duration = Duration::from_millis(100);
/// How long the story is.
const STORY: Duration = Duration::from_secs(1800);
/// The most workers in the story.
const WORKERS_MAX: u32 = 24;
/// How often a line is printed even if nothing happens.
const LINE_EVERY: Duration = Duration::from_secs(120);

pub(super) fn run(name: &str, is_full: bool, out: &mut impl Write) -> Result<(), Stop> {
    let preset = preset(name)?;
    // Every policy looks after the machine here, or its bad two minutes would go unseen.
    let guards = GuardsConfig { health: Some(HealthBrake::default()), ..GuardsConfig::default() };
    let config = PolicyConfig { workers_max: Some(WORKERS_MAX), guards, ..PolicyConfig::default() };
    let policy = Policy::check(&config.or(preset.config()), WORKERS_MAX).map_err(|faults| {
        let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
        Stop::Misused(format!("{} cannot be run: {}", preset.name(), faults.join("; ")))
    })?;
    writeln!(out, "{}: {}", preset.name(), preset.about())?;
    writeln!(out, "A quiet start, a rush from 5:00 to 15:00, a sick machine from 20:00 to 22:00.")?;
    writeln!(
        out,
        "load: workers that the tasks keep busy; waiting: tasks; 2..8: from 2 to 8 workers"
    )?;
    writeln!(out, "\n time  load  busy/live  waiting  decision")?;

    let mut story = Story { autoscaler: policy.build(), pool: Pool::new(policy.bounds().min) };
    let mut now = Duration::ZERO;
    let mut next_line = Duration::ZERO;
    let mut was_held = false;
    while now < STORY {
        now += policy.tick();
        let seen = story.pool.work(load_at(now), policy.tick());
        let decision = story.tick(now);
        // Every change is told, the first tick of each time that one is held back, and now and then
        // that nothing happens.
        let is_held = decision.is_suppressed();
        if decision.resize().is_some() || (is_held && !was_held) || next_line <= now {
            next_line = now + LINE_EVERY;
            write_line(now, &seen, &decision, (is_full, &mut *out))?;
        }
        was_held = is_held;
    }
    let stats = story.autoscaler.stats();
    writeln!(
        out,
        "\n{} decisions; grown: {}, shrunk: {}, held back: {}; {} to {} workers",
        stats.evaluations,
        stats.grows,
        stats.shrinks,
        stats.suppressed,
        stats.live_least.unwrap_or_default(),
        stats.live_peak.unwrap_or_default()
    )?;
    Ok(())
}

/// An autoscaler and its pool.
struct Story {
    autoscaler: Autoscaler,
    pool: Pool,
}

impl Story {
    fn tick(&mut self, now: Duration) -> Decision {
        let at = Timestamp::ORIGIN + now;
        let mut observation = Observation::new(at, self.pool.snapshot);
        let score = if is_sick_at(now) { 20.0 } else { 95.0 };
        observation.health = Some(Health { measured_at: at, score, worst: None });
        let decision = self.autoscaler.tick(&observation);
        if let Some(staffing) = decision.resize() {
            self.pool.resize(staffing);
            self.autoscaler.applied(&decision);
        }
        decision
    }
}

/// The pool as it was seen, and what was decided about it.
fn write_line(
    now: Duration,
    pool: &PoolSnapshot,
    decision: &Decision,
    (is_full, out): (bool, &mut impl Write),
) -> Result<(), Stop> {
    let (minutes, seconds) = (now.as_secs() / 60, now.as_secs() % 60);
    write!(out, "{minutes:>2}:{seconds:02} {:>5.1}", load_at(now))?;
    write!(out, " {:>5}/{:<4} {:>8}  ", pool.busy, pool.live, pool.queued)?;
    match is_full {
        true => writeln!(out, "{}", decision.explain_fully())?,
        false => writeln!(out, "{}", decision.explain())?,
    }
    Ok(())
}

/// The workers that the load keeps busy.
fn load_at(now: Duration) -> f64 {
    match now.as_secs() {
        300..900 => 9.5,
        _ => 1.5,
    }
}

fn is_sick_at(now: Duration) -> bool {
    (1200..1320).contains(&now.as_secs())
}

/// A pool without tasks of its own: a fluid.
struct Pool {
    snapshot: PoolSnapshot,
    waiting: f64,
    idle: Duration,
}

impl Pool {
    fn new(workers: u32) -> Self {
        let staffing = Staffing::between(workers, WORKERS_MAX);
        let service_logs = Some(LogSums::default());
        let snapshot = PoolSnapshot { service_logs, ..PoolSnapshot::of(staffing) };
        Self {
            snapshot: PoolSnapshot { ceiling: workers, ..snapshot },
            waiting: 0.0,
            idle: Duration::ZERO,
        }
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Small and not negative.
    fn work(&mut self, load: f64, step: Duration) -> PoolSnapshot {
        let seconds = step.as_secs_f64();
        let tasks = |work: f64| (work / SERVICE.as_secs_f64()) as u64;
        self.hire();
        self.waiting += load * seconds;
        let pool = &mut self.snapshot;
        let done = self.waiting.min(f64::from(pool.live) * seconds);
        self.waiting -= done;
        pool.busy = ((done / seconds - 1e-9).ceil() as u32).min(pool.live);
        pool.parked = pool.live - pool.busy;
        self.idle = if pool.parked == 0 { Duration::ZERO } else { self.idle + step };
        pool.longest_idle = (0 < pool.parked).then_some(self.idle);
        pool.queued = tasks(self.waiting);
        pool.counters.submitted += tasks(load * seconds);
        pool.counters.started += tasks(done);
        pool.counters.completed += tasks(done);
        let wait = Duration::from_secs_f64(self.waiting / load);
        pool.wait = Statistics::of(&[wait]);
        pool.service = Statistics::of(&[SERVICE]);
        let logs = pool.service_logs.get_or_insert_default();
        (0..tasks(done)).for_each(|_| logs.add(SERVICE));
        self.snapshot
    }

    /// The inner loop in its simplest form: up to the ceiling for what waits, down when idle.
    fn hire(&mut self) {
        let pool = &mut self.snapshot;
        if 0.0 < self.waiting && pool.live < pool.ceiling {
            pool.live += 1;
        }
        if Duration::from_secs(1) < self.idle && pool.floor < pool.live {
            pool.live -= 1;
        }
    }

    fn resize(&mut self, staffing: Staffing) {
        let pool = &mut self.snapshot;
        (pool.floor, pool.ceiling) = (staffing.floor, staffing.ceiling);
        pool.live = pool.live.clamp(pool.floor, pool.ceiling);
        pool.busy = pool.busy.min(pool.live);
    }
}
