//! The policies of other systems, with their stock numbers.
//!
//! Their decisions are made as often as they make them; ticks are ours, as a pool must be looked
//! at more often than that for a mean to be one. None has a size of pool of its own: bounds are
//! the defaults, or whoever uses one says them.

use std::time::Duration;

use super::config::{GuardsConfig, PolicyConfig};
use super::preset::{Origin, Preset, origin};
use crate::decide::{
    ArcConfig, DeciderConfig, Ds2Config, EnvoyConfig, ErlangConfig, Gradient2Config,
    HillClimbConfig, HorizonConfig, KnativeConfig, Load, OnDemand, TrackingConfig, VegasConfig,
};
use crate::guard::{Cooldown, HoldPeak, StepLimit};

/// How often those are looked at that decide every few seconds.
const SECOND: Duration = Duration::from_secs(1);
/// How often those are looked at that live by the times of single tasks.
const TENTH: Duration = Duration::from_millis(100);

const OF_A_SECOND: Origin = origin("tick", "1 s", "ours: looks that the means are made of");
const OF_A_TENTH: Origin = origin("tick", "100 ms", "ours: looks that the windows are made of");

fn written(tick: Duration, decider: DeciderConfig) -> PolicyConfig {
    PolicyConfig { tick: Some(tick), decider: Some(decider), ..PolicyConfig::default() }
}

impl Preset {
    /// Those of other systems.
    pub(super) fn peers() -> Vec<Self> {
        vec![
            Self::on_demand(),
            Self::pond(),
            Self::hpa(),
            Self::keda(),
            Self::knative(),
            Self::celery(),
            Self::horizon(),
            Self::ds2(),
            Self::erlang(),
            Self::gradient2(),
            Self::vegas(),
            Self::arc(),
            Self::envoy(),
            Self::hill_climb(),
        ]
    }

    /// ants: a worker for every task that finds none idle; it goes after a second without one.
    #[must_use]
    pub fn on_demand() -> Self {
        Self {
            name: "on_demand",
            about: "A worker for every task that finds none idle; it goes after 1 s without one.",
            config: written(SECOND, DeciderConfig::OnDemand(OnDemand::default())),
            origins: const {
                &[
                    origin("decider.idle_time", "1 s", "ants: DefaultCleanIntervalTime"),
                    origin("wait budget", "0", "ants: spawns as soon as nobody is idle"),
                    origin("tick", "1 s", "ours: there is nothing to decide"),
                ]
            },
        }
    }

    /// pond: a worker for every task that finds none idle; it goes as soon as nothing waits.
    #[must_use]
    pub fn pond() -> Self {
        let at_once = OnDemand { idle_time: Duration::ZERO };
        Self {
            name: "pond",
            about: "A worker for every task that finds none idle; it goes when nothing waits.",
            config: written(SECOND, DeciderConfig::OnDemand(at_once)),
            origins: const {
                &[
                    origin("decider.idle_time", "0", "pond 2: a worker ends on an empty queue"),
                    origin("wait budget", "0", "pond: spawns as soon as nobody is idle"),
                    origin("tick", "1 s", "ours: there is nothing to decide"),
                ]
            },
        }
    }

    /// Kubernetes' horizontal pod autoscaler on utilization.
    #[must_use]
    pub fn hpa() -> Self {
        Self {
            name: "hpa",
            about: "Kubernetes: every 15 s as many workers as bring utilization to 80 %.",
            config: PolicyConfig {
                guards: of_kubernetes(),
                ..written(SECOND, DeciderConfig::Tracking(TrackingConfig::default()))
            },
            origins: const {
                &[
                    origin("decider.setpoint", "0.8", "HPA: the default target, 80 % of CPU"),
                    origin("decider.tolerance", "0.1", "HPA: horizontal-pod-autoscaler-tolerance"),
                    origin("decider.period", "15 s", "HPA: sync period"),
                    origin("guards.step.grow_max", "4", "HPA: scaleUp, 4 pods in 15 s"),
                    origin("guards.step.grow_share_max", "1", "HPA: scaleUp, 100 % in 15 s"),
                    origin("guards.hold_peak", "300 s", "HPA: downscale stabilization"),
                    OF_A_SECOND,
                ]
            },
        }
    }

    /// KEDA: an HPA on the tasks that wait or run.
    #[must_use]
    pub fn keda() -> Self {
        let each =
            TrackingConfig { load: Load::Pending, setpoint: 1.0, ..TrackingConfig::default() };
        Self {
            name: "keda",
            about: "KEDA: every 15 s a worker for every task that waits or runs.",
            config: PolicyConfig {
                guards: of_kubernetes(),
                ..written(SECOND, DeciderConfig::Tracking(each))
            },
            origins: const {
                &[
                    origin(
                        "decider.load",
                        "pending",
                        "KEDA: the length of a queue, with what runs",
                    ),
                    origin("decider.setpoint", "1", "KEDA: what one replica can handle at once"),
                    origin("decider.tolerance", "0.1", "HPA, which KEDA leaves 1 to N to"),
                    origin("decider.period", "15 s", "HPA: sync period"),
                    origin("guards.step", "4, 100 %", "HPA: scaleUp in 15 s"),
                    origin("guards.hold_peak", "300 s", "HPA: downscale stabilization"),
                    OF_A_SECOND,
                ]
            },
        }
    }

    /// Knative's pod autoscaler: a calm average and, in panic, a quick one.
    #[must_use]
    pub fn knative() -> Self {
        Self {
            name: "knative",
            about: "Knative: 0.7 tasks for each worker over 60 s, or over 6 s in panic.",
            config: written(SECOND, DeciderConfig::Knative(KnativeConfig::default())),
            origins: const {
                &[
                    origin(
                        "decider.setpoint",
                        "0.7",
                        "Knative: container-concurrency-target-percentage, of 1",
                    ),
                    origin("decider.stable_window", "60 s", "Knative: stable-window"),
                    origin("decider.panic_window", "6 s", "Knative: panic-window-percentage, 10"),
                    origin("decider.panic_factor", "2", "Knative: panic-threshold-percentage, 200"),
                    origin("decider.grow_factor_max", "1000", "Knative: max-scale-up-rate"),
                    origin("decider.shrink_factor_max", "2", "Knative: max-scale-down-rate"),
                    origin("decider.period", "2 s", "Knative: tick-interval"),
                    OF_A_SECOND,
                ]
            },
        }
    }

    /// Celery's autoscaler: a worker for every task at hand, kept for half a minute.
    #[must_use]
    pub fn celery() -> Self {
        let each = TrackingConfig {
            load: Load::Pending,
            setpoint: 1.0,
            tolerance: 0.0,
            period: Duration::from_secs(1),
        };
        let kept = Cooldown { shrink_after_grow: Duration::from_secs(30), ..Cooldown::default() };
        Self {
            name: "celery",
            about: "Celery: a worker for every task that waits or runs; fewer 30 s after growth.",
            config: PolicyConfig {
                guards: GuardsConfig { cooldown: Some(kept), ..GuardsConfig::default() },
                ..written(SECOND, DeciderConfig::Tracking(each))
            },
            origins: const {
                &[
                    origin("decider.load", "pending", "Celery: reserved requests"),
                    origin("decider.setpoint", "1", "Celery: a process for each"),
                    origin("decider.tolerance", "0", "Celery: none"),
                    origin("decider.period", "1 s", "Celery: the sleep of the Autoscaler's loop"),
                    origin(
                        "guards.cooldown.shrink_after_grow",
                        "30 s",
                        "Celery: AUTOSCALE_KEEPALIVE",
                    ),
                    origin("tick", "1 s", "Celery: the sleep of the Autoscaler's loop"),
                ]
            },
        }
    }

    /// Laravel Horizon's auto balancing, with one queue.
    #[must_use]
    pub fn horizon() -> Self {
        Self {
            name: "horizon",
            about: "Laravel Horizon: one more every 3 s while anything waits, else one fewer.",
            config: written(SECOND, DeciderConfig::Horizon(HorizonConfig::default())),
            origins: const {
                &[
                    origin("decider.shift", "1", "Horizon: balanceMaxShift"),
                    origin("decider.period", "3 s", "Horizon: balanceCooldown"),
                    origin("tick", "1 s", "Horizon: the loop of a supervisor"),
                ]
            },
        }
    }

    /// DS2, with the numbers of Flink's autoscaler.
    #[must_use]
    pub fn ds2() -> Self {
        Self {
            name: "ds2",
            about: "DS2, Flink: the load over the rate of a busy worker, at 70 %, and what waits.",
            config: PolicyConfig {
                guards: GuardsConfig {
                    step: Some(StepLimit { shrink_share_max: Some(0.6), ..StepLimit::default() }),
                    hold_peak: Some(HoldPeak { window: Duration::from_hours(1) }),
                    ..GuardsConfig::default()
                },
                ..written(SECOND, DeciderConfig::Ds2(Ds2Config::default()))
            },
            origins: const {
                &[
                    origin("decider.utilization", "0.7", "Flink: utilization.target"),
                    origin("decider.band", "0.3", "Flink: target.utilization.boundary"),
                    origin("decider.catch_up", "30 min", "Flink: catch-up.duration"),
                    origin("decider.restart", "5 min", "Flink: restart.time"),
                    origin("decider.window", "15 min", "Flink: metrics.window"),
                    origin("decider.settling", "5 min", "Flink: stabilization.interval"),
                    origin("decider.period", "1 min", "Flink: the interval of its control loop"),
                    origin(
                        "decider.gain_min",
                        "0.1",
                        "Flink: scaling.effectiveness.threshold; its detection is off by default",
                    ),
                    origin("guards.step.shrink_share_max", "0.6", "Flink: scale-down.max-factor"),
                    origin("guards.hold_peak", "1 h", "Flink: scale-down.interval"),
                    OF_A_SECOND,
                ]
            },
        }
    }

    /// Staffing by Erlang's formula.
    #[must_use]
    pub fn erlang() -> Self {
        Self {
            name: "erlang",
            about: "Erlang's formula: the fewest workers with which 1 % wait for over 100 ms.",
            config: written(SECOND, DeciderConfig::Erlang(ErlangConfig::default())),
            origins: const {
                &[
                    origin("decider.wait_budget", "100 ms", "as `slo`"),
                    origin("decider.late_max", "0.01", "the usual 99 %"),
                    origin("decider.window", "60 s", "ours; the formula has no time in it"),
                    OF_A_SECOND,
                ]
            },
        }
    }

    /// Netflix's Gradient2 limit.
    #[must_use]
    pub fn gradient2() -> Self {
        Self {
            name: "gradient2",
            about: "Netflix's Gradient2: a limit by long and short means of service times.",
            config: written(TENTH, DeciderConfig::Gradient2(Gradient2Config::default())),
            origins: const {
                &[
                    origin("decider.start", "20", "Gradient2Limit: initialLimit"),
                    origin("decider.limit_min", "20", "Gradient2Limit: minLimit"),
                    origin("decider.limit_max", "200", "Gradient2Limit: maxConcurrency"),
                    origin("decider.queue_size", "4", "Gradient2Limit: queueSize"),
                    origin("decider.smoothing", "0.2", "Gradient2Limit: smoothing"),
                    origin("decider.tolerance", "1.5", "Gradient2Limit: rttTolerance"),
                    origin("decider.long_windows", "600", "Gradient2Limit: longWindow"),
                    origin("decider.window", "1 s", "WindowedLimit: minWindowTime, maxWindowTime"),
                    origin("decider.samples_min", "10", "WindowedLimit: windowSize"),
                    OF_A_TENTH,
                ]
            },
        }
    }

    /// Netflix's Vegas limit.
    #[must_use]
    pub fn vegas() -> Self {
        Self {
            name: "vegas",
            about: "Netflix's Vegas: a limit by the quickest service time.",
            config: written(TENTH, DeciderConfig::Vegas(VegasConfig::default())),
            origins: const {
                &[
                    origin("decider.start", "20", "VegasLimit: initialLimit"),
                    origin("decider.limit_max", "1000", "VegasLimit: maxConcurrency"),
                    origin("decider.alpha", "3", "VegasLimit: alpha, times log10"),
                    origin("decider.beta", "6", "VegasLimit: beta, times log10"),
                    origin("decider.probe_windows", "30", "VegasLimit: probeMultiplier"),
                    origin("decider.window", "1 s", "WindowedLimit: minWindowTime, maxWindowTime"),
                    origin("decider.samples_min", "10", "WindowedLimit: windowSize"),
                    OF_A_TENTH,
                ]
            },
        }
    }

    /// Vector's adaptive request concurrency.
    #[must_use]
    pub fn arc() -> Self {
        Self {
            name: "arc",
            about: "Vector: one more while tasks take as long as usual, a tenth fewer if longer.",
            config: written(TENTH, DeciderConfig::Arc(ArcConfig::default())),
            origins: const {
                &[
                    origin("decider.start", "1", "Vector: initial_concurrency"),
                    origin("decider.limit_max", "200", "Vector: max_concurrency_limit"),
                    origin("decider.decrease_ratio", "0.9", "Vector: decrease_ratio"),
                    origin("decider.ewma_alpha", "0.4", "Vector: ewma_alpha"),
                    origin("decider.deviations_max", "2.5", "Vector: rtt_deviation_scale"),
                    OF_A_TENTH,
                ]
            },
        }
    }

    /// Envoy's adaptive concurrency.
    #[must_use]
    pub fn envoy() -> Self {
        Self {
            name: "envoy",
            about: "Envoy: a limit by a best service time that is measured every minute.",
            config: written(TENTH, DeciderConfig::Envoy(EnvoyConfig::default())),
            origins: const {
                &[
                    origin("decider.limit_min", "3", "Envoy: min_concurrency"),
                    origin("decider.limit_max", "1000", "Envoy: max_concurrency_limit"),
                    origin("decider.buffer", "0.25", "Envoy: buffer"),
                    origin("decider.period", "100 ms", "Envoy: concurrency_update_interval"),
                    origin("decider.probe_period", "60 s", "Envoy: interval of its documentation"),
                    origin("decider.probe_samples", "50", "Envoy: request_count"),
                    OF_A_TENTH,
                ]
            },
        }
    }

    /// The hill climbing of .NET's thread pool.
    #[must_use]
    pub fn hill_climb() -> Self {
        Self {
            name: "hill_climb",
            about: ".NET: a wave in the number of workers, and what throughput answers to it.",
            config: written(TENTH, DeciderConfig::HillClimb(HillClimbConfig::default())),
            origins: const {
                &[
                    origin("decider.change_max", "4", ".NET: MaxChangePerSecond"),
                    origin("decider.change_span", "1 s", ".NET: MaxChangePerSecond"),
                    origin("decider.starved_after", "500 ms", ".NET: GateActivitiesPeriodMs"),
                    origin("tick", "100 ms", ".NET: SampleIntervalLow, High: 10 to 200 ms"),
                ]
            },
        }
    }
}

/// Up by four or by as many again, down to the highest proposal of five minutes.
fn of_kubernetes() -> GuardsConfig {
    GuardsConfig {
        step: Some(StepLimit {
            grow_max: Some(4),
            grow_share_max: Some(1.0),
            ..StepLimit::default()
        }),
        hold_peak: Some(HoldPeak { window: Duration::from_mins(5) }),
        ..GuardsConfig::default()
    }
}
