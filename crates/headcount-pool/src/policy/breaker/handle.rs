//! The breaker as its users hold it: by itself, or as a policy of one pool or several.

use std::error::Error;
use std::fmt;
use std::sync::Arc as StdArc;
use std::time::Duration;

use headcount_core::{Breaker, Clock, Fault, Name, Timestamp};

use super::config::{BreakerConfig, Settings};
use super::permit::BreakerPermit;
use super::rules::{BreakerCounts, BreakerRules, Refused, Ticket};
use super::window::Went;
use crate::clock::Monotonic;
use crate::policy::{Baggage, Ending, Outcome, PoolPolicy, TaskView, Verdict};
use crate::sync::{Arc, Mutex, lock};

/// Lets no call pass while too many of them fail.
///
/// Clones are the same breaker, so several pools that call one side share what they learn of it.
///
/// As a policy it counts a task that fails, panics or times out as a failure, and one that is
/// cancelled not at all. It asks when a task is submitted: tasks that wait already when it opens
/// still run.
///
/// ```
/// use headcount_core::Breaker;
/// use headcount_pool::policy::{BreakerConfig, CircuitBreaker, Trip};
///
/// let config = BreakerConfig { trip: Some(Trip::Failures(2)), ..BreakerConfig::default() };
/// let breaker = CircuitBreaker::new(&config).expect("no fault");
/// for _ in 0..2 {
///     breaker.try_call().expect("it is closed").failed();
/// }
/// assert_eq!(breaker.state(), Breaker::Open);
/// assert!(breaker.try_call().is_err());
/// breaker.close();
/// assert!(breaker.try_call().is_ok());
/// ```
#[derive(Clone)]
pub struct CircuitBreaker {
    name: Name,
    shared: Arc<Shared>,
}

struct Shared {
    clock: StdArc<dyn Clock>,
    rules: Mutex<BreakerRules>,
}

impl CircuitBreaker {
    /// A closed breaker, called `circuit_breaker`.
    ///
    /// # Errors
    ///
    /// With everything that is wrong with `config`.
    pub fn new(config: &BreakerConfig) -> Result<Self, Vec<Fault>> {
        Self::with_clock(config, StdArc::new(Monotonic::new()))
    }

    /// A closed breaker that lives by another clock, as tests do.
    ///
    /// # Errors
    ///
    /// With everything that is wrong with `config`.
    pub fn with_clock(
        config: &BreakerConfig,
        clock: StdArc<dyn Clock>,
    ) -> Result<Self, Vec<Fault>> {
        Settings::check(config).map(|settings| Self::of(settings, clock))
    }

    /// The same breaker under another name, for a pool that has two.
    #[must_use]
    pub fn named(self, name: Name) -> Self {
        Self { name, ..self }
    }

    fn of(settings: Settings, clock: StdArc<dyn Clock>) -> Self {
        let name = Name::new("circuit_breaker").expect("a name");
        let rules = Mutex::new(BreakerRules::new(settings));
        Self { name, shared: Arc::new(Shared { clock, rules }) }
    }

    /// A permit for one call, if calls pass now.
    ///
    /// # Errors
    ///
    /// When the breaker is open, or half open with all probes out.
    pub fn try_call(&self) -> Result<BreakerPermit, BreakerOpen> {
        match self.with(BreakerRules::admit) {
            Ok(ticket) => Ok(BreakerPermit::new(self.clone(), ticket)),
            Err(Refused { state, retry_after }) => Err(BreakerOpen { state, retry_after }),
        }
    }

    /// Whether calls pass now. An autoscaler wants to know.
    #[must_use]
    pub fn state(&self) -> Breaker {
        self.with(|rules, now| rules.state(now))
    }

    /// What it has counted.
    #[must_use]
    pub fn counts(&self) -> BreakerCounts {
        self.with(|rules, _| rules.counts())
    }

    /// Opens it for so long, after which it lets probes through as if it had opened by itself.
    pub fn force_open(&self, span: Duration) {
        self.with(|rules, now| rules.open(span, now));
    }

    /// Closes it now, and forgets the failures of the window. What is out reports too late.
    pub fn close(&self) {
        self.with(|rules, _| rules.close());
    }

    /// Makes it as new: closed, and with nothing counted.
    pub fn reset(&self) {
        self.with(|rules, _| rules.reset());
    }

    pub(super) fn reported(&self, ticket: Ticket, went: Went) {
        self.with(|rules, now| rules.reported(ticket, went, now));
    }

    pub(super) fn given_back(&self, ticket: Ticket) {
        self.with(|rules, now| rules.given_back(ticket, now));
    }

    /// The clock is read before the lock: it may be anybody's code.
    fn with<T>(&self, act: impl FnOnce(&mut BreakerRules, Timestamp) -> T) -> T {
        let now = self.shared.clock.now();
        act(&mut lock(&self.shared.rules), now)
    }
}

impl PoolPolicy for CircuitBreaker {
    fn name(&self) -> &str {
        self.name.as_str()
    }

    fn on_enqueue(&self, _task: &TaskView<'_>) -> Verdict {
        match self.try_call() {
            Ok(permit) => Verdict::accept_with(permit),
            Err(open) => Verdict::reject_for(open.to_string(), open.retry_after),
        }
    }

    fn on_complete(&self, _task: &TaskView<'_>, ending: Ending, baggage: Option<Baggage>) {
        let permit = baggage.and_then(|baggage| baggage.downcast::<BreakerPermit>().ok());
        match (ending.outcome, permit) {
            (Outcome::Succeeded, Some(permit)) => permit.succeeded(),
            (Outcome::Failed | Outcome::Panicked | Outcome::TimedOut, Some(permit)) => {
                permit.failed();
            }
            // Whoever stopped it knows why; the other side may be well. The permit is dropped.
            (Outcome::Cancelled, permit) => drop(permit),
            (_, None) => {}
        }
    }
}

impl Default for CircuitBreaker {
    fn default() -> Self {
        Self::of(Settings::default(), StdArc::new(Monotonic::new()))
    }
}

impl fmt::Debug for CircuitBreaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CircuitBreaker")
            .field("name", &self.name)
            .field("state", &self.state())
            .field("counts", &self.counts())
            .finish_non_exhaustive()
    }
}

/// A call did not pass the breaker.
///
/// ```
/// use headcount_pool::policy::CircuitBreaker;
/// use std::time::Duration;
///
/// let breaker = CircuitBreaker::default();
/// breaker.force_open(Duration::from_secs(30));
/// let open = breaker.try_call().expect_err("it is open");
/// assert!(open.retry_after <= Duration::from_secs(30));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerOpen {
    /// Open, or half open with all probes out.
    pub state: Breaker,
    /// When a call may pass: at the end of the open time, or when the oldest probe expires. A probe
    /// that reports may make room before.
    pub retry_after: Duration,
}

impl fmt::Display for BreakerOpen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.state {
            Breaker::HalfOpen => "half open and all its probes are out",
            Breaker::Open | Breaker::Closed => "open",
        };
        write!(f, "the circuit breaker is {why}; try again in {:.1?}", self.retry_after)
    }
}

impl Error for BreakerOpen {}
