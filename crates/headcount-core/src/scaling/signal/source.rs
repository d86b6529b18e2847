//! Signals as data, so that a policy can be written down, compared and sent.

use std::fmt;
use std::time::Duration;

use super::{
    Aggregate, ArrivalRate, BlockedShare, Change, Clamp, DepthPerWorker, ErrorRate, Ewma, External,
    HealthScore, IdleTime, OldestWait, Pending, QueueDepth, Samples, ServiceTime, Signal,
    Throughput, Unit, Utilization, Wait, WaitPercentile, Window,
};
use crate::Name;

/// What a signal reads.
///
/// Its text is the name of the signal; an external one has `external.` before it.
///
/// ```
/// use headcount_core::signal::Source;
///
/// assert_eq!(Source::named("wait_p99"), Some(Source::WaitP99));
/// assert_eq!(Source::WaitP99.build().name(), "wait_p99");
/// let lag = Source::named("external.kafka.lag").expect("a name follows the dot");
/// assert_eq!(lag.build().name(), "kafka.lag");
/// assert_eq!(lag.to_string(), "external.kafka.lag");
/// assert_eq!(Source::named("weather"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// See [`Utilization`].
    Utilization,
    /// See [`QueueDepth`].
    QueueDepth,
    /// See [`DepthPerWorker`].
    DepthPerWorker,
    /// See [`Pending`].
    Pending,
    /// See [`OldestWait`].
    OldestWait,
    /// See [`Wait`].
    WaitP50,
    /// See [`Wait`].
    WaitP95,
    /// See [`Wait`].
    WaitP99,
    /// See [`ArrivalRate`].
    ArrivalRate,
    /// See [`Throughput`].
    Throughput,
    /// See [`ServiceTime`].
    ServiceTime,
    /// See [`ErrorRate`].
    ErrorRate,
    /// See [`IdleTime`].
    IdleTime,
    /// See [`BlockedShare`].
    BlockedShare,
    /// See [`HealthScore`].
    HealthScore,
    /// See [`External`].
    External(Name),
}

impl Source {
    /// All but the external ones, which are as many as there are names.
    pub const FIXED: [Self; 15] = [
        Self::Utilization,
        Self::QueueDepth,
        Self::DepthPerWorker,
        Self::Pending,
        Self::OldestWait,
        Self::WaitP50,
        Self::WaitP95,
        Self::WaitP99,
        Self::ArrivalRate,
        Self::Throughput,
        Self::ServiceTime,
        Self::ErrorRate,
        Self::IdleTime,
        Self::BlockedShare,
        Self::HealthScore,
    ];

    const EXTERNAL: &str = "external.";

    /// The source that `text` names, if there is one.
    #[must_use]
    pub fn named(text: &str) -> Option<Self> {
        match text.strip_prefix(Self::EXTERNAL) {
            Some(name) => Name::new(name).ok().map(Self::External),
            None => Self::FIXED.into_iter().find(|source| source.build().name() == text),
        }
    }

    /// A new signal that reads this source.
    #[must_use]
    pub fn build(&self) -> Box<dyn Signal> {
        match *self {
            Self::Utilization => Box::new(Utilization),
            Self::QueueDepth => Box::new(QueueDepth),
            Self::DepthPerWorker => Box::new(DepthPerWorker),
            Self::Pending => Box::new(Pending),
            Self::OldestWait => Box::new(OldestWait),
            Self::WaitP50 => Box::new(Wait { percentile: WaitPercentile::P50 }),
            Self::WaitP95 => Box::new(Wait { percentile: WaitPercentile::P95 }),
            Self::WaitP99 => Box::new(Wait { percentile: WaitPercentile::P99 }),
            Self::ArrivalRate => Box::<ArrivalRate>::default(),
            Self::Throughput => Box::<Throughput>::default(),
            Self::ServiceTime => Box::new(ServiceTime),
            Self::ErrorRate => Box::<ErrorRate>::default(),
            Self::IdleTime => Box::new(IdleTime),
            Self::BlockedShare => Box::new(BlockedShare),
            Self::HealthScore => Box::new(HealthScore),
            Self::External(name) => Box::new(External { name }),
        }
    }

    /// What its number counts.
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.build().unit()
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::External(name) => write!(f, "{}{name}", Self::EXTERNAL),
            fixed => f.pad(fixed.build().name()),
        }
    }
}

/// Written as its name, the way a decider or guard calls it.
#[cfg(feature = "serde")]
impl serde::Serialize for Source {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Source {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::named(&text).ok_or_else(|| {
            let names = Self::FIXED.map(|source| source.to_string()).join(", ");
            let sentence =
                format!("no signal source is called {text:?}; there are {names}, external.NAME");
            serde::de::Error::custom(sentence)
        })
    }
}

/// What is done to a signal before anybody decides on it.
///
/// ```
/// use headcount_core::signal::{Smoothing, Source};
///
/// let smoothing = Smoothing::Mean { samples: 5 };
/// assert!(smoothing.check().is_ok());
/// let signal = smoothing.wrap("utilization", Source::Utilization.build());
/// assert_eq!(signal.name(), "utilization");
///
/// let fault = Smoothing::Mean { samples: 0 }.check().expect_err("a mean of nothing");
/// assert_eq!(fault.to_string(), "samples is 0; at least 1 is needed");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
#[non_exhaustive]
pub enum Smoothing {
    /// A moving average: see [`Ewma`].
    Ewma {
        /// How long ago a reading counts for 1/e of one from now.
        tau: Duration,
    },
    /// The mean of the last readings, once there are that many in a row: see [`Window::last`].
    Mean {
        /// How many, 1 to [`Window::SAMPLES_MAX`].
        samples: u32,
    },
    /// One number for a span of time: see [`Window::over`].
    Over {
        /// How far back; of the readings in it the last [`Window::SAMPLES_MAX`] count.
        span: Duration,
        /// Which number.
        aggregate: Aggregate,
    },
    /// The change in a second: see [`Change`].
    RateOfChange,
    /// A fixed range: see [`Clamp::between`].
    Clamp {
        /// The least reading.
        low: f64,
        /// The greatest reading.
        high: f64,
    },
    /// The neighbourhood of the median: see [`Clamp::near_median`].
    NearMedian {
        /// Of how many readings, 3 to [`Clamp::SAMPLES_MAX`].
        samples: u32,
        /// How many spreads wide on each side.
        spreads: f64,
    },
    /// Silence before enough readings: see [`Samples`].
    After {
        /// How many, at least 1.
        samples: u32,
    },
}

impl Smoothing {
    /// Says what is wrong with it, if anything is.
    ///
    /// # Errors
    ///
    /// When a number is out of the range that its field documents.
    pub fn check(&self) -> Result<(), SmoothingError> {
        match *self {
            Self::Ewma { tau } => check_span("tau", tau),
            Self::Mean { samples } => check_samples(samples, 1, Window::SAMPLES_MAX),
            Self::Over { span, aggregate } => {
                check_span("span", span)?;
                check_aggregate(aggregate)
            }
            Self::RateOfChange => Ok(()),
            Self::Clamp { low, high } => {
                check_finite("low", low)?;
                check_finite("high", high)?;
                (low < high).then_some(()).ok_or(SmoothingError::Crossed { low, high })
            }
            Self::NearMedian { samples, spreads } => {
                check_samples(samples, 3, Clamp::SAMPLES_MAX)?;
                check_finite("spreads", spreads)?;
                check_above_zero("spreads", spreads)
            }
            Self::After { samples } => check_samples(samples, 1, u32::MAX),
        }
    }

    /// Puts this around `inner`, under `name`.
    ///
    /// A smoothing that [`check`](Self::check) refuses is brought into its limits; nothing panics.
    #[must_use]
    pub fn wrap(&self, name: &str, inner: Box<dyn Signal>) -> Box<dyn Signal> {
        match *self {
            Self::Ewma { tau } => Box::new(Ewma::new(name, inner, tau)),
            Self::Mean { samples } => Box::new(Window::last(name, inner, samples, Aggregate::Mean)),
            Self::Over { span, aggregate } => {
                Box::new(Window::over(name, inner, span, Window::SAMPLES_MAX, aggregate))
            }
            Self::RateOfChange => Box::new(Change::new(name, inner)),
            Self::Clamp { low, high } => Box::new(Clamp::between(name, inner, low, high)),
            Self::NearMedian { samples, spreads } => {
                Box::new(Clamp::near_median(name, inner, samples, spreads))
            }
            Self::After { samples } => Box::new(Samples::new(name, inner, samples)),
        }
    }
}

fn check_span(field: &'static str, span: Duration) -> Result<(), SmoothingError> {
    check_above_zero(field, span.as_secs_f64())
}

fn check_above_zero(field: &'static str, value: f64) -> Result<(), SmoothingError> {
    (0.0 < value).then_some(()).ok_or(SmoothingError::NotAboveZero { field, value })
}

fn check_samples(samples: u32, min: u32, max: u32) -> Result<(), SmoothingError> {
    match samples {
        _ if samples < min => Err(SmoothingError::FewSamples { samples, min }),
        _ if max < samples => Err(SmoothingError::ManySamples { samples, max }),
        _ => Ok(()),
    }
}

fn check_aggregate(aggregate: Aggregate) -> Result<(), SmoothingError> {
    match aggregate {
        Aggregate::Percentile(percent) if !(1..=100).contains(&percent) => {
            Err(SmoothingError::Percentile(percent))
        }
        _ => Ok(()),
    }
}

fn check_finite(field: &'static str, value: f64) -> Result<(), SmoothingError> {
    value.is_finite().then_some(()).ok_or(SmoothingError::NotFinite { field, value })
}

/// Why a [`Smoothing`] cannot be.
///
/// ```
/// use headcount_core::signal::{Aggregate, Smoothing};
/// use std::time::Duration;
///
/// let aggregate = Aggregate::Percentile(101);
/// let fault = Smoothing::Over { span: Duration::from_secs(60), aggregate }.check();
/// let text = fault.expect_err("of a hundred").to_string();
/// assert_eq!(text, "percentile is 101; 1 to 100 is allowed");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs)] // The fields are the names and values that the message shows.
pub enum SmoothingError {
    /// Fewer readings than make sense.
    FewSamples { samples: u32, min: u32 },
    /// More readings than are kept.
    ManySamples { samples: u32, max: u32 },
    /// A percentile outside 1 to 100.
    Percentile(u8),
    /// NaN or infinity.
    NotFinite { field: &'static str, value: f64 },
    /// A number or span that must be more than 0.
    NotAboveZero { field: &'static str, value: f64 },
    /// The low end is not below the high one.
    Crossed { low: f64, high: f64 },
}

impl SmoothingError {
    /// The field, its value, and what is allowed there.
    pub(crate) fn parts(&self) -> (&'static str, String, String) {
        let told = |field, value: &dyn fmt::Display, allowed| (field, value.to_string(), allowed);
        match *self {
            Self::FewSamples { samples, min: 1 } => {
                told("samples", &samples, "at least 1 is needed".to_owned())
            }
            Self::FewSamples { samples, min } => {
                told("samples", &samples, format!("at least {min} are needed"))
            }
            Self::ManySamples { samples, max } => {
                told("samples", &samples, format!("at most {max} are kept"))
            }
            Self::Percentile(percent) => {
                told("percentile", &percent, "1 to 100 is allowed".to_owned())
            }
            Self::NotFinite { field, value } => {
                told(field, &value, "a finite number is needed".to_owned())
            }
            Self::NotAboveZero { field, value } => {
                told(field, &value, "more than 0 is needed".to_owned())
            }
            Self::Crossed { low, high } => {
                told("low", &low, format!("it must be below high, which is {high}"))
            }
        }
    }
}

impl fmt::Display for SmoothingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (field, value, allowed) = self.parts();
        write!(f, "{field} is {value}; {allowed}")
    }
}

impl std::error::Error for SmoothingError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_is_found_by_its_text() {
        let lag = Source::External(Name::new("kafka.lag").unwrap());
        for source in Source::FIXED.into_iter().chain([lag]) {
            assert_eq!(Source::named(&source.to_string()), Some(source));
        }
    }

    #[test]
    fn what_is_no_source_is_not_found() {
        for text in ["", "utilisation", "external.", "external.Lag", "external", "wait_p90"] {
            assert_eq!(Source::named(text), None, "{text:?}");
        }
    }

    fn check(smoothing: Smoothing, fault: &str) {
        let found = smoothing.check().err().map_or(String::new(), |fault| fault.to_string());
        assert_eq!(found, fault);
    }

    #[test]
    fn samples_are_checked_at_both_ends() {
        check(Smoothing::Mean { samples: 1 }, "");
        check(Smoothing::Mean { samples: 1024 }, "");
        check(Smoothing::Mean { samples: 1025 }, "samples is 1025; at most 1024 are kept");
        check(Smoothing::After { samples: 0 }, "samples is 0; at least 1 is needed");
        check(Smoothing::After { samples: u32::MAX }, "");
        let near = |samples, spreads| Smoothing::NearMedian { samples, spreads };
        check(near(2, 3.0), "samples is 2; at least 3 are needed");
        check(near(3, 3.0), "");
        check(near(3, 0.0), "spreads is 0; more than 0 is needed");
        check(near(3, f64::INFINITY), "spreads is inf; a finite number is needed");
    }

    #[test]
    fn spans_and_ranges_are_checked() {
        let span = Duration::ZERO;
        check(Smoothing::Ewma { tau: span }, "tau is 0; more than 0 is needed");
        let aggregate = Aggregate::Percentile(0);
        check(Smoothing::Over { span, aggregate }, "span is 0; more than 0 is needed");
        let span = Duration::MAX;
        check(Smoothing::Over { span, aggregate }, "percentile is 0; 1 to 100 is allowed");
        check(
            Smoothing::Clamp { low: 1.0, high: 1.0 },
            "low is 1; it must be below high, which is 1",
        );
        let high = f64::NAN;
        check(Smoothing::Clamp { low: 0.0, high }, "high is NaN; a finite number is needed");
    }

    #[test]
    fn a_refused_smoothing_still_does_not_panic() {
        use crate::{Observation, PoolSnapshot, Timestamp};
        let zero = Duration::ZERO;
        let refused = [
            Smoothing::Ewma { tau: zero },
            Smoothing::Mean { samples: 0 },
            Smoothing::Over { span: zero, aggregate: Aggregate::Percentile(0) },
            Smoothing::Clamp { low: f64::NAN, high: f64::NAN },
            Smoothing::NearMedian { samples: 0, spreads: f64::NAN },
            Smoothing::After { samples: 0 },
        ];
        for smoothing in refused {
            let mut signal = smoothing.wrap("depth", Source::QueueDepth.build());
            for (second, queued) in [(0, 4), (1, 4), (1, 4), (2, 4)] {
                let pool = PoolSnapshot { queued, ..PoolSnapshot::default() };
                let observation = Observation::new(Timestamp::from_secs(second), pool);
                assert_eq!(signal.read(&observation), Some(4.0), "{smoothing:?}");
            }
        }
    }
}
