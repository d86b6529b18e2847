//! The other policy: where it comes from, and what it is for a pool.

use std::path::{Path, PathBuf};
use std::time::Duration;

use headcount::config::{Reader, Registry};
use headcount_core::{Bounds, Policy, PolicyConfig, Preset};

use super::Arguments;
use crate::Stop;
use crate::command::preset;

/// How long a task may wait where nobody says.
const WAIT_USUAL: Duration = Duration::from_millis(100);

/// The other policy, as it was asked for.
#[derive(Clone, Debug)]
pub(super) enum Other {
    Preset(Box<Preset>),
    File(PathBuf),
}

impl Other {
    /// What the arguments say. `None`: the recorded policy it is.
    pub(super) fn of(arguments: &Arguments) -> Result<Option<Self>, Stop> {
        Ok(match (&arguments.policy, &arguments.preset, arguments.slo) {
            (Some(file), _, _) => Some(Self::File(file.clone())),
            (None, Some(name), Some(slo)) if name == "slo" => {
                Some(Self::Preset(Box::new(Preset::slo(slo))))
            }
            (None, Some(name), _) => Some(Self::Preset(Box::new(preset(name)?))),
            (None, None, _) => None,
        })
    }

    /// What it is called in a report.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Preset(preset) => format!("the preset {}", preset.name()),
            Self::File(file) => file.display().to_string(),
        }
    }

    /// What it is for a pool that was recorded within `bounds`.
    pub(super) fn policy(&self, pool: &str, bounds: Bounds) -> Result<Policy, Stop> {
        let config = match self {
            // What is compared is how they decide, so they have the same room for it.
            Self::Preset(preset) => PolicyConfig {
                workers_min: Some(bounds.min),
                workers_max: Some(bounds.max),
                workers_max_allowed: None,
                ..preset.config()
            },
            Self::File(file) => from_file(file, pool, bounds)?,
        };
        Policy::check(&config, bounds.max).map_err(|faults| {
            let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
            Stop::Misused(format!("{} cannot be run: {}", self.name(), faults.join("; ")))
        })
    }
}

/// The policy of the pool of that name in a file, or of its only pool.
fn from_file(file: &Path, pool: &str, bounds: Bounds) -> Result<PolicyConfig, Stop> {
    // Where it does not say how many there may be, it is as many as there might have been.
    let reader = Reader::new(&Registry::new()).environment().cores(bounds.max);
    let reading = reader.read(file).map_err(|report| Stop::Misused(report.to_string()))?;
    let config = reading.config;
    let found = match &config.pools[..] {
        [only] => Some(only),
        _ => config.pool(pool),
    };
    found.map(|pool| pool.policy.clone()).ok_or_else(|| {
        let names: Vec<_> = config.pools.iter().map(|pool| pool.name.as_str()).collect();
        let (file, names) = (file.display(), names.join(", "));
        Stop::Misused(format!("--policy {file}: no pool is called {pool:?}; there are {names}"))
    })
}

/// How long a task may wait before it is late: as was said, or as one of the policies has it.
pub(super) fn promise(said: Option<Duration>, other: &Policy, recorded: &Policy) -> Duration {
    let budgets = [said, other.wait_budget(), recorded.wait_budget()];
    // To hire at once is no promise that nobody waits.
    let known = budgets.into_iter().flatten().find(|budget| !budget.is_zero());
    known.unwrap_or(WAIT_USUAL)
}
