//! What jobs meet: a downstream with a knee, and failures.

use std::time::Duration;

use headcount_core::Timestamp;
use headcount_sim::run::{PoolSetup, Setup};
use headcount_sim::world::{Downstream, Faults};

use super::arguments::Arguments;
use super::numbers::number;
use crate::command::duration;

/// How many jobs at once are served at full speed, and what each beyond costs the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Knee {
    workers: f64,
    crowding: f64,
}

impl Knee {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (workers, crowding) = match text.split_once(",crowding=") {
            Some((workers, crowding)) => (workers, number(crowding)?),
            None => (text, Downstream::CROWDING),
        };
        Ok(Self { workers: workers_of(workers)?, crowding })
    }
}

/// From when on the knee is another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct KneeChange {
    at: Duration,
    workers: f64,
}

impl KneeChange {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let Some((at, workers)) = text.split_once('=') else {
            return Err(format!("{text:?} is no change of the knee; write 60s=20"));
        };
        Ok(Self { at: duration::parse(at)?, workers: workers_of(workers)? })
    }
}

/// From which wait of the oldest on the newest go first, if ever.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum NewestFirst {
    After(Duration),
    Never,
}

impl NewestFirst {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        match text {
            "never" => Ok(Self::Never),
            span => duration::parse(span).map(Self::After),
        }
    }

    pub(super) fn after(self) -> Option<Duration> {
        match self {
            Self::After(after) => Some(after),
            Self::Never => None,
        }
    }
}

fn workers_of(text: &str) -> Result<f64, String> {
    let workers = number(text).ok().filter(|workers| 1.0 <= *workers);
    workers.ok_or_else(|| format!("{text:?} is no knee; write a number of workers, as in 40"))
}

/// The world with one pool in it.
pub(super) fn setup(arguments: &Arguments, pool: PoolSetup) -> Setup {
    let faults = Faults {
        job_fails: arguments.fail.unwrap_or(0.0),
        retries: arguments.retries,
        ..Faults::default()
    };
    let (seed, checked) = (arguments.seed, arguments.checked);
    let setup = Setup { faults, seed, checked, ..Setup::of(pool) };
    match downstream(arguments) {
        Some(downstream) => setup.calling(downstream),
        None => setup,
    }
}

/// What jobs call, where it has a knee.
pub(super) fn downstream(arguments: &Arguments) -> Option<Downstream> {
    let Knee { workers, crowding } = arguments.knee?;
    let changes = arguments.knee_change.iter();
    let mut changes: Vec<(Timestamp, f64)> =
        changes.map(|change| (Timestamp::ORIGIN + change.at, change.workers)).collect();
    changes.sort_by_key(|(at, _)| *at);
    Some(Downstream { crowding, changes, ..Downstream::with_knee(workers) })
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use headcount_core::{Policy, Preset};

    use super::*;

    #[test]
    fn the_newest_go_first_after_a_span_or_never() {
        let second = Duration::from_secs(1);
        assert_eq!(NewestFirst::parse("1s").map(NewestFirst::after), Ok(Some(second)));
        assert_eq!(NewestFirst::parse("never").map(NewestFirst::after), Ok(None));
        assert!(NewestFirst::parse("sometimes").is_err());
    }

    #[test]
    fn a_knee_is_a_number_and_may_crowd() {
        let knee = |workers, crowding| Ok(Knee { workers, crowding });
        assert_eq!(Knee::parse("40"), knee(40.0, 0.02));
        assert_eq!(Knee::parse("40,crowding=0.1"), knee(40.0, 0.1));
        for text in ["", "0", "x", "-1", "inf", "40,crowd=1", "40,crowding=x"] {
            assert!(Knee::parse(text).is_err(), "{text}");
        }
    }

    #[derive(Debug, clap::Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    #[test]
    fn a_setup_is_what_the_flags_say() {
        let flags = "sim --knee 40 --knee-change 9s=10 --knee-change 5s=20 --fail 1% --retries 3 \
                     --seed 7 --checked";
        let Line { arguments } = Line::parse_from(flags.split_whitespace());
        let policy = Policy::check(&Preset::gopipe().config(), 8).expect("the preset is right");
        let setup = setup(&arguments, PoolSetup::new("web", policy, Vec::new().into()));
        let Faults { job_fails, retries, .. } = setup.faults;
        let told = format!("{job_fails} {retries} {} {}", setup.seed, setup.checked);
        assert_eq!(told, "0.01 3 7 true");
        let knees = [0, 6, 10].map(|secs| setup.downstreams[0].knee_at(Timestamp::from_secs(secs)));
        assert_eq!(format!("{knees:?}"), "[40.0, 20.0, 10.0]", "in order of time");
        assert_eq!(setup.pools[0].downstream, Some(0));
    }

    #[test]
    fn it_changes_at_a_time() {
        let at = Duration::from_secs(60);
        assert_eq!(KneeChange::parse("60s=20"), Ok(KneeChange { at, workers: 20.0 }));
        for text in ["60s", "x=20", "60s=0"] {
            assert!(KneeChange::parse(text).is_err(), "{text}");
        }
    }
}
