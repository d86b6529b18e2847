//! What jobs meet: nodes and their machines, what they call, and what goes wrong by chance.

use std::time::Duration;

use headcount_sim::run::{PoolSetup, Setup};
use headcount_sim::world::Faults;

use super::arguments::Arguments;
use super::downstream::downstream;
use super::machine::machines;
use super::nodes::on_nodes;
use super::numbers::share;
use super::running::span;
use super::{machine, nodes};
use crate::Stop;
use crate::command::duration;

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

/// The most workers that die: where all of them did, no job would ever be over.
const DYING_MAX: f64 = 0.9;

/// In which share of jobs the worker dies.
pub(super) fn dying(text: &str) -> Result<f64, String> {
    let dying = Some(share(text)?).filter(|dying| *dying <= DYING_MAX);
    dying.ok_or_else(|| format!("{text:?} leaves too few workers alive; write 90% or less"))
}

/// Finds what does not go together, before anything runs.
pub(super) fn check(arguments: &Arguments, pools: &[PoolSetup]) -> Result<(), Stop> {
    machine::check(arguments)?;
    nodes::check(arguments, pools)
}

/// The world with one pool in it, on all of its nodes.
pub(super) fn setup(arguments: &Arguments, pool: &PoolSetup) -> Setup {
    let (seed, checked) = (arguments.seed, arguments.checked);
    let (faults, hosts) = (faults(arguments), machines(arguments));
    let setup = Setup { faults, hosts, seed, checked, ..on_nodes(arguments, pool) };
    match downstream(arguments, span(&pool.jobs)) {
        Some(downstream) => setup.all_calling(downstream),
        None => setup,
    }
}

fn faults(arguments: &Arguments) -> Faults {
    Faults {
        spawn_fails: arguments.hire_fails.unwrap_or(0.0),
        job_fails: arguments.fail.unwrap_or(0.0),
        worker_dies: arguments.worker_dies.unwrap_or(0.0),
        retries: arguments.retries,
        ..Faults::default()
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use headcount_core::{Policy, Preset, Timestamp};

    use super::*;

    #[test]
    fn the_newest_go_first_after_a_span_or_never() {
        let second = Duration::from_secs(1);
        assert_eq!(NewestFirst::parse("1s").map(NewestFirst::after), Ok(Some(second)));
        assert_eq!(NewestFirst::parse("never").map(NewestFirst::after), Ok(None));
        assert!(NewestFirst::parse("sometimes").is_err());
    }

    #[derive(Debug, clap::Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn setup_of(flags: &str) -> Setup {
        let Line { arguments } = Line::parse_from(flags.split_whitespace());
        let policy = Policy::check(&Preset::gopipe().config(), 8).expect("the preset is right");
        setup(&arguments, &PoolSetup::new("web", policy, Vec::new().into()))
    }

    #[test]
    fn a_setup_is_what_the_flags_say() {
        let setup = setup_of(
            "sim --knee 40 --knee-change 9s=10 --knee-change 5s=20 --fail 1% --retries 3 --seed 7 \
             --checked --hire-fails 5% --worker-dies 0.1%",
        );
        let Faults { job_fails, retries, spawn_fails, worker_dies, .. } = setup.faults;
        let told = format!("{job_fails} {retries} {} {}", setup.seed, setup.checked);
        assert_eq!(told, "0.01 3 7 true");
        assert_eq!(format!("{spawn_fails} {worker_dies}"), "0.05 0.001");
        let knees = [0, 6, 10].map(|secs| setup.downstreams[0].knee_at(Timestamp::from_secs(secs)));
        assert_eq!(format!("{knees:?}"), "[40.0, 20.0, 10.0]", "in order of time");
        assert_eq!(setup.pools[0].downstream, Some(0));
    }

    #[test]
    fn nodes_share_what_they_call_and_have_machines_of_their_own() {
        let setup = setup_of(
            "sim --nodes 3 --budget 20 --refuse 50,share=30% --sensors-stuck 90s \
             --sick 10s..20s,knee=2 --sick 20s..30s,score=50,node=2",
        );
        let told = |pool: &PoolSetup| (pool.downstream, pool.budget, pool.host);
        let shared = (Some(0), Some(0));
        let expected = [0, 1, 2].map(|node| (shared.0, shared.1, Some(node)));
        assert_eq!(setup.pools.iter().map(told).collect::<Vec<_>>(), expected);
        let at = |node: usize, secs| setup.hosts[node].spell_at(Timestamp::from_secs(secs));
        let scores = [at(0, 15), at(0, 25), at(1, 15), at(1, 25), at(1, 30)];
        let scores = scores.map(|spell| (spell.score, spell.knee));
        assert_eq!(format!("{scores:?}"), {
            "[(100.0, 2.0), (100.0, inf), (100.0, 2.0), (50.0, inf), (100.0, inf)]"
        });
        assert_eq!(setup.hosts[2].stuck_from, Some(Timestamp::from_secs(90)));
        assert!(setup.downstreams[0].failing_share(51.0) > 0.29);
    }
}
