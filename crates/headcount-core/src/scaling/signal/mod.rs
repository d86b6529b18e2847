//! Signals reduce observations to one number worth deciding on.
//!
//! Plain signals read the observation as it stands; rates compare it with the one before;
//! combinators wrap another signal and smooth, bound or delay what it says.

mod reading;
mod plain;
mod rate;
mod smooth;
mod source;

use std::fmt;

pub use plain::{
    BlockedShare, DepthPerWorker, External, HealthScore, IdleTime, OldestWait, Pending, QueueDepth,
    ServiceTime, Utilization, Wait, WaitPercentile,
};
pub use rate::{ArrivalRate, ErrorRate, Throughput};
pub use reading::{Reading, Unit};
pub use smooth::{Aggregate, Change, Clamp, Ewma, Samples, Window};
pub use source::{Smoothing, SmoothingError, Source};

use super::notes::{Notes, NotesReader};
use super::observation::Observation;
use crate::Reason;

/// Reduces observations to one number.
///
/// Each tick reads each signal once, in order of time. `None` is "no data" and is never the same
/// as zero. A number that is not finite is taken as no data by whoever reads it.
///
/// A signal with memory writes it in `save` and takes it back in `load`; one that does not begins
/// afresh after a restart.
///
/// ```
/// use headcount_core::signal::{Signal, Unit};
/// use headcount_core::{Observation, PoolSnapshot, Staffing, Timestamp};
///
/// /// Tasks of a batch that are still out.
/// #[derive(Clone, Debug)]
/// struct Outstanding;
///
/// impl Signal for Outstanding {
///     fn name(&self) -> &str {
///         "outstanding"
///     }
///     fn unit(&self) -> Unit {
///         Unit::Count
///     }
///     fn read(&mut self, observation: &Observation) -> Option<f64> {
///         let counters = observation.pool.counters;
///         let unrun = counters.expired + counters.cancelled + counters.dropped;
///         let over = counters.completed + counters.rejected + unrun + counters.returned;
///         Some(counters.submitted.saturating_sub(over) as f64)
///     }
/// }
///
/// let mut pool = PoolSnapshot::of(Staffing::exactly(1));
/// pool.counters.submitted = 5;
/// let observation = Observation::new(Timestamp::ORIGIN, pool);
/// assert_eq!(Outstanding.read(&observation), Some(5.0));
/// ```
pub trait Signal: Send + CloneSignal + fmt::Debug {
    /// What deciders call it by.
    fn name(&self) -> &str;

    /// What its number counts.
    fn unit(&self) -> Unit {
        Unit::Number
    }

    /// What a decision on it is put down to.
    fn reason(&self) -> Reason {
        Reason::External
    }

    /// Folds in `observation` and returns the reading, or `None` without the data for one.
    fn read(&mut self, observation: &Observation) -> Option<f64>;

    /// What kind it is, as notes know it: notes are only read back by the same kinds. The name of
    /// the type, unless it holds others; then those too.
    fn kind(&self, text: &mut String) {
        text.push_str(std::any::type_name::<Self>());
    }

    /// Writes down what it remembers.
    fn save(&self, _notes: &mut Notes) {}

    /// Takes back what `save` wrote, or returns `None` where the notes do not fit.
    fn load(&mut self, _notes: &mut NotesReader<'_>) -> Option<()> {
        Some(())
    }
}

/// Copies a signal behind a box; every `Clone` signal has it.
///
/// ```
/// use headcount_core::signal::{Signal, Source};
/// use headcount_core::{Observation, Timestamp};
///
/// let mut rate = Source::ArrivalRate.build();
/// let mut observation = Observation::default();
/// assert_eq!(rate.read(&observation), None, "nothing to compare with yet");
/// let mut copy = rate.clone();
/// observation.at = Timestamp::from_secs(2);
/// observation.pool.counters.submitted = 30;
/// assert_eq!(copy.read(&observation), Some(15.0), "it knows what the original saw");
/// ```
pub trait CloneSignal {
    /// A copy with the same memory.
    fn clone_box(&self) -> Box<dyn Signal>;
}

impl<T: Signal + Clone + 'static> CloneSignal for T {
    fn clone_box(&self) -> Box<dyn Signal> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Signal> {
    fn clone(&self) -> Self {
        (**self).clone_box()
    }
}

/// Reads `signal`, and takes a number that is not finite as no data.
pub(crate) fn read_finite(signal: &mut dyn Signal, observation: &Observation) -> Option<f64> {
    signal.read(observation).filter(|value| value.is_finite())
}
