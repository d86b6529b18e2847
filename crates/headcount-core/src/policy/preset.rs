//! Named policies, each number with where it comes from.
//!
//! Four are the rules of systems that came before, with their own defaults: `gopipe`, `spool`,
//! `thread_system`, `syshealth`. Where their documents contradict themselves, ADR 0005 says what
//! was settled. `threshold` and `aimd` have the numbers of a guide to worker pools, `pid` and
//! `target` are plain laws with sound numbers. `slo` and `throughput` are ours. Those of other
//! systems stand in `peers.rs`.

use std::time::Duration;

use super::config::{GuardsConfig, PolicyConfig, SignalConfig};
use crate::Name;
use crate::decide::{
    Aimd, AllBusy, DeciderConfig, HealthZones, PidConfig, QueueDepth, Rule, SloConfig, Step,
    Target, Threshold, ThroughputConfig,
};
use crate::guard::{Cooldown, FlapDamper, HoldPeak, StepLimit};
use crate::scaling::signal::{Smoothing, Source};

/// A named policy.
///
/// ```
/// use headcount_core::{Policy, Preset};
/// use std::time::Duration;
///
/// for preset in Preset::all() {
///     Policy::check(&preset.config(), 8).expect("every preset is right");
/// }
/// let slo = Preset::slo(Duration::from_millis(50));
/// assert_eq!(Preset::named("slo").map(|preset| preset.name()), Some(slo.name()));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Preset {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) config: PolicyConfig,
    pub(super) origins: &'static [Origin],
}

impl From<Preset> for PolicyConfig {
    fn from(preset: Preset) -> Self {
        preset.config
    }
}

/// One number of a preset, and where it comes from.
///
/// ```
/// use headcount_core::Preset;
///
/// // Where a system that came before does not say how much, the number is ours.
/// let spool = Preset::spool();
/// let ours = spool.origins().iter().filter(|origin| origin.from.starts_with("ours"));
/// let fields: Vec<&str> = ours.map(|origin| origin.field).collect();
/// assert_eq!(fields, ["workers_min", "decider.grow_step"]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// What is set, as a path into the policy.
    pub field: &'static str,
    /// What it is set to.
    pub value: &'static str,
    /// Where the number comes from.
    pub from: &'static str,
}

pub(super) const fn origin(field: &'static str, value: &'static str, from: &'static str) -> Origin {
    Origin { field, value, from }
}

impl Preset {
    /// Every preset: ours first, then those of the systems before, then those of peers.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut all = vec![
            Self::slo(SloConfig::default().wait_budget),
            Self::throughput(),
            Self::gopipe(),
            Self::spool(),
            Self::thread_system(),
            Self::syshealth(),
            Self::threshold(),
            Self::aimd(),
            Self::pid(),
            Self::target(),
        ];
        all.extend(Self::peers());
        all
    }

    /// The preset of that name, if there is one.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|preset| preset.name == name)
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it does, in one sentence.
    #[must_use]
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// The policy, as somebody could have written it.
    #[must_use]
    pub fn config(&self) -> PolicyConfig {
        self.config.clone()
    }

    /// Where its numbers come from.
    #[must_use]
    pub fn origins(&self) -> &'static [Origin] {
        self.origins
    }

    /// Ours: tasks wait no longer than `wait_budget`, and no more workers than help.
    #[must_use]
    pub fn slo(wait_budget: Duration) -> Self {
        let slo = SloConfig { wait_budget, ..SloConfig::default() };
        Self {
            name: "slo",
            about: "Hires for a task before its wait budget is spent; stops where workers stop \
                    helping.",
            config: PolicyConfig {
                tick: Some(Duration::from_millis(200)),
                decider: Some(DeciderConfig::Slo(slo)),
                ..PolicyConfig::default()
            },
            origins: const {
                &[
                    origin("decider.wait_budget", "100 ms", "what a person takes for at once"),
                    origin("decider.newest_first", "true", "who is late anyway makes nobody late"),
                    origin(
                        "decider.trust_start",
                        "64",
                        "several times the cores of a usual machine",
                    ),
                    origin(
                        "decider.trust_factor",
                        "2",
                        "a pool without it went from 41 to 400 in 2 s",
                    ),
                    origin(
                        "decider.inflation_max",
                        "1.3",
                        "below it the tails of tasks look the same",
                    ),
                    origin("tick", "200 ms", "five looks a second cost a microsecond each"),
                ]
            },
        }
    }

    /// Ours where not a wait but a latency was promised: a task is done within `latency`, if it
    /// takes no longer than that by itself. Nobody knows that beforehand, so nothing is spent
    /// waiting.
    ///
    /// ```
    /// use headcount_core::{Policy, Preset};
    /// use std::time::Duration;
    ///
    /// let config = Preset::slo_latency(Duration::from_secs(2)).config();
    /// let policy = Policy::check(&config, 8).expect("the preset is right");
    /// assert_eq!(policy.wait_budget(), Some(Duration::ZERO));
    /// assert_eq!(policy.newest_first_after(), Some(Duration::from_secs(1)));
    /// ```
    #[must_use]
    pub fn slo_latency(latency: Duration) -> Self {
        let mut preset = Self::slo(Duration::ZERO);
        let slo = SloConfig {
            wait_budget: Duration::ZERO,
            latency: Some(latency),
            ..SloConfig::default()
        };
        preset.config.decider = Some(DeciderConfig::Slo(slo));
        preset
    }

    /// Ours for a heap of work: more workers for as long as more gets done.
    #[must_use]
    pub fn throughput() -> Self {
        Self {
            name: "throughput",
            about: "Doubles while more gets done, stops where it does not, and tries again.",
            config: PolicyConfig {
                workers_min: Some(1),
                tick: Some(Duration::from_millis(25)),
                decider: Some(DeciderConfig::Throughput(ThroughputConfig::default())),
                ..PolicyConfig::default()
            },
            origins: const {
                &[
                    origin("workers_min", "1", "one always helps"),
                    origin("decider.start", "4", "the cores of a small machine"),
                    origin("decider.gain_min", "0.4", "of a doubling a third more is worth it"),
                    origin("decider.blind_span", "1 s", "a person would wonder by then"),
                    origin("decider.blind_max", "64", "as `slo` trusts unmeasured"),
                    origin("tick", "25 ms", "runs of seconds have no time to lose"),
                ]
            },
        }
    }

    /// gopipe: one more when all are busy, one fewer when one is idle.
    #[must_use]
    pub fn gopipe() -> Self {
        Self {
            name: "gopipe",
            about: "One worker more when all are busy, one fewer when one was idle for 30 s.",
            config: PolicyConfig {
                workers_min: Some(1),
                tick: Some(Duration::from_secs(1)),
                decider: Some(DeciderConfig::AllBusy(AllBusy::default())),
                guards: cooldown(5, 10),
                ..PolicyConfig::default()
            },
            origins: const {
                &[
                    origin("workers_min", "1", "gopipe: MinWorkers"),
                    origin("workers_max", "the cores", "gopipe: MaxWorkers"),
                    origin("decider.idle_max", "30 s", "gopipe: ScaleDownAfter"),
                    origin("guards.cooldown.grow", "5 s", "gopipe: ScaleUpCooldown"),
                    origin("guards.cooldown.shrink", "10 s", "gopipe: ScaleDownCooldown"),
                    origin("tick", "1 s", "gopipe: CheckInterval"),
                ]
            },
        }
    }

    /// spool: one more when the queue is long, one fewer when one is idle.
    #[must_use]
    pub fn spool() -> Self {
        Self {
            name: "spool",
            about: "One worker more while over 100 tasks wait, one fewer when one was idle for \
                    2 min.",
            config: PolicyConfig {
                workers_min: Some(1),
                tick: Some(Duration::from_secs(1)),
                decider: Some(DeciderConfig::QueueDepth(QueueDepth::default())),
                guards: cooldown(30, 120),
                ..PolicyConfig::default()
            },
            origins: const {
                &[
                    origin("decider.depth_max", "100", "spool: queue depth threshold"),
                    origin("decider.idle_max", "2 min", "spool: workers idle"),
                    origin("guards.cooldown.grow", "30 s", "spool: cooldown of scaling up"),
                    origin("guards.cooldown.shrink", "2 min", "spool: cooldown of scaling down"),
                    origin("tick", "1 s", "spool: poll interval"),
                    origin("workers_min", "1", "ours; spool has a minimum without a number"),
                    origin("decider.grow_step", "1", "ours; spool does not say how far"),
                ]
            },
        }
    }

    /// `thread_system`: any sign of overload grows, every sign of idleness shrinks.
    #[must_use]
    pub fn thread_system() -> Self {
        let mean = |name: &str, source| SignalConfig {
            name: Name::cut(name),
            source,
            smoothing: vec![Smoothing::Mean { samples: 5 }],
        };
        Self {
            name: "thread_system",
            about: "One worker more on any sign of overload, one fewer when all signs say idle.",
            config: PolicyConfig {
                workers_min: Some(1),
                tick: Some(Duration::from_secs(1)),
                signals: Some(vec![
                    mean("utilization", Source::Utilization),
                    mean("depth_per_worker", Source::DepthPerWorker),
                    mean("wait_p95", Source::WaitP95),
                    mean("queue_depth", Source::QueueDepth),
                ]),
                decider: Some(DeciderConfig::Threshold(any_up_all_down())),
                guards: cooldown(30, 60),
                ..PolicyConfig::default()
            },
            origins: const {
                &[
                    origin("workers_min", "1", "thread_system: min_workers"),
                    origin("workers_max", "the cores", "thread_system: max_workers"),
                    origin(
                        "grow: utilization",
                        "> 0.8",
                        "thread_system: scale_up.utilization_threshold",
                    ),
                    origin(
                        "grow: depth_per_worker",
                        "> 100",
                        "thread_system: queue_depth_threshold",
                    ),
                    origin("grow: wait_p95", "> 50 ms", "thread_system: latency_threshold_ms"),
                    origin("grow: queue_depth", "> 1000", "thread_system: pending_jobs_threshold"),
                    origin("shrink: utilization", "< 0.3", "thread_system: scale_down threshold"),
                    origin(
                        "shrink: depth_per_worker",
                        "< 10",
                        "thread_system: scale_down threshold",
                    ),
                    origin("shrink: idle_time", ">= 60 s", "thread_system: idle_duration"),
                    origin("signals: samples", "5", "thread_system: samples_for_decision"),
                    origin(
                        "decider steps",
                        "1",
                        "thread_system: scale_up_increment, scale_down_increment",
                    ),
                    origin("guards.cooldown.grow", "30 s", "thread_system: scale_up_cooldown"),
                    origin("guards.cooldown.shrink", "60 s", "thread_system: scale_down_cooldown"),
                    origin("tick", "1 s", "thread_system: sample_interval"),
                ]
            },
        }
    }

    /// syshealth: as many workers as the machine's health allows.
    #[must_use]
    pub fn syshealth() -> Self {
        let minutes = Duration::from_mins;
        Self {
            name: "syshealth",
            about: "All workers while the machine is well, half of them when it is not, one when \
                    it is critical.",
            config: PolicyConfig {
                workers_min: Some(1),
                workers_max: Some(10),
                workers_max_allowed: Some(50),
                tick: Some(Duration::from_secs(30)),
                decider: Some(DeciderConfig::HealthZones(HealthZones::default())),
                guards: GuardsConfig {
                    step: Some(StepLimit { grow_share_max: Some(0.5), ..StepLimit::default() }),
                    cooldown: Some(Cooldown {
                        grow: minutes(5),
                        shrink: minutes(1),
                        grow_after_shrink: minutes(5),
                        skip_when_critical: true,
                        ..Cooldown::default()
                    }),
                    ..GuardsConfig::default()
                },
                ..PolicyConfig::default()
            },
            origins: const {
                &[
                    origin("workers_min", "1", "syshealth: min_concurrency"),
                    origin("workers_max", "10", "syshealth: max_concurrency"),
                    origin("workers_max_allowed", "50", "syshealth: validation of the API"),
                    origin("decider", "1, half, all", "syshealth: decision 4, zone table"),
                    origin("guards.step.grow_share_max", "0.5", "syshealth: gradual scaling"),
                    origin("guards.cooldown.grow", "5 min", "syshealth: cooldown of the safe zone"),
                    origin(
                        "guards.cooldown.shrink",
                        "1 min",
                        "syshealth: cooldown of the warning zone",
                    ),
                    origin(
                        "guards.cooldown.grow_after_shrink",
                        "5 min",
                        "syshealth: slow recovery",
                    ),
                    origin("tick", "30 s", "syshealth: collection interval"),
                ]
            },
        }
    }

    /// The pool guide: two thresholds on utilization.
    #[must_use]
    pub fn threshold() -> Self {
        let utilization = Name::cut("utilization");
        Self {
            name: "threshold",
            about: "Two workers more above 75 % utilization, one fewer below 10 %.",
            config: PolicyConfig {
                workers_min: Some(4),
                workers_max: Some(64),
                tick: Some(Duration::from_millis(500)),
                signals: Some(vec![smoothed_utilization()]),
                decider: Some(DeciderConfig::Threshold(Threshold {
                    grow_when_any: vec![Rule::above(utilization, 0.75)],
                    shrink_when_all: vec![Rule::below(utilization, 0.1)],
                    grow_step: Step::Add(2),
                    shrink_step: Step::Add(1),
                })),
                guards: steady(cooldown(3, 60)),
                ..PolicyConfig::default()
            },
            origins: const {
                &[
                    origin("workers_min", "4", "pool guide: Floor"),
                    origin("workers_max", "64", "pool guide: Ceiling"),
                    origin("grow: utilization", "> 0.75", "pool guide: GrowAbove"),
                    origin("shrink: utilization", "< 0.10", "pool guide: ShrinkBelow"),
                    origin("decider.grow_step", "2", "pool guide: GrowStep"),
                    origin("decider.shrink_step", "1", "pool guide: ShrinkStep"),
                    origin("guards.cooldown", "3 s, 60 s", "pool guide: UpCooldown, DownCooldown"),
                    origin("tick", "500 ms", "pool guide: interval"),
                    origin("guards.hold_peak, flap_damper", "60 s, 3", "ours"),
                ]
            },
        }
    }

    /// The pool guide: additive increase and multiplicative decrease on utilization.
    #[must_use]
    pub fn aimd() -> Self {
        Self {
            name: "aimd",
            about: "One worker more above 70 % utilization, a quarter fewer where that is enough.",
            config: PolicyConfig {
                workers_min: Some(4),
                workers_max: Some(128),
                tick: Some(Duration::from_secs(1)),
                signals: Some(vec![smoothed_utilization()]),
                decider: Some(DeciderConfig::Aimd(Aimd::default())),
                guards: steady(cooldown(3, 60)),
                ..PolicyConfig::default()
            },
            origins: const {
                &[
                    origin("workers_min", "4", "pool guide: bounds of the example file"),
                    origin("workers_max", "128", "pool guide: bounds of the example file"),
                    origin("decider.setpoint", "0.7", "pool guide: setpoint"),
                    origin("decider.grow_step", "1", "pool guide: grow_step"),
                    origin("decider.shrink_share", "0.25", "pool guide: shrink_factor"),
                    origin("guards.cooldown", "3 s, 60 s", "pool guide: cooldown"),
                    origin("guards.hold_peak, flap_damper", "60 s, 3", "ours"),
                ]
            },
        }
    }

    /// A PID controller on utilization, with gains that are stable three ticks late.
    #[must_use]
    pub fn pid() -> Self {
        Self {
            name: "pid",
            about: "A PID controller that keeps utilization at 70 %.",
            config: PolicyConfig {
                tick: Some(Duration::from_secs(1)),
                signals: Some(vec![smoothed_utilization()]),
                decider: Some(DeciderConfig::Pid(PidConfig::default())),
                guards: steady(GuardsConfig::default()),
                ..PolicyConfig::default()
            },
            origins: const {
                &[
                    origin("decider.setpoint", "0.7", "pool guide: set-point of its p99 example"),
                    origin(
                        "decider.ki",
                        "0.1/s",
                        "no overshoot up to three ticks late: below 0.105",
                    ),
                    origin("guards.hold_peak, flap_damper", "60 s, 3", "ours"),
                ]
            },
        }
    }

    /// In proportion to utilization, as the common cloud autoscalers do.
    #[must_use]
    pub fn target() -> Self {
        Self {
            name: "target",
            about: "As many workers as bring utilization to 70 %.",
            config: PolicyConfig {
                tick: Some(Duration::from_secs(1)),
                signals: Some(vec![smoothed_utilization()]),
                decider: Some(DeciderConfig::Target(Target::default())),
                guards: steady(cooldown(3, 60)),
                ..PolicyConfig::default()
            },
            origins: const {
                &[
                    origin("decider.setpoint", "0.7", "pool guide: set-point of its p99 example"),
                    origin("decider.tolerance", "0.1", "the usual dead band of target tracking"),
                    origin("guards.cooldown.grow", "3 s", "ours: as long as the mean of 3 samples"),
                    origin("guards.cooldown.shrink", "60 s", "ours"),
                    origin("guards.hold_peak, flap_damper", "60 s, 3", "ours"),
                ]
            },
        }
    }
}

/// Any sign of overload, every sign of idleness: the limits of `thread_system`.
fn any_up_all_down() -> Threshold {
    let (utilization, depth) = (Name::cut("utilization"), Name::cut("depth_per_worker"));
    Threshold {
        grow_when_any: vec![
            Rule::above(utilization, 0.8),
            Rule::above(depth, 100.0),
            Rule::above(Name::cut("wait_p95"), 0.05),
            Rule::above(Name::cut("queue_depth"), 1000.0),
        ],
        shrink_when_all: vec![
            Rule::below(utilization, 0.3),
            Rule::below(depth, 10.0),
            Rule::at_least(Name::cut("idle_time"), 60.0),
        ],
        grow_step: Step::Add(1),
        shrink_step: Step::Add(1),
    }
}

/// So many seconds between growths and between shrinks.
fn cooldown(grow: u64, shrink: u64) -> GuardsConfig {
    let cooldown = Cooldown::new(Duration::from_secs(grow), Duration::from_secs(shrink));
    GuardsConfig { cooldown: Some(cooldown), ..GuardsConfig::default() }
}

/// The same, with a held peak and a damper.
fn steady(guards: GuardsConfig) -> GuardsConfig {
    GuardsConfig {
        hold_peak: Some(HoldPeak::default()),
        flap_damper: Some(FlapDamper::default()),
        ..guards
    }
}

/// Utilization as the mean of its last three samples.
fn smoothed_utilization() -> SignalConfig {
    SignalConfig {
        name: Name::cut("utilization"),
        source: Source::Utilization,
        smoothing: vec![Smoothing::Mean { samples: 3 }],
    }
}
