//! A moving average that forgets by the clock, not by the tick.

use std::time::Duration;

use super::super::{Signal, Unit, read_finite};
use crate::{Name, Noted, Notes, NotesReader, Observation, Reason, Timestamp};

/// The exponentially weighted moving average of a signal.
///
/// A reading from `tau` ago counts for 1/e of one from now, however many ticks lie between. While
/// there is no data the average stands, for three `tau` at most: by then 95 % of it is past.
///
/// ```
/// use headcount_core::signal::{Ewma, QueueDepth, Signal};
/// use headcount_core::{Observation, PoolSnapshot, Timestamp};
/// use std::time::Duration;
///
/// let mut depth = Ewma::new("depth", Box::new(QueueDepth), Duration::from_secs(10));
/// let mut observation = Observation::new(Timestamp::ORIGIN, PoolSnapshot::default());
/// assert_eq!(depth.read(&observation), Some(0.0));
/// observation.at = Timestamp::from_secs(10);
/// observation.pool.queued = 100;
/// assert_eq!(depth.read(&observation).map(f64::round), Some(63.0));
/// ```
#[derive(Clone, Debug)]
pub struct Ewma {
    name: Name,
    inner: Box<dyn Signal>,
    tau: Duration,
    average: Option<(Timestamp, f64)>,
}

impl Ewma {
    /// After this many `tau` without data the average is no longer known.
    const GAP_MAX: u32 = 3;

    /// Averages `inner` with the time constant `tau`, under `name`.
    ///
    /// Of a longer name only the first [`Name::LEN_MAX`] bytes are kept.
    #[must_use]
    pub fn new(name: &str, inner: Box<dyn Signal>, tau: Duration) -> Self {
        // A time constant of nothing would divide nothing by nothing.
        let tau = tau.max(Duration::from_nanos(1));
        Self { name: Name::cut(name), inner, tau, average: None }
    }

    fn fold(&mut self, now: Timestamp, value: f64) {
        let average = match self.average {
            None => value,
            Some((at, average)) => {
                let age = now.since(at).as_secs_f64() / self.tau.as_secs_f64();
                // The parts of two numbers as large as numbers get can add up to more by rounding.
                let sum = average * (-age).exp() - value * (-age).exp_m1();
                sum.clamp(f64::MIN, f64::MAX)
            }
        };
        self.average = Some((now, average));
    }
}

impl Signal for Ewma {
    fn name(&self) -> &str {
        self.name.as_str()
    }
    fn unit(&self) -> Unit {
        self.inner.unit()
    }
    fn reason(&self) -> Reason {
        self.inner.reason()
    }
    fn read(&mut self, observation: &Observation) -> Option<f64> {
        if let Some(value) = read_finite(&mut *self.inner, observation) {
            self.fold(observation.at, value);
        }
        let (at, average) = self.average?;
        let gap_max = self.tau.saturating_mul(Self::GAP_MAX);
        (observation.at.since(at) <= gap_max).then_some(average)
    }
    fn kind(&self, text: &mut String) {
        text.push_str("ewma of ");
        self.inner.kind(text);
    }
    fn save(&self, notes: &mut Notes) {
        self.average.write(notes);
        self.inner.save(notes);
    }
    fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        let average = Noted::read(notes)?;
        self.inner.load(notes)?;
        self.average = average;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::signal::smooth::story::{Teller, check, told};

    fn ewma(tau_secs: u64) -> Ewma {
        Ewma::new("average", Box::new(Teller), Duration::from_secs(tau_secs))
    }

    #[test]
    fn many_small_ticks_weigh_as_much_as_a_large_one() {
        let read = |times: &[u64]| {
            let mut signal = ewma(10);
            signal.read(&told(0, Some(0.0)));
            times.iter().filter_map(|at| signal.read(&told(*at, Some(80.0)))).last()
        };
        let (once, often) = (read(&[20]).unwrap(), read(&[1, 2, 3, 10, 19, 20]).unwrap());
        assert!((once - often).abs() < 1e-9, "{once} {often}");
        assert!((once - 80.0 * (1.0 - (-2.0_f64).exp())).abs() < 1e-9, "{once}");
    }

    #[test]
    fn a_constant_is_its_own_average() {
        check(ewma(5), "0:7 1:7 50:7 51:7", "7 7 7 7");
    }

    #[test]
    fn a_gap_is_bridged_for_a_while_and_never_counted_as_zero() {
        check(ewma(10), "0:- 1:8 2:- 31:- 32:- 33:8", "- 8 8 8 - 8");
    }

    #[test]
    fn time_that_stands_still_or_steps_back_moves_nothing() {
        check(ewma(10), "10:4 10:900 5:900", "4 4 4");
    }

    #[test]
    fn numbers_at_the_end_of_the_line_stay_finite() {
        let mut signal = ewma(1);
        signal.read(&told(0, Some(f64::MAX)));
        assert!(signal.read(&told(1, Some(f64::MIN))).is_some_and(f64::is_finite));
    }

    #[test]
    fn no_time_constant_means_no_memory() {
        check(ewma(0), "0:4 1:9 2:1", "4 9 1");
    }
}
