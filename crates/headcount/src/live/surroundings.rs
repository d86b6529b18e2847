//! What is known beside the pool itself.

use std::sync::Arc;

use headcount_core::{Decision, ExtraParts, Notes, Observation, PolicyConfig};
use headcount_pool::policy::CircuitBreaker;

use super::names::Names;
use crate::probes::Sampler;

/// Adds to an observation what it knows: the machine's health, an allowance, a number of yours.
///
/// Whoever implements it relies on this: it is called before every decision, by whoever decides,
/// with the pool already observed. It returns at once, so it measures nothing itself; it may call
/// nothing of the scaler that asks. A panic is caught and counts as that of a tick.
///
/// ```
/// use headcount::{Observation, Surroundings};
/// use headcount_core::Name;
///
/// /// How far the consumers of a topic are behind.
/// struct Lag(f64);
///
/// impl Surroundings for Lag {
///     fn look(&self, observation: &mut Observation) {
///         let name = Name::new("kafka.lag").expect("a name");
///         // A number that is not finite is refused; then nothing is known of the lag.
///         observation.externals.set(name, self.0).ok();
///     }
/// }
///
/// let mut observation = Observation::default();
/// Lag(12.0).look(&mut observation);
/// assert_eq!(observation.externals.get("kafka.lag"), Some(12.0));
/// ```
pub trait Surroundings: Send + Sync {
    /// Adds what it knows.
    fn look(&self, observation: &mut Observation);
}

impl Surroundings for Sampler {
    fn look(&self, observation: &mut Observation) {
        self.tell(observation);
    }
}

impl Surroundings for CircuitBreaker {
    fn look(&self, observation: &mut Observation) {
        observation.breaker = Some(self.state());
    }
}

/// One tick, to be recorded.
#[derive(Debug)]
pub(crate) struct Tick<'a> {
    pub(crate) pool: &'a str,
    pub(crate) observation: &'a Observation,
    pub(crate) decision: &'a Decision,
    /// What it goes by after the tick.
    pub(crate) footing: &'a Arc<Footing>,
}

/// What a scaler goes by at one moment.
#[derive(Debug)]
pub(crate) struct Footing {
    /// What the autoscaler remembers.
    pub(crate) notes: Notes,
    /// The policy as it was written, in the mode in force.
    #[cfg_attr(not(feature = "trace"), expect(dead_code, reason = "only traces tell it"))]
    pub(crate) policy: PolicyConfig,
    /// The parts that are not the policy's own.
    #[cfg_attr(not(feature = "trace"), expect(dead_code, reason = "only traces tell it"))]
    pub(crate) extras: ExtraParts,
    /// What the autoscaler remembers but for those parts, where there are any.
    #[cfg_attr(not(feature = "trace"), expect(dead_code, reason = "only traces tell it"))]
    pub(crate) notes_to_replay: Option<Notes>,
}

/// What is made of ticks: a trace, a file to begin from after a restart.
///
/// Nothing here waits for a disk but `flush`.
pub(crate) trait Record: Send + Sync {
    /// The names that are taken in it, and what it is called where one is refused.
    fn names(&self) -> (&Names, String);

    /// A pool goes by this from now on.
    fn policy(&self, pool: &str, footing: &Arc<Footing>);

    /// Takes note of a tick.
    fn record(&self, tick: &Tick<'_>);

    /// Nothing follows for now: what it has is to be written soon.
    fn finish(&self);

    /// Waits until everything is written.
    fn flush(&self);
}
