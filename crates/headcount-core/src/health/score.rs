//! The score of the machine, from 0, the worst, to 100.
//!
//! Two opinions are asked, and the worse one holds. The weighted sum answers "how strained is the
//! machine as a whole"; each resource past its high threshold answers "can it go on like this".
//!
//! Where a resource has two readings (the load and the kernel's pressure, say) the worse of the
//! two counts, because each is blind where the other sees: I/O wait is idle time, so it vanishes
//! as soon as other work fills the processors; the load average lags by a minute and counts
//! sleepers on a dead disk as load; pressure says that somebody waits but hardly how many. To
//! miss trouble costs more than to slow down for a while.

use std::fmt;

use super::rules::{HealthRules, Thresholds};
use super::vitals::Vitals;
use crate::Timestamp;

/// The state of the machine, as last measured.
///
/// ```
/// use headcount_core::Timestamp;
/// use headcount_core::health::{Health, HealthRules, Resource, Vitals};
///
/// let vitals = Vitals { io_wait: Some(0.54), load_per_core: Some(2.5), ..Vitals::default() };
/// let health = Health::assess(&HealthRules::default(), &vitals, Timestamp::ORIGIN)
///     .expect("something was measured");
/// assert_eq!(health.worst, Some(Resource::Io));
/// assert!(health.score < 34.0, "I/O is past its limit and the processors are halfway there");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Health {
    /// When it was measured.
    pub measured_at: Timestamp,
    /// From 0, the worst, to 100.
    pub score: f64,
    /// The resource that costs the most points. `None`: none is strained.
    pub worst: Option<Resource>,
}

impl Health {
    /// Scores `vitals`, measured at `at`, or returns `None` where nothing was measured.
    ///
    /// A vital that is missing or not finite is left out, and the weights of the others are taken
    /// as the whole. A worse vital never raises the score.
    #[must_use]
    pub fn assess(rules: &HealthRules, vitals: &Vitals, at: Timestamp) -> Option<Self> {
        let strains = strains(rules, vitals);
        let strains = || strains.iter().flatten();
        let weight: f64 = strains().map(|strain| strain.weight).sum();
        let cost = |strain: &Strain| (strain.points * strain.weight / weight).max(strain.cost_min);
        let worst = strains().reduce(|a, b| if cost(a) < cost(b) { b } else { a })?;

        let weighted: f64 = strains().map(|strain| strain.points * strain.weight).sum();
        let score = 100.0 - (weighted / weight).max(worst_alone(strains()));
        Some(Self {
            measured_at: at,
            score: score.clamp(0.0, 100.0),
            worst: (0.0 < cost(worst)).then_some(worst.resource),
        })
    }
}

/// The points that the worst resource costs, however well the others are.
fn worst_alone<'a>(strains: impl Iterator<Item = &'a Strain>) -> f64 {
    strains.map(|strain| strain.cost_min).fold(0.0, f64::max)
}

/// Something that a machine can run out of.
///
/// ```
/// use headcount_core::health::Resource;
///
/// assert_eq!(Resource::DbPool.to_string(), "database connections");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Resource {
    /// Disks.
    Io,
    /// Processors.
    Cpu,
    /// Database connections.
    DbPool,
    /// Memory.
    Memory,
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Io => "disk I/O",
            Self::Cpu => "processors",
            Self::DbPool => "database connections",
            Self::Memory => "memory",
        })
    }
}

/// What one resource has to say.
#[derive(Clone, Copy)]
struct Strain {
    resource: Resource,
    weight: f64,
    /// From 0, at ease, to 100; counted by weight.
    points: f64,
    /// Points that it costs at least, whatever its weight.
    cost_min: f64,
}

/// One vital and what it is measured against.
struct Gauge {
    value: Option<f64>,
    thresholds: Thresholds,
    exhausted: Option<f64>,
}

/// The strain of each resource that was measured and counts.
fn strains(rules: &HealthRules, vitals: &Vitals) -> [Option<Strain>; 4] {
    let at = rules.exhausted();
    let pressure = vitals.pressure;
    let gauge = |value, thresholds, exhausted| Gauge { value, thresholds, exhausted };
    let io = [
        gauge(vitals.io_wait, rules.io_wait, at.map(|e| e.io_wait)),
        gauge(pressure.map(|p| p.io), rules.io_pressure, None),
    ];
    let cpu = [
        gauge(vitals.load_per_core, rules.load_per_core, at.map(|e| e.load_per_core)),
        gauge(pressure.map(|p| p.cpu), rules.cpu_pressure, None),
    ];
    let db_pool = [gauge(vitals.db_pool, rules.db_pool, at.map(|e| e.db_pool))];
    let memory = [
        gauge(vitals.memory, rules.memory, at.map(|e| e.memory)),
        gauge(pressure.map(|p| p.memory), rules.memory_pressure, at.map(|e| e.memory_pressure)),
    ];
    let weights = rules.weights;
    [
        strain(rules, Resource::Io, weights.io, &io),
        strain(rules, Resource::Cpu, weights.cpu, &cpu),
        strain(rules, Resource::DbPool, weights.db_pool, &db_pool),
        strain(rules, Resource::Memory, weights.memory, &memory),
    ]
}

/// The worse of what `gauges` say, or `None` where none says anything or the weight is nothing.
fn strain(
    rules: &HealthRules,
    resource: Resource,
    weight: f64,
    gauges: &[Gauge],
) -> Option<Strain> {
    if !(0.0 < weight && weight.is_finite()) {
        return None;
    }
    let told = gauges.iter().filter_map(|gauge| {
        let value = gauge.value.filter(|value| value.is_finite())?;
        let points = rules.scoring.strain(value, gauge.thresholds);
        let limit = |exhausted| gauge.thresholds.score_max(value, exhausted);
        Some((points, 100.0 - gauge.exhausted.map_or(100.0, limit)))
    });
    let (points, cost_min) = told.reduce(|a, b| (a.0.max(b.0), a.1.max(b.1)))?;
    Some(Strain { resource, weight, points, cost_min })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::{Exhaustion, Pressure, Scoring, Weights, Zone};

    /// A machine of which everything is measured and at ease.
    fn at_ease() -> Vitals {
        Vitals {
            io_wait: Some(0.0),
            load_per_core: Some(0.0),
            memory: Some(0.0),
            db_pool: Some(0.0),
            pressure: None,
        }
    }

    fn assess(rules: &HealthRules, vitals: &Vitals) -> Option<Health> {
        Health::assess(rules, vitals, Timestamp::ORIGIN)
    }

    fn check(rules: &HealthRules, vitals: &Vitals, score: f64) {
        let found = assess(rules, vitals).expect("something was measured").score;
        assert!((found - score).abs() < 1e-9, "{found} instead of {score} for {vitals:?}");
    }

    #[test]
    fn the_stepped_table_is_kept_to_the_edge() {
        // The points that each vital costs: 0, then half of its weight, then all of it.
        type Set = fn(f64) -> Vitals;
        let io: Set = |x| Vitals { io_wait: Some(x), ..at_ease() };
        let cpu: Set = |x| Vitals { load_per_core: Some(x), ..at_ease() };
        let db: Set = |x| Vitals { db_pool: Some(x), ..at_ease() };
        let memory: Set = |x| Vitals { memory: Some(x), ..at_ease() };
        let table = [
            (io, [0.199, 0.20, 0.40, 0.401, 1.0], [0.0, 20.0, 20.0, 40.0, 40.0]),
            (cpu, [1.999, 2.0, 3.0, 3.001, 30.0], [0.0, 15.0, 15.0, 30.0, 30.0]),
            (db, [0.749, 0.75, 0.90, 0.901, 1.0], [0.0, 10.0, 10.0, 20.0, 20.0]),
            (memory, [0.849, 0.85, 0.95, 0.951, 1.0], [0.0, 5.0, 5.0, 10.0, 10.0]),
        ];
        for (set, values, costs) in table {
            for (value, cost) in values.into_iter().zip(costs) {
                check(&HealthRules::syshealth(), &set(value), 100.0 - cost);
            }
        }
    }

    #[test]
    fn stepped_costs_add_up() {
        let vitals = Vitals {
            io_wait: Some(0.54),
            load_per_core: Some(2.5),
            db_pool: Some(0.80),
            memory: Some(0.99),
            pressure: None,
        };
        check(&HealthRules::syshealth(), &vitals, 100.0 - 40.0 - 15.0 - 10.0 - 10.0);
        let worst =
            Vitals { load_per_core: Some(9.0), db_pool: Some(1.0), pressure: None, ..vitals };
        check(&HealthRules::syshealth(), &worst, 0.0);
    }

    #[test]
    fn the_smooth_score_falls_in_a_straight_line_between_the_thresholds() {
        for (io_wait, score) in [(0.20, 100.0), (0.25, 90.0), (0.30, 80.0), (0.40, 60.0)] {
            let vitals = Vitals { io_wait: Some(io_wait), ..at_ease() };
            check(&HealthRules::default(), &vitals, score);
        }
    }

    #[test]
    fn the_smooth_score_never_jumps() {
        let rules = HealthRules::default();
        let score = |memory: f64, io_wait: f64| {
            let vitals = Vitals { memory: Some(memory), io_wait: Some(io_wait), ..at_ease() };
            assess(&rules, &vitals).expect("measured").score
        };
        let step = 1e-4;
        for at in (0..10_000).map(|i| f64::from(i) * step) {
            let jump = (score(at, 0.3) - score(at + step, 0.3)).abs();
            assert!(jump < 0.5, "memory at {at}: a jump of {jump}");
            let jump = (score(0.9, at) - score(0.9, at + step)).abs();
            assert!(jump < 0.5, "I/O wait at {at}: a jump of {jump}");
        }
    }

    #[test]
    fn memory_at_99_percent_is_critical_unless_weights_alone_decide() {
        let vitals = Vitals { memory: Some(0.99), ..at_ease() };
        let limited = assess(&HealthRules::default(), &vitals).expect("measured");
        assert_eq!(Zone::of(limited.score), Zone::Critical);
        assert_eq!(limited.worst, Some(Resource::Memory));
        let rules = HealthRules { exhaustion: Exhaustion::Ignored, ..HealthRules::default() };
        check(&rules, &vitals, 90.0);
    }

    #[test]
    fn each_exhausted_resource_alone_is_critical_just_there() {
        let pressure = |memory| Some(Pressure { cpu: 0.0, io: 0.0, memory });
        let before_and_at = [
            [0.75, 0.80].map(|x| Vitals { io_wait: Some(x), ..at_ease() }),
            [7.5, 8.0].map(|x| Vitals { load_per_core: Some(x), ..at_ease() }),
            [0.99, 1.0].map(|x| Vitals { db_pool: Some(x), ..at_ease() }),
            [0.975, 0.98].map(|x| Vitals { memory: Some(x), ..at_ease() }),
            [0.59, 0.60].map(|x| Vitals { pressure: pressure(x), ..at_ease() }),
        ];
        for [before, at] in before_and_at {
            let zone = |vitals| Zone::of(assess(&HealthRules::default(), vitals).unwrap().score);
            assert_eq!((zone(&before), zone(&at)), (Zone::Warning, Zone::Critical), "{at:?}");
        }
    }

    #[test]
    fn a_busy_machine_is_not_taken_for_an_exhausted_one() {
        let pressure = Some(Pressure { cpu: 1.0, io: 1.0, memory: 0.0 });
        let busy = |cpu, io| Some(Pressure { cpu, io, memory: 0.0 });
        check(&HealthRules::default(), &Vitals { pressure: busy(1.0, 0.0), ..at_ease() }, 70.0);
        check(&HealthRules::default(), &Vitals { pressure: busy(0.0, 1.0), ..at_ease() }, 60.0);
        check(&HealthRules::default(), &Vitals { pressure, ..at_ease() }, 30.0);
    }

    #[test]
    fn the_worse_of_two_readings_counts_and_once_only() {
        let rules = HealthRules::default();
        let pressure = |io| Some(Pressure { cpu: 0.0, io, memory: 0.0 });
        let both =
            |io_wait, io| Vitals { io_wait: Some(io_wait), pressure: pressure(io), ..at_ease() };
        check(&rules, &both(0.3, 0.0), 80.0);
        check(&rules, &both(0.0, 0.6), 80.0);
        check(&rules, &both(0.3, 0.6), 80.0);
        check(&rules, &both(0.3, 0.7), 70.0);
    }

    #[test]
    fn a_missing_vital_leaves_its_weight_to_the_others() {
        let io = Vitals { io_wait: Some(0.30), ..Vitals::default() };
        check(&HealthRules::default(), &io, 50.0);
        let two = Vitals { load_per_core: Some(1.0), ..io };
        check(&HealthRules::default(), &two, 100.0 - 50.0 * 4.0 / 7.0);
        let broken = Vitals { memory: Some(f64::NAN), db_pool: Some(f64::INFINITY), ..two };
        check(&HealthRules::default(), &broken, 100.0 - 50.0 * 4.0 / 7.0);
    }

    #[test]
    fn nothing_measured_is_no_health() {
        let rules = HealthRules::default();
        assert_eq!(assess(&rules, &Vitals::default()), None);
        let broken = Vitals { memory: Some(f64::NAN), ..Vitals::default() };
        assert_eq!(assess(&rules, &broken), None);
        let weights = Weights { io: 1.0, cpu: 0.0, db_pool: 0.0, memory: 0.0 };
        let only_io = HealthRules { weights, ..rules };
        let memory = Vitals { memory: Some(0.99), ..Vitals::default() };
        assert_eq!(assess(&only_io, &memory), None, "what was measured does not count");
    }

    #[test]
    fn a_machine_at_ease_has_no_worst_resource() {
        let health = assess(&HealthRules::default(), &at_ease()).expect("measured");
        assert_eq!((health.score, health.worst), (100.0, None));
    }

    /// Every vital over a grid, every other one at three levels: from one point to the next worse
    /// one the score must not rise.
    #[test]
    fn a_worse_vital_never_raises_the_score() {
        let set: [fn(&mut Vitals, f64); 7] = [
            |v, x| v.io_wait = Some(x),
            |v, x| v.load_per_core = Some(10.0 * x),
            |v, x| v.db_pool = Some(x),
            |v, x| v.memory = Some(x),
            |v, x| v.pressure.get_or_insert_default().io = x,
            |v, x| v.pressure.get_or_insert_default().cpu = x,
            |v, x| v.pressure.get_or_insert_default().memory = x,
        ];
        for scoring in [Scoring::Smooth, Scoring::Stepped] {
            for exhaustion in [Exhaustion::default(), Exhaustion::Ignored] {
                let rules = HealthRules { scoring, exhaustion, ..HealthRules::default() };
                for combination in 0..3_u32.pow(7) {
                    falls_along_each(&rules, &set, combination);
                }
            }
        }
    }

    fn falls_along_each(rules: &HealthRules, set: &[fn(&mut Vitals, f64)], combination: u32) {
        let levels = [0.1, 0.3, 0.96];
        let mut vitals = Vitals::default();
        for (digit, set) in (0..).zip(set) {
            set(&mut vitals, levels[(combination / 3_u32.pow(digit) % 3) as usize]);
        }
        for set in set {
            let mut worse = vitals;
            let mut last = 100.0;
            for x in (0..=25).map(|step| f64::from(step) / 25.0) {
                set(&mut worse, x);
                let score = assess(rules, &worse).expect("all is measured").score;
                assert!(score <= last, "{score} after {last} for {worse:?}");
                last = score;
            }
        }
    }
}
