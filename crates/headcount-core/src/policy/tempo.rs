//! The same policy at another tempo: every span of time in it divided by one number.
//!
//! Systems that scale pods and machines have constants of minutes; what they would do if workers
//! came in milliseconds is a question of their tempo, not of their rule. How long a task may wait
//! is no matter of tempo and stays.

use std::time::Duration;

use super::config::{GuardsConfig, PolicyConfig, SignalConfig};
use crate::Name;
use crate::decide::{
    AllBusy, CompositeConfig, DeciderConfig, Ds2Config, EnvoyConfig, ErlangConfig, Gradient2Config,
    HillClimbConfig, HorizonConfig, KnativeConfig, OnDemand, PartConfig, PidConfig, QueueDepth,
    Rule, Threshold, ThroughputConfig, TrackingConfig, VegasConfig,
};
use crate::guard::{Cooldown, FlapDamper, HealthBrake, HoldPeak, WarmUp};
use crate::scaling::signal::{Smoothing, Source};

impl PolicyConfig {
    /// The shortest tick that a division comes to.
    pub const QUICK_TICK_MIN: Duration = Duration::from_millis(100);

    /// The same policy with every span of time divided by `factor`: tick, cooldowns, windows,
    /// periods. Wait budgets, limits on waiting times and times of day stay. No tick becomes
    /// shorter than [`QUICK_TICK_MIN`](Self::QUICK_TICK_MIN), if it was not; no span becomes 0.
    ///
    /// A factor that is not above 0 changes nothing.
    ///
    /// ```
    /// use headcount_core::Preset;
    /// use std::time::Duration;
    ///
    /// let quick = Preset::hpa().config().with_times_divided_by(15.0);
    /// let hold_peak = quick.guards.hold_peak.expect("it has one");
    /// assert_eq!(hold_peak.window, Duration::from_secs(20), "in place of 5 min");
    /// ```
    #[must_use]
    pub fn with_times_divided_by(self, factor: f64) -> Self {
        if !(factor.is_finite() && 0.0 < factor) {
            return self;
        }
        let tempo = Tempo { factor };
        let signals = self.signals.as_deref().unwrap_or_default();
        let decider = self.decider.map(|decider| tempo.decider(decider, signals));
        let tick = self.tick.map(|tick| {
            let shortest = tick.min(Self::QUICK_TICK_MIN);
            tempo.span(tick).max(shortest)
        });
        let signals = self
            .signals
            .map(|signals| signals.into_iter().map(|signal| tempo.signal(signal)).collect());
        Self { tick, signals, decider, guards: tempo.guards(self.guards), ..self }
    }
}

/// How many times as fast.
#[derive(Clone, Copy, Debug)]
struct Tempo {
    factor: f64,
}

impl Tempo {
    fn span(self, span: Duration) -> Duration {
        if span.is_zero() {
            return span;
        }
        let divided = Duration::try_from_secs_f64(span.as_secs_f64() / self.factor);
        divided.unwrap_or(Duration::MAX).max(Duration::from_nanos(1))
    }

    fn signal(self, signal: SignalConfig) -> SignalConfig {
        let smoothing = signal.smoothing.into_iter().map(|smoothing| match smoothing {
            Smoothing::Ewma { tau } => Smoothing::Ewma { tau: self.span(tau) },
            Smoothing::Over { span, aggregate } => {
                Smoothing::Over { span: self.span(span), aggregate }
            }
            other => other,
        });
        SignalConfig { smoothing: smoothing.collect(), ..signal }
    }

    fn decider(self, decider: DeciderConfig, signals: &[SignalConfig]) -> DeciderConfig {
        use DeciderConfig as D;
        match decider {
            D::Throughput(c) => {
                D::Throughput(ThroughputConfig { blind_span: self.span(c.blind_span), ..c })
            }
            D::Threshold(c) => D::Threshold(self.threshold(c, signals)),
            D::AllBusy(c) => D::AllBusy(AllBusy { idle_max: self.span(c.idle_max) }),
            D::QueueDepth(c) => D::QueueDepth(QueueDepth { idle_max: self.span(c.idle_max), ..c }),
            // What is gained in a second is gained in a shorter one; a slope is so much steeper.
            D::Pid(c) => D::Pid(PidConfig { ki: c.ki * self.factor, kd: c.kd / self.factor, ..c }),
            D::Composite(c) => {
                let parts = c.parts.into_iter().map(|part| PartConfig {
                    decider: self.decider(part.decider, signals),
                    ..part
                });
                D::Composite(CompositeConfig { parts: parts.collect(), ..c })
            }
            // A day stays a day, and workers take as long to start.
            D::Slo(_)
            | D::Forecast(_)
            | D::HealthZones(_)
            | D::Aimd(_)
            | D::Target(_)
            | D::Backlog(_)
            | D::Schedule(_)
            | D::Arc(_) => decider,
            peer => self.peer(peer),
        }
    }

    /// Those of other systems.
    fn peer(self, decider: DeciderConfig) -> DeciderConfig {
        use DeciderConfig as D;
        match decider {
            D::OnDemand(c) => D::OnDemand(OnDemand { idle_time: self.span(c.idle_time) }),
            D::Tracking(c) => D::Tracking(TrackingConfig { period: self.span(c.period), ..c }),
            D::Horizon(c) => D::Horizon(HorizonConfig { period: self.span(c.period), ..c }),
            D::Knative(c) => D::Knative(KnativeConfig {
                stable_window: self.span(c.stable_window),
                panic_window: self.span(c.panic_window),
                period: self.span(c.period),
                ..c
            }),
            D::Ds2(c) => D::Ds2(Ds2Config {
                catch_up: self.span(c.catch_up),
                restart: self.span(c.restart),
                window: self.span(c.window),
                settling: self.span(c.settling),
                period: self.span(c.period),
                ..c
            }),
            D::Erlang(c) => D::Erlang(ErlangConfig { window: self.span(c.window), ..c }),
            D::Gradient2(c) => D::Gradient2(Gradient2Config { window: self.span(c.window), ..c }),
            D::Vegas(c) => D::Vegas(VegasConfig { window: self.span(c.window), ..c }),
            D::Envoy(c) => D::Envoy(EnvoyConfig {
                period: self.span(c.period),
                probe_period: self.span(c.probe_period),
                ..c
            }),
            D::HillClimb(c) => D::HillClimb(HillClimbConfig {
                change_span: self.span(c.change_span),
                starved_after: self.span(c.starved_after),
                ..c
            }),
            other => other,
        }
    }

    /// For how long a worker was idle is a matter of tempo, how long a task waited is not.
    fn threshold(self, threshold: Threshold, signals: &[SignalConfig]) -> Threshold {
        let is_idle_time = |name: &Name| {
            let declared = signals.iter().find(|signal| signal.name == *name);
            let source =
                declared.map_or_else(|| Source::named(name.as_str()), |signal| Some(signal.source));
            source == Some(Source::IdleTime)
        };
        let rules = |rules: Vec<Rule>| {
            let rule = |rule: Rule| match is_idle_time(&rule.signal) {
                true => Rule { limit: rule.limit / self.factor, ..rule },
                false => rule,
            };
            rules.into_iter().map(rule).collect()
        };
        Threshold {
            grow_when_any: rules(threshold.grow_when_any),
            shrink_when_all: rules(threshold.shrink_when_all),
            ..threshold
        }
    }

    fn guards(self, guards: GuardsConfig) -> GuardsConfig {
        let cooldown = guards.cooldown.map(|c| Cooldown {
            grow: self.span(c.grow),
            shrink: self.span(c.shrink),
            grow_after_shrink: self.span(c.grow_after_shrink),
            shrink_after_grow: self.span(c.shrink_after_grow),
            ..c
        });
        let flap_damper = guards.flap_damper.map(|c| FlapDamper {
            window: self.span(c.window),
            hold: self.span(c.hold),
            hold_max: self.span(c.hold_max),
            ..c
        });
        // A machine recovers at its own tempo: less than a second of rest is refused.
        let health = guards.health.map(|c| {
            let shortest = c.recovery_rest.min(Duration::from_secs(1));
            HealthBrake { recovery_rest: self.span(c.recovery_rest).max(shortest), ..c }
        });
        GuardsConfig {
            cooldown,
            hold_peak: guards.hold_peak.map(|c| HoldPeak { window: self.span(c.window) }),
            warm_up: guards.warm_up.map(|c| WarmUp { span: self.span(c.span) }),
            flap_damper,
            health,
            ..guards
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Policy, Preset};

    fn tick_of(preset: &Preset, factor: f64) -> Option<Duration> {
        preset.config().with_times_divided_by(factor).tick
    }

    #[test]
    fn every_preset_is_right_at_every_tempo_of_the_benchmark() {
        for preset in Preset::all() {
            for factor in [1.0, 5.0, 15.0, 60.0] {
                let config = preset.config().with_times_divided_by(factor);
                assert!(Policy::check(&config, 8).is_ok(), "{} by {factor}", preset.name());
            }
            assert_eq!(preset.config().with_times_divided_by(1.0), preset.config());
        }
    }

    #[test]
    fn ticks_are_cut_off_where_looking_costs_more_than_it_tells() {
        assert_eq!(tick_of(&Preset::hpa(), 5.0), Some(Duration::from_millis(200)));
        assert_eq!(tick_of(&Preset::hpa(), 60.0), Some(Duration::from_millis(100)));
        assert_eq!(tick_of(&Preset::throughput(), 5.0), Some(Duration::from_millis(25)));
    }

    #[test]
    fn nonsense_changes_nothing() {
        for factor in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(
                Preset::ds2().config().with_times_divided_by(factor),
                Preset::ds2().config()
            );
        }
    }

    #[test]
    fn how_long_a_task_may_wait_stays() {
        let erlang = Preset::erlang().config().with_times_divided_by(15.0).decider;
        let window = Duration::from_secs(4);
        let expected = ErlangConfig { window, ..ErlangConfig::default() };
        assert_eq!(erlang, Some(DeciderConfig::Erlang(expected)));
        let thread_system = Preset::thread_system().config().with_times_divided_by(15.0).decider;
        let Some(DeciderConfig::Threshold(rules)) = thread_system else {
            panic!("thread_system has thresholds")
        };
        let limit = |rules: &[Rule], name: &str| {
            rules.iter().find(|rule| rule.signal.as_str() == name).map(|rule| rule.limit)
        };
        assert_eq!(limit(&rules.grow_when_any, "wait_p95"), Some(0.05));
        assert_eq!(limit(&rules.shrink_when_all, "idle_time"), Some(4.0));
    }
}
