//! Fills in the defaults, reports everything that is wrong, and builds what is right.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::config::{GuardsConfig, PolicyConfig, SignalConfig};
use super::extra_parts::ExtraParts;
use super::inspection::{Fault, Hint, Inspection};
use crate::decide::{Decider, DeciderConfig, PartPath, SloConfig};
use crate::guard::{
    AllowanceLimit, Bounds, BreakerVeto, Cooldown, DrainHold, GUARDS_MAX, Guard, HealthBrake,
    StepLimit, WarmUp,
};
use crate::roster::RosterConfig;
use crate::scaling::name_of;
use crate::scaling::signal::{Signal, Smoothing, Source};
use crate::{Autoscaler, Mode, Name, SIGNALS_MAX, Staffing};

/// A policy with nothing wrong in it.
///
/// ```
/// use headcount_core::{Policy, PolicyConfig};
/// use std::time::Duration;
///
/// let policy = Policy::check(&PolicyConfig::default(), 8).expect("the defaults are right");
/// assert_eq!((policy.bounds().min, policy.bounds().max), (1, 8));
///
/// let config = PolicyConfig {
///     workers_max: Some(0),
///     tick: Some(Duration::ZERO),
///     ..PolicyConfig::default()
/// };
/// let faults = Policy::check(&config, 8).expect_err("two things are wrong");
/// assert_eq!(faults.len(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct Policy {
    bounds: Bounds,
    mode: Mode,
    tick: Duration,
    samples_kept: u32,
    signals: Vec<SignalConfig>,
    decider: DeciderConfig,
    guards: GuardsConfig,
    hints: Vec<Hint>,
}

impl Policy {
    /// The most workers that any policy may allow.
    pub const WORKERS_MAX: u32 = 100_000;
    /// The most samples that may be kept.
    pub const SAMPLES_KEPT_MAX: u32 = 100_000;

    /// Fills in the defaults for a machine with `cores` and checks everything.
    ///
    /// # Errors
    ///
    /// All faults, not only the first.
    pub fn check(config: &PolicyConfig, cores: u32) -> Result<Self, Vec<Fault>> {
        let signals = config.signals.clone().unwrap_or_default();
        let declared = signals.iter().map(|signal| (signal.name, signal.source));
        let mut inspection = Inspection::of(declared.collect());
        let default = DeciderConfig::Slo(SloConfig::default());
        let decider = config.decider.clone().unwrap_or(default);

        let bounds = check_bounds(config, cores, &decider, &mut inspection);
        let tick = config.tick.unwrap_or(Duration::from_secs(1));
        inspection.some_time("tick", tick);
        let samples_kept = config.samples_kept.unwrap_or(60);
        if Self::SAMPLES_KEPT_MAX < samples_kept {
            let allowed = format!("at most {} are kept", Self::SAMPLES_KEPT_MAX);
            inspection.fault("samples_kept", samples_kept, &allowed);
        }
        check_signals(&signals, &mut inspection);
        inspection.within("decider", |inspection| decider.inspect(inspection));
        inspection.within("guards", |inspection| check_guards(&config.guards, inspection));
        let signals = with_implied(signals, &mut inspection);
        hint_at_hasty_shrinks(&config.guards, &decider, &mut inspection);
        hint_at_single_samples(&signals, &decider, &mut inspection);

        if !inspection.faults.is_empty() {
            return Err(inspection.faults);
        }
        let (mode, guards) = (config.mode.unwrap_or_default(), config.guards);
        let hints = inspection.hints;
        Ok(Self { bounds, mode, tick, samples_kept, signals, decider, guards, hints })
    }

    /// The fewest and the most workers.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// How often it decides.
    #[must_use]
    pub fn tick(&self) -> Duration {
        self.tick
    }

    /// How far it may go by itself.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Its decider, as data.
    #[must_use]
    pub fn decider(&self) -> &DeciderConfig {
        &self.decider
    }

    /// Its guards, as data.
    #[must_use]
    pub fn guards(&self) -> &GuardsConfig {
        &self.guards
    }

    /// Its signals, the implied ones too.
    #[must_use]
    pub fn signals(&self) -> &[SignalConfig] {
        &self.signals
    }

    /// What is legal and may be regretted.
    #[must_use]
    pub fn hints(&self) -> &[Hint] {
        &self.hints
    }

    /// How long a task may wait before a worker is hired for it, where the policy says so.
    #[must_use]
    pub fn wait_budget(&self) -> Option<Duration> {
        match &self.decider {
            DeciderConfig::Slo(slo) => Some(slo.wait_budget),
            DeciderConfig::OnDemand(_) => Some(Duration::ZERO),
            _ => None,
        }
    }

    /// How long the oldest task may wait before the newest go first. `None`: for ever.
    ///
    /// ```
    /// use headcount_core::{Policy, Preset};
    /// use std::time::Duration;
    ///
    /// let after = |preset: Preset| {
    ///     Policy::check(&preset.config(), 8).expect("no fault").newest_first_after()
    /// };
    /// let budget = Duration::from_millis(50);
    /// assert_eq!(after(Preset::slo(budget)), Some(budget));
    /// assert_eq!(after(Preset::gopipe()), None);
    /// ```
    #[must_use]
    pub fn newest_first_after(&self) -> Option<Duration> {
        match &self.decider {
            DeciderConfig::Slo(slo) => slo.newest_first_after(),
            _ => None,
        }
    }

    /// How long a worker above the floor stays parked, where the policy says so.
    #[must_use]
    pub fn idle_time(&self) -> Option<Duration> {
        match &self.decider {
            DeciderConfig::OnDemand(on_demand) => Some(on_demand.idle_time),
            _ => None,
        }
    }

    /// How a pool hires under this policy, to begin with: up to what is trusted unmeasured where it
    /// hires for tasks that wait, its minimum where the decider names the size.
    #[must_use]
    pub fn roster(&self) -> RosterConfig {
        let Bounds { min, max } = self.bounds;
        match &self.decider {
            DeciderConfig::Slo(slo) => RosterConfig {
                wait_budget: slo.wait_budget,
                ..RosterConfig::new(Staffing::between(min, slo.trust_start.clamp(min, max)))
            },
            DeciderConfig::Throughput(throughput) => {
                RosterConfig::new(Staffing::between(min, throughput.start.clamp(min, max)))
            }
            DeciderConfig::OnDemand(on_demand) => RosterConfig {
                idle_time: on_demand.idle_time,
                ..RosterConfig::new(Staffing::between(min, max))
            },
            other => {
                let start = other.start().unwrap_or(min).clamp(min, max);
                RosterConfig::new(Staffing::exactly(start))
            }
        }
    }

    /// A pool whose history was lost does not shrink at first: for ten ticks, unless the policy
    /// says how long.
    fn warm_up(&self) -> WarmUp {
        let span = match self.decider {
            // What was is of no account there: the zone alone names the size.
            DeciderConfig::HealthZones(_) => Duration::ZERO,
            _ => self.tick.saturating_mul(10),
        };
        self.guards.warm_up.unwrap_or(WarmUp { span })
    }

    /// Builds an autoscaler that remembers nothing yet.
    #[must_use]
    pub fn build(&self) -> Autoscaler {
        self.build_with(Extras::default())
    }

    /// The same with parts of one's own beside the policy's, or in place of its decider and of the
    /// sources of its signals.
    ///
    /// # Panics
    ///
    /// When there are too many parts, or when one has a name that is no name or is taken: see
    /// [`Autoscaler::new`].
    #[must_use]
    pub fn build_with(&self, extras: Extras) -> Autoscaler {
        self.try_build_with(extras).unwrap_or_else(|fault| panic!("{fault}"))
    }

    /// The same, for parts that somebody else wrote.
    ///
    /// # Errors
    ///
    /// When there are too many parts, or when one has a name that is no name or is taken.
    pub fn try_build_with(&self, extras: Extras) -> Result<Autoscaler, Fault> {
        self.check_extras(&extras)?;
        let parts = ExtraParts::of(&extras);
        let mut own: Vec<_> = extras.signals.into_iter().map(named).collect();
        let mut signals = Vec::new();
        for signal in &self.signals {
            let index = own.iter().position(|(name, _)| *name == signal.name);
            let source = index.map(|index| own.remove(index).1);
            let source = source.unwrap_or_else(|| signal.source.build());
            signals.push((signal.name, build_signal(signal, source)));
        }
        signals.extend(own);
        let own_parts = extras.parts;
        let decider =
            extras.decider.unwrap_or_else(|| self.decider.build_with(self.bounds, own_parts));
        let mut guards = self.line_up();
        // Before whatever limits: nobody overrules health, memory, allowance and bounds.
        let is_limit = |guard: &Arc<dyn Guard>| guard.is_limit() || guard.watches_health();
        let first_limit = guards.iter().position(is_limit).unwrap_or(guards.len());
        guards.splice(first_limit..first_limit, extras.guards);
        let mut autoscaler = Autoscaler::with_names(signals, decider, guards, self.bounds);
        autoscaler.set_mode(self.mode);
        autoscaler.keep_samples(self.samples_kept as usize);
        autoscaler.set_extras(parts, first_limit);
        Ok(autoscaler)
    }

    fn check_extras(&self, extras: &Extras) -> Result<(), Fault> {
        let fault = |field: &str, value: &dyn fmt::Display, allowed: String| {
            Err(Fault { field: field.to_owned(), value: value.to_string(), allowed })
        };
        let mut taken: Vec<Name> = Vec::new();
        for signal in &extras.signals {
            match Name::new(signal.name()) {
                Err(error) => return fault("signals", &signal.name(), error.to_string()),
                Ok(name) if taken.contains(&name) => {
                    let allowed = "another signal has this name already".to_owned();
                    return fault("signals", &name, allowed);
                }
                Ok(name) => taken.push(name),
            }
        }
        // One that bears the name of a declared signal takes the place of its source.
        let others = self.signals.iter().filter(|signal| !taken.contains(&signal.name));
        let signals = taken.len() + others.count();
        if SIGNALS_MAX < signals {
            let allowed = format!("at most {SIGNALS_MAX} signals are read");
            return fault("signals", &signals, allowed);
        }
        let composite = match &self.decider {
            DeciderConfig::Composite(composite) => Some(composite),
            _ => None,
        };
        for (path, _) in &extras.parts {
            if !composite.is_some_and(|composite| composite.has_part(path)) {
                let part = |place: String, index| format!("{place}.parts[{index}]");
                let place = path.iter().fold("decider".to_owned(), part);
                let allowed = "a part of one's own belongs there, and this policy has no such part";
                let allowed = allowed.to_owned();
                return fault(&place, &self.decider.name(), allowed);
            }
        }
        for guard in &extras.guards {
            if let Err(error) = Name::new(guard.name()) {
                return fault("guards", &guard.name(), error.to_string());
            }
        }
        // The bounds are the last one.
        let guards = self.line_up().len() + extras.guards.len() + 1;
        if GUARDS_MAX < guards {
            return fault("guards", &guards, format!("at most {GUARDS_MAX} guards are asked"));
        }
        Ok(())
    }

    /// The guards in their order, the softest first. The bounds follow by themselves.
    fn line_up(&self) -> Vec<Arc<dyn Guard>> {
        fn some<G: Guard + 'static>(guard: Option<G>) -> Option<Arc<dyn Guard>> {
            guard.map(|guard| Arc::new(guard) as Arc<dyn Guard>)
        }
        let Bounds { min, max } = self.bounds;
        let brake =
            |brake: HealthBrake| HealthBrake { workers_min: min, workers_max: max, ..brake };
        let line = [
            some(self.guards.step),
            some(self.guards.cooldown),
            some(self.guards.hold_peak),
            some(Some(self.warm_up())),
            some(self.guards.error_veto),
            some(Some(BreakerVeto {})),
            some(Some(DrainHold {})),
            some(self.guards.flap_damper),
            some(self.guards.health.map(brake)),
            some(self.guards.memory),
            some(Some(AllowanceLimit {})),
        ];
        line.into_iter().flatten().collect()
    }
}

/// Parts of one's own, to be built into a policy.
///
/// A signal is read beside the policy's, or in place of the source of the one whose name it has,
/// and is smoothed as that one is; a decider stands in place of the policy's; a guard is asked
/// after the policy's and before the bounds.
///
/// ```
/// use headcount_core::guard::{Because, Guard, Ruling};
/// use headcount_core::{Extras, Name, Observation, Policy, PoolSnapshot, Preset};
/// use headcount_core::{Situation, Staffing, Timestamp};
/// use std::sync::Arc;
///
/// #[derive(Debug)]
/// struct Freeze;
/// impl Guard for Freeze {
///     fn name(&self) -> &str {
///         "freeze"
///     }
///     fn review(&self, _: &Situation<'_>, _: Staffing) -> Ruling {
///         Ruling::Hold(Because::Said(Name::new("until_monday").expect("a name")))
///     }
/// }
///
/// let policy = Policy::check(&Preset::gopipe().config(), 8).expect("the preset is right");
/// let extras = Extras { guards: vec![Arc::new(Freeze)], ..Extras::default() };
/// let mut frozen = policy.build_with(extras);
/// let busy = PoolSnapshot::at_work(Staffing::exactly(4), 4);
/// let decision = frozen.tick(&Observation::new(Timestamp::ORIGIN, busy));
/// let line = "hold 4: wants 5 (all busy) -> freeze (until monday) 4 -> bounds 4";
/// assert_eq!(decision.explain().to_string(), line);
/// ```
#[derive(Debug, Default)]
pub struct Extras {
    /// Signals beside the policy's, or in place of the sources of those whose names they have.
    pub signals: Vec<Box<dyn Signal>>,
    /// A decider in place of the policy's.
    pub decider: Option<Box<dyn Decider>>,
    /// Deciders in place of parts of the policy's composite, and where those stand.
    pub parts: Vec<(PartPath, Box<dyn Decider>)>,
    /// Guards behind the policy's, and before those that limit.
    pub guards: Vec<Arc<dyn Guard>>,
}

impl Extras {
    /// Nothing but a decider.
    #[must_use]
    pub fn decider(decider: impl Decider + 'static) -> Self {
        Self { decider: Some(Box::new(decider)), ..Self::default() }
    }
}

fn named(signal: Box<dyn Signal>) -> (Name, Box<dyn Signal>) {
    (name_of(signal.name()), signal)
}

fn check_bounds(
    config: &PolicyConfig,
    cores: u32,
    decider: &DeciderConfig,
    inspection: &mut Inspection,
) -> Bounds {
    let min = config.workers_min.unwrap_or(1);
    let max = config.workers_max.unwrap_or(cores.max(min).max(1));
    let allowed = config.workers_max_allowed.unwrap_or(Policy::WORKERS_MAX);
    // Only the pool that hires for a waiting task comes back from nothing.
    if min == 0 && !decider.hires_for_waiting_tasks() {
        let allowed = format!("at least 1 is needed: {} cannot come back from 0", decider.name());
        inspection.fault("workers_min", min, &allowed);
    }
    if max < min {
        let allowed = format!("it must be at least workers_min, which is {min}");
        inspection.fault("workers_max", max, &allowed);
    } else if max == 0 {
        inspection.fault("workers_max", max, "at least 1 is needed");
    }
    if allowed.min(Policy::WORKERS_MAX) < max {
        let most = allowed.min(Policy::WORKERS_MAX);
        let by = match allowed < Policy::WORKERS_MAX {
            true => ", which is workers_max_allowed of this policy",
            false => "",
        };
        inspection.fault("workers_max", max, &format!("at most {most} are allowed{by}"));
    }
    Bounds { min, max }
}

fn check_signals(signals: &[SignalConfig], inspection: &mut Inspection) {
    for (index, signal) in signals.iter().enumerate() {
        inspection.within(&format!("signals[{index}]"), |inspection| {
            hint_at_borrowed_name(signal, inspection);
            if signals[..index].iter().any(|earlier| earlier.name == signal.name) {
                inspection.fault("name", signal.name, "another signal has this name already");
            }
            if SMOOTHINGS_MAX < signal.smoothing.len() {
                let many = format!("{} long", signal.smoothing.len());
                let allowed = format!("at most {SMOOTHINGS_MAX} steps are allowed");
                inspection.fault("smoothing", many, &allowed);
            }
            for (step, smoothing) in signal.smoothing.iter().enumerate() {
                if let Err(error) = smoothing.check() {
                    let (field, value, allowed) = error.parts();
                    inspection.within(&format!("smoothing[{step}]"), |inspection| {
                        inspection.fault(field, value, &allowed);
                    });
                }
            }
        });
    }
}

/// A signal that bears the name of one source and reads another will be misread by people.
fn hint_at_borrowed_name(signal: &SignalConfig, inspection: &mut Inspection) {
    let bears = Source::named(signal.name.as_str());
    if bears.is_some_and(|source| source != signal.source) {
        let advice =
            format!("{} reads {}; explanations will call it so", signal.name, signal.source);
        inspection.hint("name", advice);
    }
}

/// How many smoothings may stand behind one another.
const SMOOTHINGS_MAX: usize = 8;

/// The declared signals and, behind them, those that were only called by their source's name.
fn with_implied(mut signals: Vec<SignalConfig>, inspection: &mut Inspection) -> Vec<SignalConfig> {
    for (name, source) in std::mem::take(&mut inspection.implied) {
        signals.push(SignalConfig { name, source, smoothing: Vec::new() });
    }
    if SIGNALS_MAX < signals.len() {
        let many = format!("{} signals", signals.len());
        let allowed = format!("at most {SIGNALS_MAX} are read, with those that parts ask for");
        inspection.fault("signals", many, &allowed);
    }
    signals
}

/// What is done to a source, around it.
fn build_signal(config: &SignalConfig, source: Box<dyn Signal>) -> Box<dyn Signal> {
    let name = config.name.as_str();
    let smoothings = config.smoothing.iter();
    smoothings.fold(source, |inner, smoothing| smoothing.wrap(name, inner))
}

fn check_guards(guards: &GuardsConfig, inspection: &mut Inspection) {
    if let Some(step) = &guards.step {
        inspection.within("step", |inspection| check_step(step, inspection));
    }
    if let Some(veto) = &guards.error_veto {
        inspection.within("error_veto", |inspection| {
            inspection.signal("signal", &veto.signal);
            inspection.share("rate_max", veto.rate_max);
        });
    }
    if let Some(brake) = &guards.health {
        inspection.within("health", |inspection| {
            inspection.positive("recovery_share", brake.recovery_share);
            if brake.recovery_rest < Duration::from_secs(1) && !brake.recovery_rest.is_zero() {
                let shown = format!("{:?}", brake.recovery_rest);
                inspection.fault("recovery_rest", shown, "0, or 1 s and more is allowed");
            }
        });
    }
    if let Some(memory) = &guards.memory {
        inspection.within("memory", |inspection| {
            if memory.bytes_per_worker == 0 {
                inspection.fault("bytes_per_worker", 0, "at least 1 is needed");
            }
            inspection.share("use_max", memory.use_max);
        });
    }
    if let Some(damper) = &guards.flap_damper {
        inspection.within("flap_damper", |inspection| {
            inspection.some_time("window", damper.window);
            inspection.some_time("hold", damper.hold);
            if damper.hold_max < damper.hold {
                let allowed = format!("it must be at least hold, which is {:?}", damper.hold);
                inspection.fault("hold_max", format!("{:?}", damper.hold_max), &allowed);
            }
        });
    }
}

fn check_step(step: &StepLimit, inspection: &mut Inspection) {
    for (field, workers) in [("grow_max", step.grow_max), ("shrink_max", step.shrink_max)] {
        if let Some(workers) = workers {
            inspection.at_least_one(field, workers);
        }
    }
    let shares =
        [("grow_share_max", step.grow_share_max), ("shrink_share_max", step.shrink_share_max)];
    for (field, share) in shares {
        if let Some(share) = share {
            inspection.positive(field, share);
        }
    }
}

/// Shrinking should be slower than growing, except where the machine's health decides.
fn hint_at_hasty_shrinks(
    guards: &GuardsConfig,
    decider: &DeciderConfig,
    inspection: &mut Inspection,
) {
    let Some(Cooldown { grow, shrink, .. }) = guards.cooldown else { return };
    if shrink < grow && !matches!(decider, DeciderConfig::HealthZones(_)) {
        let advice =
            format!("{shrink:?} is shorter than grow, {grow:?}; shrinking should be slower");
        inspection.hint("guards.cooldown.shrink", advice);
    }
}

/// A sample or two of a jumpy signal make a decision on noise.
fn hint_at_single_samples(
    signals: &[SignalConfig],
    decider: &DeciderConfig,
    inspection: &mut Inspection,
) {
    if matches!(decider, DeciderConfig::Slo(_)) {
        return;
    }
    let is_jumpy = |source| {
        use Source::{DepthPerWorker, OldestWait, Pending, QueueDepth, Utilization};
        matches!(source, Utilization | QueueDepth | DepthPerWorker | Pending | OldestWait)
    };
    let is_single = |signal: &&SignalConfig| {
        let smoothed = signal.smoothing.iter().any(|smoothing| match smoothing {
            Smoothing::Mean { samples } => 3 <= *samples,
            Smoothing::Ewma { .. } | Smoothing::Over { .. } => true,
            _ => false,
        });
        is_jumpy(signal.source) && !smoothed
    };
    let names: Vec<Name> = signals.iter().filter(is_single).map(|signal| signal.name).collect();
    for name in names {
        let advice = "one or two samples make a decision; smooth it, over 3 samples or more";
        inspection.hint(&format!("signals.{name}"), advice);
    }
}
