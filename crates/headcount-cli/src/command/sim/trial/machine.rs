//! The machines that the nodes run on: when they are sick, and when their sensors are stuck.

use std::time::Duration;

use headcount_core::Timestamp;
use headcount_sim::world::{Host, Spell};

use super::arguments::Arguments;
use super::numbers::number;
use crate::Stop;
use crate::command::duration::{self, shown};

/// For how long a machine is sick, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sickness {
    from: Duration,
    to: Duration,
    score: f64,
    knee: f64,
    /// Which node it is, from 1 on. `None`: every one.
    node: Option<u32>,
}

const FORM: &str = "60s..120s,score=20,knee=8 (score: what its sensors say, from 0 to 100; knee: \
    how many jobs it runs at full speed; node=2: this one only)";

impl Sickness {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let refused = || format!("{text:?} is no sickness; write {FORM}");
        let mut parts = text.split(',');
        let (from, to) = parts.next().and_then(|span| span.split_once("..")).ok_or_else(refused)?;
        let (from, to) = (duration::parse(from)?, duration::parse(to)?);
        let Spell { score, knee, .. } = Spell::WELL;
        let mut sickness = Self { from, to, score, knee, node: None };
        for part in parts {
            sickness.take(part).ok_or_else(refused)?;
        }
        let is_sick = sickness.score < score || sickness.knee < knee;
        match (from < to, is_sick) {
            (true, true) => Ok(sickness),
            (true, false) => Err(format!(
                "{text:?} does not say what is wrong with the machine; add score=20 (what its \
                 sensors say), knee=8 (how many jobs it runs at full speed), or both"
            )),
            (false, _) => Err(refused()),
        }
    }

    /// Takes in a value by its name. `None`: there is no such value.
    fn take(&mut self, part: &str) -> Option<()> {
        match part.split_once('=')? {
            ("score", score) => {
                self.score = number(score).ok().filter(|score| *score <= 100.0)?;
            }
            ("knee", knee) => self.knee = number(knee).ok().filter(|knee| 0.0 < *knee)?,
            ("node", node) => self.node = Some(node.parse().ok().filter(|node| 0 < *node)?),
            _ => return None,
        }
        Some(())
    }

    fn is_of(&self, node: u32) -> bool {
        self.node.is_none_or(|only| only == node)
    }

    /// How the machine is from when on: sick, and then well.
    fn spells(&self) -> [Spell; 2] {
        let Self { score, knee, .. } = *self;
        let sick = Spell { from: Timestamp::ORIGIN + self.from, score, knee };
        [sick, Spell { from: Timestamp::ORIGIN + self.to, ..Spell::WELL }]
    }
}

/// The machine of each node.
pub(super) fn machines(arguments: &Arguments) -> Vec<Host> {
    (1..=arguments.nodes.count()).map(|node| machine(arguments, node)).collect()
}

fn machine(arguments: &Arguments, node: u32) -> Host {
    // Well again just before it is sick anew, where one ends when the next begins.
    let spells = in_order(arguments, node).into_iter().flat_map(|sickness| sickness.spells());
    let stuck_from = arguments.sensors_stuck.map(|at| Timestamp::ORIGIN + at);
    Host { spells: spells.collect(), stuck_from, ..Host::default() }
}

/// What one machine suffers from, in order of time.
fn in_order(arguments: &Arguments, node: u32) -> Vec<Sickness> {
    let mut own: Vec<Sickness> =
        arguments.sick.iter().copied().filter(|sickness| sickness.is_of(node)).collect();
    own.sort_by_key(|sickness| sickness.from);
    own
}

/// Every node is there, and no machine is sick twice at once.
pub(super) fn check(arguments: &Arguments) -> Result<(), Stop> {
    let nodes = arguments.nodes.count();
    if let Some(node) = arguments.sick.iter().filter_map(|one| one.node).find(|one| nodes < *one) {
        let sentence = format!("--sick is for node {node} of {nodes}; make --nodes larger");
        return Err(Stop::Misused(sentence));
    }
    for node in 1..=nodes {
        let own = in_order(arguments, node);
        if let Some(two) = own.windows(2).find(|two| two[1].from < two[0].to) {
            return Err(Stop::Misused(format!(
                "--sick until {} and from {} on are the same machine twice at once; make one end \
                 before the other begins",
                shown(two[0].to),
                shown(two[1].from)
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sickness_has_a_span_and_what_is_wrong() {
        let (from, to) = (Duration::from_secs(60), Duration::from_secs(120));
        let all = Sickness { from, to, score: 20.0, knee: 8.0, node: Some(2) };
        assert_eq!(Sickness::parse("60s..2m,score=20,knee=8,node=2"), Ok(all));
        let unseen = Sickness { score: 100.0, node: None, ..all };
        assert_eq!(Sickness::parse("60s..120s,knee=8"), Ok(unseen));
        let told = |text: &str| Sickness::parse(text).err().unwrap_or_default();
        for text in ["", "60s", "2m..60s,knee=8", "2m..60s", "1s..2s,knee=0", "1s..2s,score=101"] {
            assert!(told(text).starts_with(&format!("{text:?} is no sickness")), "{text:?}");
        }
        for text in ["60s..120s", "60s..120s,node=1", "60s..120s,score=100"] {
            let well =
                format!("{text:?} does not say what is wrong with the machine; add score=20");
            assert!(told(text).starts_with(&well), "{text:?}");
        }
        assert!(told("soon..2s,knee=8").starts_with("\"soon\" is no span of time"));
    }
}
