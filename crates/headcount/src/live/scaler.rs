//! What the user holds: one autoscaler at work.

use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use headcount_core::{
    Decision, ExternalError, Hint, ManualTarget, Mode, Name, Observation, Policy, PolicyConfig,
    PoolSnapshot, Resizable, Sample, Stats,
};

use super::builder::{PolicyError, ScalerBuilder, build};
use super::event::{AudienceFull, Scaled, ScalerEvent};
use super::inner::{Fit, Inner, State};
use crate::sync::lock;

/// Keeps something at the size that a policy says, and says why.
///
/// Clones are the same scaler; it stops when the last one is dropped. Every method may be called
/// from any thread and returns at once.
///
/// ```
/// use headcount::{Preset, Scaler, ThreadPool};
/// use std::time::Duration;
///
/// let pool = ThreadPool::builder().workers(1..=8).build()?;
/// let slo = Preset::slo(Duration::from_millis(100));
/// let scaler = Scaler::of(pool.handle()).name("thumbs").policy(slo).start()?;
/// assert!(scaler.is_active());
///
/// scaler.hold_at(4, Some(Duration::from_secs(60)));
/// assert_eq!(pool.snapshot().ceiling, 4);
/// assert!(scaler.why().contains("wants 4 (manual)"), "{}", scaler.why());
/// scaler.release();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "it stops when the last handle is dropped"]
pub struct Scaler {
    owner: Arc<Owner>,
}

/// What all handles share; it stops when the last of them goes. The driver holds no part of it.
#[derive(Debug)]
struct Owner {
    inner: Arc<Inner>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.inner.stop();
    }
}

impl Scaler {
    /// A scaler of `resizable`: a pool's handle, a limiter, something of yours.
    pub fn of(resizable: impl Resizable + 'static) -> ScalerBuilder {
        ScalerBuilder::of(Arc::new(resizable))
    }

    /// The same for something that others hold too.
    pub fn of_shared(resizable: Arc<dyn Resizable>) -> ScalerBuilder {
        ScalerBuilder::of(resizable)
    }

    pub(super) fn new(inner: Inner) -> Self {
        Self { owner: Arc::new(Owner { inner: Arc::new(inner) }) }
    }

    fn inner(&self) -> &Arc<Inner> {
        &self.owner.inner
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner().name
    }

    /// Has the driver look after it, if it does not already.
    pub fn start(&self) {
        self.inner().start();
    }

    /// Nothing is decided or done by itself any more when this returns. What it scales stays as it
    /// is.
    pub fn stop(&self) {
        self.inner().stop();
    }

    /// Whether the driver looks after it.
    #[must_use]
    pub fn is_active(&self) -> bool {
        lock(&self.inner().state).member.is_some()
    }

    /// What would be decided now. Nothing is changed, nothing remembered.
    #[must_use]
    pub fn evaluate_now(&self) -> Decision {
        let state = lock(&self.inner().state);
        let observation = self.inner().peek(self.inner().now(), &state);
        state.autoscaler.evaluate(&observation)
    }

    /// Goes to `workers` at once, within what memory, budget and bounds allow, in any mode.
    ///
    /// In the mode automatic it decides for itself again from the next tick on; to stay there, see
    /// [`hold_at`](Self::hold_at).
    #[expect(clippy::must_use_candidate, reason = "it is called for what it does")]
    pub fn scale_to(&self, workers: u32) -> Decision {
        self.scale_by_hand(|_, _| workers)
    }

    /// Goes one step up, as far as the policy's steps go.
    #[expect(clippy::must_use_candidate, reason = "it is called for what it does")]
    pub fn scale_up(&self) -> Decision {
        self.scale_by_hand(|pool, policy| policy.decider().steps().0.up(pool))
    }

    /// Goes one step down, as far as the policy's steps go.
    #[expect(clippy::must_use_candidate, reason = "it is called for what it does")]
    pub fn scale_down(&self) -> Decision {
        self.scale_by_hand(|pool, policy| policy.decider().steps().1.down(pool))
    }

    fn scale_by_hand(&self, size: impl FnOnce(&PoolSnapshot, &Policy) -> u32) -> Decision {
        let mut state = lock(&self.inner().state);
        let observation = self.inner().gather(self.inner().now(), &state);
        let workers = size(&observation.pool, &state.policy);
        let decision = state.autoscaler.tick_by_hand(&observation, workers);
        self.inner().carry_out(state, &observation, &decision);
        self.inner().record_policy(lock(&self.inner().state));
        decision
    }

    /// Stays at `workers`, within what memory, budget and bounds allow, for so long or until it is
    /// [released](Self::release). It counts in the modes manual and automatic.
    pub fn hold_at(&self, workers: u32, span: Option<Duration>) {
        let until = span.map(|span| self.inner().now() + span);
        let mut state = lock(&self.inner().state);
        state.autoscaler.set_manual(Some(ManualTarget { workers, until }));
        self.inner().record_policy(state);
        self.inner().audience.tell(&ScalerEvent::Held(Some(workers), span));
        self.decide_now();
    }

    /// Is not held any more.
    pub fn release(&self) {
        let mut state = lock(&self.inner().state);
        state.autoscaler.set_manual(None);
        self.inner().record_policy(state);
        self.inner().audience.tell(&ScalerEvent::Held(None, None));
        self.look_soon();
    }

    /// The size that somebody asked for, if any.
    #[must_use]
    pub fn held(&self) -> Option<ManualTarget> {
        let now = self.inner().now();
        lock(&self.inner().state).autoscaler.manual().filter(|manual| manual.holds_at(now))
    }

    /// Whether the machine's health holds it down where that is bad: see
    /// [`ScalerBuilder::health`].
    #[must_use]
    pub fn is_throttled_by_health(&self) -> bool {
        lock(&self.inner().state).policy.guards().health.is_some()
    }

    /// Switches that on or off. Without a sampler nothing is known of the machine, which counts as
    /// a warning.
    ///
    /// # Errors
    ///
    /// When there is no room for another guard.
    pub fn throttle_by_health(&self, enabled: bool) -> Result<(), PolicyError> {
        self.refit_with(|state| {
            let mut policy = state.written.clone();
            policy.guards.health = enabled.then(|| policy.guards.health.unwrap_or_default());
            state.fit_for(policy)
        })
    }

    /// How far it may go by itself.
    #[must_use]
    pub fn mode(&self) -> Mode {
        lock(&self.inner().state).autoscaler.mode()
    }

    /// Sets how far it may go by itself, until it is set again: a change of policy leaves it.
    pub fn set_mode(&self, mode: Mode) {
        let mut state = lock(&self.inner().state);
        state.autoscaler.set_mode(mode);
        state.mode_by_hand = Some(mode);
        self.inner().obey(&state.policy, mode);
        self.inner().record_policy(state);
        self.inner().audience.tell(&ScalerEvent::ModeChanged(mode));
        self.look_soon();
    }

    /// Goes by another policy from now on. What guards remember, who holds it, statistics and
    /// samples stay; the new bounds hold at once.
    ///
    /// # Errors
    ///
    /// When something is wrong with the policy, all of it told at once. Then nothing changes.
    pub fn set_policy(&self, policy: impl Into<PolicyConfig>) -> Result<(), PolicyError> {
        let policy = policy.into();
        self.refit_with(|state| state.fit_for(policy))
    }

    /// Goes by something else from now on.
    #[cfg(feature = "config")]
    pub(crate) fn refit(&self, fit: Fit) -> Result<(), PolicyError> {
        self.refit_with(|_| fit)
    }

    fn refit_with(&self, fit: impl FnOnce(&State) -> Fit) -> Result<(), PolicyError> {
        let mut state = lock(&self.inner().state);
        let mut fit = fit(&state);
        let (written, policy) = PolicyError::check(fit.policy, state.policy.bounds())?;
        fit.policy = written;
        let (mut autoscaler, _) = build(&policy, fit.make_extras.as_ref())?;
        if let Some(seat) = &self.inner().seat {
            seat.set_bounds(policy.bounds()).map_err(PolicyError::of)?;
        }
        autoscaler.succeed(&state.autoscaler);
        if let Some(mode) = state.mode_by_hand {
            autoscaler.set_mode(mode);
        }
        self.inner().obey(&policy, autoscaler.mode());
        let before = std::mem::replace(&mut *state, State::new(autoscaler, policy, fit));
        state.go_on_from(before);
        self.inner().record_policy(state);
        self.inner().audience.tell(&ScalerEvent::PolicyChanged);
        self.look_soon();
        Ok(())
    }

    /// Takes no part in a budget any more, though somebody may still hold a handle.
    #[cfg(feature = "config")]
    pub(crate) fn leave_budget(&self) {
        self.inner().leave_budget();
    }

    /// The policy it goes by, as it was written, with the bounds in force.
    #[must_use]
    pub fn policy(&self) -> PolicyConfig {
        lock(&self.inner().state).written.clone()
    }

    /// What is legal in its policy and may be regretted.
    #[must_use]
    pub fn hints(&self) -> Vec<Hint> {
        lock(&self.inner().state).policy.hints().to_vec()
    }

    /// The state of what it scales, now.
    #[must_use]
    pub fn snapshot(&self) -> PoolSnapshot {
        self.inner().resizable.snapshot()
    }

    /// What was observed at the last tick.
    #[must_use]
    pub fn observation(&self) -> Option<Observation> {
        let state = lock(&self.inner().state);
        state.latest.as_ref().map(|(observation, _)| observation.clone())
    }

    /// What was decided at the last tick.
    #[must_use]
    pub fn decision(&self) -> Option<Decision> {
        lock(&self.inner().state).latest.as_ref().map(|(_, decision)| *decision)
    }

    /// Why it has the size it has, in one line.
    #[must_use]
    pub fn why(&self) -> String {
        match self.decision() {
            Some(decision) => decision.explain().to_string(),
            None => "nothing was decided yet".to_owned(),
        }
    }

    /// The last decisions, oldest first.
    #[must_use]
    pub fn decisions(&self) -> Vec<Decision> {
        lock(&self.inner().state).decisions.iter().map(|decision| **decision).collect()
    }

    /// The last `count` samples, oldest first.
    #[must_use]
    pub fn samples(&self, count: usize) -> Vec<Sample> {
        let state = lock(&self.inner().state);
        let samples = state.autoscaler.samples();
        let left_out = samples.len().saturating_sub(count);
        samples.skip(left_out).copied().collect()
    }

    /// What was counted since the start or the last reset.
    #[must_use]
    pub fn stats(&self) -> Stats {
        lock(&self.inner().state).autoscaler.stats()
    }

    /// Begins to count anew. Nothing that decides is forgotten.
    pub fn reset_stats(&self) {
        lock(&self.inner().state).autoscaler.reset_stats();
    }

    /// Tasks that came while the machine's health held the pool down, and had to wait.
    #[must_use]
    pub fn throttled(&self) -> u64 {
        lock(&self.inner().state).throttled
    }

    /// How many ticks panicked, because of a part that is not ours.
    #[must_use]
    pub fn panics(&self) -> u64 {
        lock(&self.inner().state).panics
    }

    /// How long ago it last decided. `None`: it has not yet.
    #[must_use]
    pub fn last_tick_age(&self) -> Option<Duration> {
        let now = self.inner().now();
        lock(&self.inner().state).latest.as_ref().map(|(observation, _)| now.since(observation.at))
    }

    /// Sends a number from outside along with every observation, until it is set again. One that is
    /// not finite is taken away.
    ///
    /// # Errors
    ///
    /// When `value` is not finite, or there is no room for another name.
    pub fn set_external(&self, name: Name, value: f64) -> Result<(), ExternalError> {
        lock(&self.inner().state).externals.set(name, value)
    }

    /// Calls `listener` after every change of staffing, on the thread that made it.
    ///
    /// # Errors
    ///
    /// When 64 are called already.
    pub fn on_scaled(
        &self,
        listener: impl Fn(&Scaled) + Send + Sync + 'static,
    ) -> Result<(), AudienceFull> {
        self.inner().audience.listen(Arc::new(listener))
    }

    /// What happens from now on. Whoever does not take it misses what comes after 1,024 events.
    ///
    /// # Errors
    ///
    /// When there are 64 streams already. One that was dropped counts until the next event.
    pub fn events(&self) -> Result<Receiver<ScalerEvent>, AudienceFull> {
        self.inner().audience.stream()
    }

    /// The latest events, oldest first.
    #[must_use]
    pub fn latest_events(&self) -> Vec<ScalerEvent> {
        self.inner().audience.latest()
    }

    /// Decides now, as if it were time.
    fn decide_now(&self) {
        let mut state = lock(&self.inner().state);
        let observation = self.inner().gather(self.inner().now(), &state);
        let decision = state.autoscaler.tick(&observation);
        self.inner().carry_out(state, &observation, &decision);
    }

    fn look_soon(&self) {
        let member = lock(&self.inner().state).member;
        if let Some(member) = member {
            self.inner().driver.hasten(member);
        }
    }
}
