//! `headcount presets`: the ready-made policies, and where their numbers come from.

use std::io::Write;

use headcount_core::{Policy, Preset};

use super::{cores, preset};
use crate::Stop;

/// What the command takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The preset to show. Without a name all are listed.
    name: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Stop> {
    match &arguments.name {
        Some(name) => show(&preset(name)?, out),
        None => list(out),
    }
}

fn list(out: &mut impl Write) -> Result<(), Stop> {
    for preset in Preset::all() {
        writeln!(out, "{:<14} {}", preset.name(), preset.about())?;
    }
    writeln!(out, "\n`headcount presets NAME` shows one, `headcount demo NAME` runs it.")?;
    Ok(())
}

fn show(preset: &Preset, out: &mut impl Write) -> Result<(), Stop> {
    let policy = Policy::check(&preset.config(), cores()).map_err(|faults| {
        let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
        Stop::Misused(format!("{} does not fit this machine: {}", preset.name(), faults.join("; ")))
    })?;
    let bounds = policy.bounds();
    writeln!(out, "{}: {}", preset.name(), preset.about())?;
    writeln!(
        out,
        "on this machine: {} to {} workers, decided every {:?} by `{}`\n",
        bounds.min,
        bounds.max,
        policy.tick(),
        policy.decider().name()
    )?;
    for origin in preset.origins() {
        writeln!(out, "  {:<34} {:<14} {}", origin.field, origin.value, origin.from)?;
    }
    for hint in policy.hints() {
        writeln!(out, "  hint: {hint}")?;
    }
    Ok(())
}
