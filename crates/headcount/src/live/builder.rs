//! How a scaler is made.

use std::fmt;
use std::num::NonZero;
use std::sync::{Arc, Mutex};
use std::thread::available_parallelism;

use headcount_core::decide::DeciderConfig;
use headcount_core::{
    Autoscaler, Bounds, Extras, Fault, Mode, Policy, PolicyConfig, Resizable, Staffing,
};
use headcount_pool::policy::CircuitBreaker;

use super::budget::{Budget, Seat, Share};
use super::downstream::Downstream;
use super::driver::Driver;
use super::event::{Audience, Listener, Scaled};
use super::inner::{Fit, Inner, MakeExtras, State};
use super::names::Claim;
use super::scaler::Scaler;
use super::state_file::StateFile;
use super::surroundings::{Record, Surroundings};
use super::wall::UtcOffset;
use crate::probes::Sampler;
use crate::sync::lock;

/// The settings of a scaler that is about to be made.
///
/// ```
/// use headcount::{Limiter, PolicyConfig, Preset, Scaler};
///
/// // At most 20 calls at once, fewer where the other side does not keep up.
/// let limiter = Limiter::new(20);
/// let scaler = Scaler::of(limiter.clone()).name("calls").policy(Preset::aimd()).start()?;
/// assert_eq!(scaler.name(), "calls");
///
/// let wrong = PolicyConfig { workers_min: Some(9), workers_max: Some(3), ..Default::default() };
/// let error = Scaler::of(limiter).policy(wrong).start().expect_err("the bounds cross");
/// let text = "workers_max is 3; it must be at least workers_min, which is 9";
/// assert_eq!(error.to_string(), text);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a builder makes nothing until it is told to"]
pub struct ScalerBuilder {
    name: String,
    resizable: Arc<dyn Resizable>,
    policy: PolicyConfig,
    make_extras: Option<MakeExtras>,
    driver: Driver,
    surroundings: Vec<Arc<dyn Surroundings>>,
    utc_offset: UtcOffset,
    records: Vec<Arc<dyn Record>>,
    downstreams: Vec<Downstream>,
    seat: Option<(Budget, Share)>,
    seated: Option<Seat>,
    throttled: bool,
    state_file: Option<StateFile>,
    listeners: Vec<Listener>,
    claim: Claim,
}

impl ScalerBuilder {
    pub(super) fn of(resizable: Arc<dyn Resizable>) -> Self {
        Self {
            name: "pool".to_owned(),
            resizable,
            policy: PolicyConfig::default(),
            make_extras: None,
            driver: Driver::shared(),
            surroundings: Vec::new(),
            utc_offset: UtcOffset::UTC,
            records: Vec::new(),
            downstreams: Vec::new(),
            seat: None,
            seated: None,
            throttled: false,
            state_file: None,
            listeners: Vec::new(),
            claim: Claim::Alone,
        }
    }

    /// What it is called, in traces, state files and explanations. "pool" by default.
    ///
    /// A trace and a state file tell scalers apart by it: there a second one of that name is
    /// refused while the first lives.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The policy it goes by: a preset, or one of yours. `slo` by default.
    ///
    /// Where it does not say how many workers there may be, the bounds of what it scales count, as
    /// they are when the scaler is made.
    pub fn policy(mut self, policy: impl Into<PolicyConfig>) -> Self {
        self.policy = policy.into();
        self
    }

    /// Parts of yours beside the policy's, made anew each time the policy changes.
    pub fn extras(mut self, make: impl Fn() -> Extras + Send + Sync + 'static) -> Self {
        self.make_extras = Some(Arc::new(make));
        self
    }

    /// Who looks after it. [`Driver::shared`] by default.
    pub fn driver(mut self, driver: &Driver) -> Self {
        self.driver = driver.clone();
        self
    }

    /// By which clock a policy with the time of day in it goes. UTC by default.
    ///
    /// ```
    /// use headcount::{Preset, Scaler, ThreadPool};
    ///
    /// let pool = ThreadPool::builder().workers(1..=8).build()?;
    /// let scaler = Scaler::of(pool.handle()).policy(Preset::gopipe());
    /// let scaler = scaler.utc_offset("+02:00".parse()?).build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn utc_offset(mut self, offset: UtcOffset) -> Self {
        self.utc_offset = offset;
        self
    }

    /// Knows of this too when it decides.
    pub fn around(mut self, surroundings: impl Surroundings + 'static) -> Self {
        self.surroundings.push(Arc::new(surroundings));
        self
    }

    /// Knows how the machine is, as far as `sampler` does: for policies that look at its memory or
    /// its health, and for [`throttle_by_health`](Self::throttle_by_health).
    pub fn health(self, sampler: &Sampler) -> Self {
        self.around(sampler.clone())
    }

    /// Is held down while the machine is unwell: at once, and let back up gradually; off by
    /// default. A machine that was not measured yet counts as unwell, so let the sampler measure
    /// first.
    ///
    /// ```
    /// use headcount::probes::{HostSample, Sampler, Scripted};
    /// use headcount::{Preset, Scaler, SystemClock, ThreadPool};
    /// use std::sync::Arc;
    /// use std::time::Duration;
    ///
    /// let sick = HostSample { io_wait: Some(0.9), ..HostSample::default() };
    /// let sampler = Sampler::manual(Scripted::always(sick), Arc::new(SystemClock));
    /// sampler.sample_now();
    /// let pool = ThreadPool::builder().workers(1..=8).build()?;
    /// let scaler = Scaler::of(pool.handle()).policy(Preset::slo(Duration::ZERO));
    /// let scaler = scaler.health(&sampler).throttle_by_health().build()?;
    /// let why = scaler.evaluate_now().explain().to_string();
    /// assert!(why.contains("-> health critical 1 ->"), "{why}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn throttle_by_health(mut self) -> Self {
        self.throttled = true;
        self
    }

    /// Does not grow while `breaker` is not closed.
    pub fn breaker(self, breaker: &CircuitBreaker) -> Self {
        self.around(breaker.clone())
    }

    /// Shares a budget of workers with others.
    pub fn budget(mut self, budget: &Budget, share: Share) -> Self {
        self.seat = Some((budget.clone(), share));
        self
    }

    /// Calls the same downstream as others: while it fails for one of them, none grows.
    pub fn downstream(mut self, downstream: &Downstream) -> Self {
        self.downstreams.push(downstream.clone());
        self
    }

    /// All that it goes by, made elsewhere.
    #[cfg(feature = "config")]
    pub(crate) fn fit(mut self, fit: Fit) -> Self {
        self.policy = fit.policy;
        self.make_extras = fit.make_extras;
        self.surroundings = fit.surroundings;
        self.utc_offset = fit.utc_offset;
        self
    }

    /// May have the name of another, whose place it takes.
    #[cfg(feature = "config")]
    pub(crate) fn in_place_of_another(mut self) -> Self {
        self.claim = Claim::InPlaceOfAnother;
        self
    }

    /// Begins with the size and the memory that it had when the process ended.
    pub fn state_file(mut self, file: &StateFile) -> Self {
        self.state_file = Some(file.clone());
        self
    }

    /// Records everything that is observed and decided.
    #[cfg(feature = "trace")]
    pub fn trace(mut self, recorder: &crate::trace::Recorder) -> Self {
        self.records.push(Arc::new(recorder.clone()));
        self
    }

    /// Calls `listener` after every change of staffing, on the thread that made it.
    pub fn on_scaled(mut self, listener: impl Fn(&Scaled) + Send + Sync + 'static) -> Self {
        self.listeners.push(Arc::new(listener));
        self
    }

    /// Makes it, and has the driver look after it.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the policy, or that its name is taken, or that too many
    /// listen.
    pub fn start(self) -> Result<Scaler, PolicyError> {
        let driver = self.driver.clone();
        let scaler = self.build()?;
        scaler.start();
        match driver.is_running() {
            true => Ok(scaler),
            false => Err(PolicyError::of(Fault {
                field: "driver".to_owned(),
                value: "without a thread".to_owned(),
                allowed: "none could be started; free some and try again".to_owned(),
            })),
        }
    }

    /// Makes it, without anybody looking after it yet.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the policy, or that its name is taken, or that too many
    /// listen.
    pub fn build(mut self) -> Result<Scaler, PolicyError> {
        if self.throttled {
            self.policy.guards.health.get_or_insert_default();
        }
        let snapshot = self.resizable.snapshot();
        let bounds = Bounds { min: snapshot.floor, max: snapshot.ceiling };
        let (written, policy) = PolicyError::check(self.policy, bounds)?;
        self.policy = written;
        if let Some((budget, share)) = self.seat.take() {
            let seat = budget.join(share, policy.bounds(), &*self.resizable);
            self.seated = Some(seat.map_err(PolicyError::of)?);
        }
        self.inner(&policy).map(Scaler::new)
    }

    fn inner(self, policy: &Policy) -> Result<Inner, PolicyError> {
        let mut fit = Fit::new(self.policy, self.make_extras, self.surroundings, &self.downstreams);
        fit.utc_offset = self.utc_offset;
        let (mut autoscaler, decides) = build(policy, fit.make_extras.as_ref())?;
        let known = self.state_file.as_ref().and_then(|file| file.recall(&self.name));
        if let Some(known) = &known {
            // Of another policy, or damaged: then it begins by holding, as one without memory does.
            autoscaler.restore(&known.notes).ok();
        }
        let mut records = self.records;
        records.extend(self.state_file.map(|file| Arc::new(file) as Arc<dyn Record>));
        let names = records.iter().map(|record| {
            let (names, place) = record.names();
            names.take(&self.name, self.claim, &place)
        });
        let names = names.collect::<Result<Vec<_>, _>>().map_err(PolicyError::of)?;
        let state = State::new(autoscaler, policy.clone(), fit);
        let audience = heard_by(self.listeners)?;
        let inner = Inner {
            name: self.name,
            resizable: self.resizable,
            seat: self.seated,
            records,
            names,
            audience,
            driver: self.driver,
            recording: Mutex::default(),
            state: Mutex::new(state),
        };
        inner.begin(policy, known.map(|known| known.staffing), decides);
        inner.record_policy(lock(&inner.state));
        Ok(inner)
    }
}

/// Everybody who is to hear of it.
fn heard_by(listeners: Vec<Listener>) -> Result<Audience, PolicyError> {
    let (audience, many) = (Audience::default(), listeners.len());
    let listen = |listener| audience.listen(listener);
    listeners.into_iter().try_for_each(listen).map_err(|_| {
        PolicyError::of(Fault {
            field: "on_scaled".to_owned(),
            value: format!("{many} listeners"),
            allowed: format!("at most {} are called", Audience::HEARERS_MAX),
        })
    })?;
    Ok(audience)
}

/// Who decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decides {
    /// The policy's own decider.
    Policy,
    /// One that stands in its place.
    Extra,
}

impl Inner {
    /// Begins with the size that was last known, or with what the policy begins with: what is
    /// there, where its decider names a size, and up to what is trusted unmeasured, where the pool
    /// hires for tasks that wait.
    fn begin(&self, policy: &Policy, known: Option<Staffing>, decides: Decides) {
        if !policy.mode().applies() {
            return;
        }
        let observation = self.gather(self.now(), &lock(&self.state));
        let hires = policy.decider().leaves_hiring_to_the_pool() && decides == Decides::Policy;
        let staffing = match known {
            Some(known) => known,
            None if hires => policy.roster().staffing,
            None => Staffing::exactly(observation.pool.live),
        };
        let Bounds { min, max } = policy.bounds();
        self.resize_to(staffing.within(min, max), observation.pool.live);
        self.obey(policy, policy.mode());
    }

    /// Resizes beside the loop, as far as the budget grants it.
    fn resize_to(&self, staffing: Staffing, live: u32) {
        let staffing = self.granted(staffing);
        self.resizable.resize(staffing);
        if let Some(seat) = &self.seat {
            seat.holds(staffing.ceiling.max(live));
        }
    }

    /// The wait budget, the order of the line and the bounds of a policy hold at once.
    pub(super) fn obey(&self, policy: &Policy, mode: Mode) {
        if !mode.applies() {
            return;
        }
        if let Some(wait_budget) = policy.wait_budget() {
            self.resizable.set_wait_budget(wait_budget);
        }
        // Always: whoever promised something before does not any more.
        self.resizable.set_newest_first_after(policy.newest_first_after());
        if let Some(idle_time) = policy.idle_time() {
            self.resizable.set_idle_time(idle_time);
        }
        let (pool, Bounds { min, max }) = (self.resizable.snapshot(), policy.bounds());
        let allowed = pool.staffing().within(min, max);
        if allowed != pool.staffing() && !pool.draining {
            self.resize_to(allowed, pool.live);
        }
    }
}

pub(super) fn build(
    policy: &Policy,
    make: Option<&MakeExtras>,
) -> Result<(Autoscaler, Decides), PolicyError> {
    let extras = make.map_or_else(Extras::default, |make| make());
    let decides = match extras.decider {
        Some(_) => Decides::Extra,
        None => Decides::Policy,
    };
    let autoscaler = policy.try_build_with(extras).map_err(PolicyError::of)?;
    Ok((autoscaler, decides))
}

impl Fit {
    /// All that a scaler goes by, in UTC; every downstream is looked at, and has a veto.
    pub(crate) fn new(
        policy: PolicyConfig,
        make_extras: Option<MakeExtras>,
        mut surroundings: Vec<Arc<dyn Surroundings>>,
        downstreams: &[Downstream],
    ) -> Self {
        if downstreams.is_empty() {
            return Self { policy, make_extras, surroundings, utc_offset: UtcOffset::UTC };
        }
        for downstream in downstreams {
            surroundings.push(Arc::new(downstream.join()));
        }
        let downstreams = downstreams.to_vec();
        let with_vetoes: MakeExtras = Arc::new(move || {
            let mut extras = make_extras.as_ref().map_or_else(Extras::default, |make| make());
            for downstream in &downstreams {
                downstream.add_veto(&mut extras);
            }
            extras
        });
        let make_extras = Some(with_vetoes);
        Self { policy, make_extras, surroundings, utc_offset: UtcOffset::UTC }
    }
}

impl fmt::Debug for ScalerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut builder = f.debug_struct("ScalerBuilder");
        builder.field("name", &self.name).field("policy", &self.policy).finish_non_exhaustive()
    }
}

/// Everything that is wrong with a policy.
///
/// ```
/// use headcount::{PolicyConfig, Scaler, ThreadPool};
/// use std::time::Duration;
///
/// let pool = ThreadPool::builder().workers(1..=8).build()?;
/// let tick = Some(Duration::ZERO);
/// let wrong = PolicyConfig { workers_max: Some(0), tick, ..PolicyConfig::default() };
/// let error = Scaler::of(pool.handle()).policy(wrong).start().expect_err("two faults");
/// assert_eq!(error.faults().len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyError {
    faults: Vec<Fault>,
}

impl PolicyError {
    pub(super) fn of(fault: Fault) -> Self {
        Self { faults: vec![fault] }
    }

    /// Checks a policy, which has these bounds unless it says otherwise. From then on it says so.
    pub(super) fn check(
        written: PolicyConfig,
        bounds: Bounds,
    ) -> Result<(PolicyConfig, Policy), Self> {
        let cores = available_parallelism().map_or(1, NonZero::get);
        let hires = written.decider.as_ref().is_none_or(DeciderConfig::hires_for_waiting_tasks);
        // Only a pool that hires for a task that waits comes back from nothing.
        let min = if hires { bounds.min } else { bounds.min.max(1) };
        let written = PolicyConfig {
            workers_min: written.workers_min.or(Some(min)),
            workers_max: written.workers_max.or(Some(bounds.max.max(min))),
            ..written
        };
        let cores = u32::try_from(cores).unwrap_or(u32::MAX);
        let policy = Policy::check(&written, cores).map_err(|faults| Self { faults })?;
        Ok((written, policy))
    }

    /// What is wrong, each with its place and its value.
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.faults.iter().enumerate() {
            let comma = if index == 0 { "" } else { "; " };
            write!(f, "{comma}{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for PolicyError {}
