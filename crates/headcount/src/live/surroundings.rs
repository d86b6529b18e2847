//! What is known beside the pool itself.

use headcount_core::{Decision, Notes, Observation, PolicyConfig};
use headcount_pool::policy::CircuitBreaker;

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
    /// What the autoscaler remembers after the tick.
    pub(crate) notes: &'a Notes,
    /// As it was written, in the mode in force.
    #[cfg_attr(not(feature = "trace"), expect(dead_code, reason = "only traces tell it"))]
    pub(crate) policy: &'a PolicyConfig,
}

/// What is made of ticks: a trace, a file to begin from after a restart.
pub(crate) trait Record: Send + Sync {
    /// A pool goes by this policy from now on; this is what its autoscaler remembers, in words.
    fn policy(&self, pool: &str, policy: &PolicyConfig, notes: &[u64]);

    /// Takes note of a tick.
    fn record(&self, tick: &Tick<'_>);

    /// Nothing follows for now.
    fn flush(&self);
}
