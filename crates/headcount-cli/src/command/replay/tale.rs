//! What is found out about one pool, and told in the end.

use std::io::{self, Write};

use headcount_core::{Decision, ExtraParts, Observation, PolicyConfig};
use serde_json::Value;

use crate::Stop;

/// Where a row stands: `run.jsonl:14`.
pub(super) type Place = String;

/// What is found out about one pool.
pub(super) trait Tale {
    /// From here on the recorded one goes by this policy, with these parts beside its own, which
    /// remembers what the notes say.
    fn policy(
        &mut self,
        written: &PolicyConfig,
        extras: &ExtraParts,
        notes: &[u64],
    ) -> Result<(), Stop>;

    /// This was observed, and that was decided; where it stands is told on demand.
    fn tick(&mut self, observation: &Observation, decision: &Decision, place: &dyn Fn() -> Place);

    /// How many decisions it has heard of.
    fn decisions(&self) -> u64;

    /// How many of them could be replayed: those behind their policy.
    fn replayed(&self) -> u64;

    /// Whether there is nothing to complain about.
    fn is_as_expected(&self) -> bool;

    /// Tells it to people.
    fn tell(&self, out: &mut dyn Write) -> io::Result<()>;

    /// Tells it to programs.
    fn as_json(&self) -> Value;
}

/// What is said of a pool whose policy is not there.
pub(super) fn tell_nothing(out: &mut dyn Write, pool: &str, rows: u64) -> io::Result<()> {
    match rows {
        0 => writeln!(out, "pool {pool}: nothing was decided"),
        1 => writeln!(out, "pool {pool}: its 1 decision was not replayed: no policy is before it"),
        _ => writeln!(
            out,
            "pool {pool}: none of its {rows} decisions was replayed: no policy is before them"
        ),
    }
}

/// What is said of rows that stand before their policy.
pub(super) fn tell_unknown(out: &mut dyn Write, rows: u64) -> io::Result<()> {
    match rows {
        0 => Ok(()),
        1 => writeln!(out, "  1 decision before its policy is left out: the file begins there"),
        _ => writeln!(out, "  {rows} decisions before their policy are left out"),
    }
}

/// The whole story of a decision, moved in.
pub(super) fn tell_fully(out: &mut dyn Write, name: &str, decision: &Decision) -> io::Result<()> {
    writeln!(out, "  {name}:")?;
    for line in decision.explain_fully().to_string().lines() {
        writeln!(out, "    {line}")?;
    }
    Ok(())
}

/// Seconds since the recorder's origin.
pub(super) fn seconds(decision: &Decision) -> f64 {
    decision.at.as_nanos() as f64 / 1e9
}
