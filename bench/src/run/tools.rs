//! Who takes part: ours, `xargs` and, where it can be had, GNU parallel.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::subject::Subject;
use crate::programs::{answers, install};

/// Somebody who runs jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    /// Finds its own number.
    Ours,
    Xargs(u32),
    Parallel(u32),
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ours => write!(f, "headcount run"),
            Self::Xargs(jobs) => write!(f, "xargs -P {jobs}"),
            Self::Parallel(jobs) => write!(f, "parallel -j {jobs}"),
        }
    }
}

/// Where everybody is.
pub(super) struct Tools {
    ours: PathBuf,
    pub(super) job: String,
    has_parallel: bool,
}

impl Tools {
    /// Builds ours, and looks for the others.
    pub(super) fn find() -> Result<Self, String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let built = Command::new("cargo")
            .args(["build", "--release", "--quiet", "--package", "headcount-cli"])
            .current_dir(&root)
            .status();
        if !built.is_ok_and(|status| status.success()) {
            return Err("headcount-cli cannot be built".to_owned());
        }
        let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
        let target = target.unwrap_or_else(|| root.join("target"));
        let job = std::env::current_exe().map_err(|error| error.to_string())?;
        let has_parallel = answers("parallel") || (install("parallel") && answers("parallel"));
        if !has_parallel {
            eprintln!("GNU parallel cannot be had here; its columns are left out");
        }
        let job = job.display().to_string();
        Ok(Self { ours: target.join("release").join("headcount"), job, has_parallel })
    }

    /// Ours, xargs for each number of the sweep, and parallel for one in its middle.
    pub(super) fn runners(&self, subject: &Subject) -> Vec<Tool> {
        let mut runners = vec![Tool::Ours];
        runners.extend(subject.sweep.iter().map(|jobs| Tool::Xargs(*jobs)));
        if self.has_parallel {
            runners.push(Tool::Parallel(subject.sweep[subject.sweep.len() / 2 - 1]));
        }
        runners
    }

    pub(super) fn command(&self, tool: &Tool, words: &[&str]) -> Command {
        let mut command = match tool {
            Tool::Ours => {
                let mut command = Command::new(&self.ours);
                command.arg("run");
                command
            }
            Tool::Xargs(jobs) => {
                let mut command = Command::new("xargs");
                command.args(["-n", "1", "-P", &jobs.to_string()]);
                command
            }
            Tool::Parallel(jobs) => {
                let mut command = Command::new("parallel");
                command.args(["-j", &jobs.to_string()]);
                command
            }
        };
        command.args(words);
        command
    }
}
