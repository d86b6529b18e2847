//! What the tests of files share: parts of one's own, and the corpora.

#![allow(dead_code, reason = "each test uses its part of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use headcount::Limiter;
use headcount::config::{Reader, Registry};
use headcount_core::decide::Decider;
use headcount_core::guard::{Because, Guard, Ruling};
use headcount_core::signal::Signal;
use headcount_core::{Name, Observation, Proposal, Reason, Situation, Staffing};

/// How many messages wait in a topic.
#[derive(Clone, Debug)]
pub(crate) struct Lag {
    topic: String,
}

impl Signal for Lag {
    fn name(&self) -> &'static str {
        "lag"
    }

    fn read(&mut self, observation: &Observation) -> Option<f64> {
        Some(observation.pool.queued as f64 + self.topic.len() as f64)
    }
}

/// As many workers as tasks wait, times a gain.
#[derive(Clone, Debug)]
pub(crate) struct Follow {
    gain: u64,
}

impl Decider for Follow {
    fn decide(&mut self, situation: &Situation<'_>) -> Proposal {
        let size = u32::try_from(situation.pool().queued * self.gain).unwrap_or(u32::MAX);
        Proposal::want(Staffing::exactly(size), Reason::External)
    }
}

/// Nothing changes until a day.
#[derive(Debug)]
pub(crate) struct Freeze {
    until: Name,
}

impl Guard for Freeze {
    fn name(&self) -> &'static str {
        "freeze"
    }

    fn review(&self, _: &Situation<'_>, _: Staffing) -> Ruling {
        Ruling::Hold(Because::Said(self.until))
    }
}

/// Parts of one's own: `lag`, `follow`, `freeze`, `connections`.
pub(crate) fn registry() -> Registry {
    Registry::new()
        .signal("lag", |options| Ok(Lag { topic: options.text("topic")?.to_owned() }))
        .decider("follow", |options| Ok(Follow { gain: options.count("gain")? }))
        .guard("freeze", |options| {
            let until = options.text("until")?;
            let until = Name::new(until).map_err(|error| format!("until: {error}"))?;
            Ok(Freeze { until })
        })
        .resizable("connections", |_| Ok(Arc::new(Limiter::new(4))))
}

/// The files of a corpus, without what stands beside them.
pub(crate) fn corpus(name: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/config").join(name);
    let entries = fs::read_dir(&directory).expect("the corpus is there");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    let beside = ["report", "shown", "env"];
    paths.retain(|path| path.extension().is_none_or(|e| beside.iter().all(|known| e != *known)));
    paths.sort();
    paths
}

/// A reader for this file: eight cores, and the variables that stand beside it.
pub(crate) fn reader_for(path: &Path) -> Reader {
    let variables = fs::read_to_string(format!("{}.env", path.display())).unwrap_or_default();
    let variables = variables.lines().filter_map(|line| line.split_once('='));
    let variables: Vec<(String, String)> =
        variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Reader::new(&registry()).cores(8).variables(variables)
}
