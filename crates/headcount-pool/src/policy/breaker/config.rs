//! The written form of a breaker, and the checked one.

use std::fmt;
use std::time::Duration;

use headcount_core::Fault;

/// The most that a breaker counts to before it opens: so many failures it may have to remember.
pub const FAILURES_MAX: u32 = 10_000;

/// A circuit breaker as somebody wrote it: every field may be left out.
///
/// ```
/// use headcount_pool::policy::{BreakerConfig, CircuitBreaker, Trip};
///
/// let config = BreakerConfig {
///     trip: Some(Trip::Share { share: 1.5, calls_min: 20 }),
///     probes_max: Some(0),
///     ..BreakerConfig::default()
/// };
/// let faults = CircuitBreaker::new(&config).expect_err("two faults");
/// assert_eq!(
///     faults.iter().map(ToString::to_string).collect::<Vec<_>>(),
///     [
///         "trip.share is 1.5; a share above 0 and up to 1 is needed",
///         "probes_max is 0; at least 1 is needed, or it never closes again",
///     ]
/// );
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BreakerConfig {
    /// What opens it. Default: 5 failures.
    pub trip: Option<Trip>,
    /// For how long a call counts. Default: 60 s.
    pub window: Option<Duration>,
    /// How long it stays open before it lets the first probe through. Default: 30 s.
    pub open_for: Option<Duration>,
    /// How many probes may be out at once while it is half open. Default: 3.
    pub probes_max: Option<u32>,
    /// How many calls must succeed while it is half open, to close it. Default: 2.
    pub successes_needed: Option<u32>,
    /// After how long the place of a probe that does not report is free again. Default: 60 s.
    pub probe_expiry: Option<Duration>,
}

/// What opens a closed breaker.
///
/// ```
/// use headcount_pool::policy::{BreakerConfig, CircuitBreaker, Trip};
/// use headcount_core::Breaker;
///
/// let trip = Some(Trip::Share { share: 0.5, calls_min: 4 });
/// let breaker = CircuitBreaker::new(&BreakerConfig { trip, ..Default::default() });
/// let breaker = breaker.expect("no fault");
/// let call = || breaker.try_call().expect("it is closed");
/// call().failed();
/// call().failed();
/// call().succeeded();
/// assert_eq!(breaker.state(), Breaker::Closed, "three calls say little");
/// call().succeeded();
/// assert_eq!(breaker.state(), Breaker::Open, "half of four failed");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Trip {
    /// So many failures within the window, however many calls succeed.
    Failures(u32),
    /// Such a share of the calls within the window failed.
    ///
    /// The window slides by eighths: what is older than it is forgotten an eighth of it later at
    /// the latest.
    Share {
        /// From just above 0 to 1.
        share: f64,
        /// Before there are so many calls within the window, their share says nothing.
        calls_min: u32,
    },
}

/// A breaker that can be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Settings {
    pub(super) trip: Trip,
    pub(super) window: Duration,
    pub(super) open_for: Duration,
    pub(super) probes_max: u32,
    pub(super) successes_needed: u32,
    pub(super) probe_expiry: Duration,
}

/// A window is cut into eighths, and an eighth must be some time at all.
const SHORTEST: Duration = Duration::from_millis(1);

/// The most places for probes. More would be a breaker that does not break.
const PROBES_MAX: u32 = 1000;

impl Settings {
    /// Fills in the defaults and reports everything that is wrong, not only the first thing.
    pub(super) fn check(config: &BreakerConfig) -> Result<Self, Vec<Fault>> {
        let settings = Self::filled(config);
        let mut faults = settings.trip_faults();
        let spans = [
            ("window", settings.window),
            ("open_for", settings.open_for),
            ("probe_expiry", settings.probe_expiry),
        ];
        for (field, span) in spans.into_iter().filter(|(_, span)| *span < SHORTEST) {
            faults.push(fault(field, format!("{span:?}"), "at least 1ms is needed"));
        }
        match settings.probes_max {
            0 => {
                let allowed = "at least 1 is needed, or it never closes again";
                faults.push(fault("probes_max", 0, allowed));
            }
            1..=PROBES_MAX => {}
            many => faults.push(fault("probes_max", many, "at most 1000 are allowed")),
        }
        if settings.successes_needed == 0 {
            faults.push(fault("successes_needed", 0, "at least 1 is needed"));
        }
        if faults.is_empty() { Ok(settings) } else { Err(faults) }
    }

    fn filled(config: &BreakerConfig) -> Self {
        Self {
            trip: config.trip.unwrap_or(Trip::Failures(5)),
            window: config.window.unwrap_or(Duration::from_secs(60)),
            open_for: config.open_for.unwrap_or(Duration::from_secs(30)),
            probes_max: config.probes_max.unwrap_or(3),
            successes_needed: config.successes_needed.unwrap_or(2),
            probe_expiry: config.probe_expiry.unwrap_or(Duration::from_secs(60)),
        }
    }

    fn trip_faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        match self.trip {
            Trip::Failures(0) => {
                let allowed = "at least 1 is needed, or it opens before the first call";
                faults.push(fault("trip.failures", 0, allowed));
            }
            Trip::Failures(1..=FAILURES_MAX) => {}
            Trip::Failures(many) => {
                let allowed = "at most 10000 are allowed; a share needs no such number";
                faults.push(fault("trip.failures", many, allowed));
            }
            Trip::Share { share, calls_min } => {
                if !(0.0 < share && share <= 1.0) {
                    let allowed = "a share above 0 and up to 1 is needed";
                    faults.push(fault("trip.share", share, allowed));
                }
                if calls_min == 0 {
                    faults.push(fault("trip.calls_min", 0, "at least 1 is needed"));
                }
            }
        }
        faults
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::filled(&BreakerConfig::default())
    }
}

fn fault(field: &str, value: impl fmt::Display, allowed: &str) -> Fault {
    Fault { field: field.to_owned(), value: value.to_string(), allowed: allowed.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(config: BreakerConfig, expected: &[&str]) {
        let faults = Settings::check(&config).err().unwrap_or_default();
        assert_eq!(faults.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_defaults_are_without_fault() {
        check(BreakerConfig::default(), &[]);
        assert_eq!(Settings::check(&BreakerConfig::default()), Ok(Settings::default()));
    }

    #[test]
    fn every_fault_is_reported_at_once() {
        check(
            BreakerConfig {
                trip: Some(Trip::Share { share: f64::NAN, calls_min: 0 }),
                window: Some(Duration::ZERO),
                open_for: Some(Duration::from_micros(20)),
                probes_max: Some(1001),
                successes_needed: Some(0),
                probe_expiry: Some(Duration::ZERO),
            },
            &[
                "trip.share is NaN; a share above 0 and up to 1 is needed",
                "trip.calls_min is 0; at least 1 is needed",
                "window is 0ns; at least 1ms is needed",
                "open_for is 20µs; at least 1ms is needed",
                "probe_expiry is 0ns; at least 1ms is needed",
                "probes_max is 1001; at most 1000 are allowed",
                "successes_needed is 0; at least 1 is needed",
            ],
        );
    }

    #[test]
    fn a_breaker_remembers_only_so_many_failures() {
        let failures = |n| BreakerConfig { trip: Some(Trip::Failures(n)), ..Default::default() };
        check(failures(1), &[]);
        check(failures(FAILURES_MAX), &[]);
        let many =
            "trip.failures is 10001; at most 10000 are allowed; a share needs no such number";
        check(failures(FAILURES_MAX + 1), &[many]);
        let none = "trip.failures is 0; at least 1 is needed, or it opens before the first call";
        check(failures(0), &[none]);
    }
}
