//! The recorded policy again: what does not come out the same, and how.

use std::io::{self, Write};

use headcount_core::{Decision, ExtraParts, Observation, PolicyConfig};
use headcount_sim::replay::{Again, Same};
use serde_json::{Value, json};

use super::tale::{Place, Tale, seconds, tell_fully, tell_nothing, tell_unknown};
use crate::Stop;
use crate::command::printable;

/// One decision that comes out otherwise.
#[derive(Debug)]
struct Difference {
    place: Place,
    recorded: Box<Decision>,
    again: Box<Decision>,
}

/// A pool under its own policy.
#[derive(Debug, Default)]
pub(super) struct SameTale {
    pool: String,
    explain: bool,
    limit: usize,
    same: Same,
    identical: u64,
    differing: u64,
    unknown: u64,
    /// The first of those that differ; one at least is told.
    differences: Vec<Difference>,
}

impl SameTale {
    pub(super) fn new(pool: &str, explain: bool, limit: usize) -> Self {
        Self { pool: pool.to_owned(), explain, limit: limit.max(1), ..Self::default() }
    }
}

impl Tale for SameTale {
    fn policy(
        &mut self,
        written: &PolicyConfig,
        extras: &ExtraParts,
        notes: &[u64],
    ) -> Result<(), Stop> {
        let known = self.same.policy(written, extras, notes);
        known.map_err(|error| Stop::Misused(error.to_string()))
    }

    fn tick(&mut self, observation: &Observation, decision: &Decision, place: &dyn Fn() -> Place) {
        match self.same.tick(observation, decision) {
            Again::Identical => self.identical += 1,
            Again::Unknown => self.unknown += 1,
            Again::Differs(again) => {
                self.differing += 1;
                if self.differences.len() < self.limit {
                    let (place, recorded) = (place(), Box::new(*decision));
                    self.differences.push(Difference { place, recorded, again });
                }
            }
        }
    }

    fn decisions(&self) -> u64 {
        self.replayed() + self.unknown
    }

    fn replayed(&self) -> u64 {
        self.identical + self.differing
    }

    fn is_as_expected(&self) -> bool {
        self.differing == 0
    }

    fn tell(&self, out: &mut dyn Write) -> io::Result<()> {
        let (pool, replayed) = (&printable::word(&self.pool), self.replayed());
        if replayed == 0 {
            return tell_nothing(out, pool, self.unknown);
        }
        match (replayed, self.differing) {
            (1, 0) => writeln!(out, "pool {pool}: 1 decision replayed, identical")?,
            (1, _) => writeln!(out, "pool {pool}: 1 decision replayed, and it differs")?,
            (_, 0) => writeln!(out, "pool {pool}: {replayed} decisions replayed, all identical")?,
            (_, differing) => writeln!(
                out,
                "pool {pool}: {replayed} decisions replayed, {differing} of them differ"
            )?,
        }
        tell_unknown(out, self.unknown)?;
        for (index, difference) in self.differences.iter().enumerate() {
            difference.tell(out, index == 0 || self.explain)?;
        }
        let more = self.differing - self.differences.len() as u64;
        if 0 < more {
            writeln!(out, "  {more} more differ; --limit lists more")?;
        }
        Ok(())
    }

    fn as_json(&self) -> Value {
        let differences: Vec<_> = self.differences.iter().map(Difference::as_json).collect();
        json!({
            "pool": self.pool,
            "replayed": self.replayed(),
            "identical": self.identical,
            "differing": self.differing,
            "before_policy": self.unknown,
            "differences": differences,
        })
    }
}

impl Difference {
    /// The first one in full: what follows may be its consequence.
    fn tell(&self, out: &mut dyn Write, fully: bool) -> io::Result<()> {
        let place = printable::word(&self.place);
        writeln!(out, "{place}: at {:.3} s", seconds(&self.recorded))?;
        match fully {
            true => {
                tell_fully(out, "recorded", &self.recorded)?;
                tell_fully(out, "replayed", &self.again)?;
            }
            false => {
                writeln!(out, "  recorded: {}", self.recorded.explain())?;
                writeln!(out, "  replayed: {}", self.again.explain())?;
            }
        }
        match self.stranger() {
            Some(guard) => writeln!(
                out,
                "  the guard {guard} is not in the recorded policy; parts of one's own are not in \
                 a trace of version 1"
            ),
            None => Ok(()),
        }
    }

    /// A guard that was asked then and that the policy does not have.
    fn stranger(&self) -> Option<&str> {
        let asked: Vec<&str> = self.again.rulings.iter().map(|one| one.guard.as_str()).collect();
        let then = self.recorded.rulings.iter().map(|one| one.guard.as_str());
        then.filter(|guard| !asked.contains(guard)).find(|_| !asked.is_empty())
    }

    fn as_json(&self) -> Value {
        json!({
            "place": self.place,
            "at_s": seconds(&self.recorded),
            "recorded": *self.recorded,
            "replayed": *self.again,
            "recorded_why": self.recorded.explain().to_string(),
            "replayed_why": self.again.explain().to_string(),
        })
    }
}
