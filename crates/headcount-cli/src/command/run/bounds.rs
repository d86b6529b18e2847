//! How many jobs there may be at once: as asked for, and as the system allows.

use rustix::process::{Resource, getrlimit};

use super::plan::Printing;
use crate::Stop;

/// The most jobs that are looked for without being told: sixteen for each core, 256 at least.
const PER_CORE: u32 = 16;
const MAX_LEAST: u32 = 256;
/// No pool is larger than this.
const WORKERS_MAX: u32 = 10_000;
/// Files that each job needs open, and those that we need ourselves.
const FILES_PER_JOB: u64 = 4;
const FILES_OURS: u64 = 64;
/// The share of the processes we may have that jobs take: each is a thread of ours and a child,
/// which may have children.
const PROCESSES_SHARE: u64 = 4;

/// A fixed number of jobs, as `-j` takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Jobs {
    /// So many; 0 is as many as can be.
    Exactly(u32),
    /// A percentage of the cores.
    Percent(u32),
    /// So many more than cores, or fewer.
    Beside(i64),
}

impl Jobs {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let parsed = match (text.strip_suffix('%'), text.as_bytes().first()) {
            (Some(percent), _) => percent.parse().ok().map(Self::Percent),
            (None, Some(b'+' | b'-')) => text.parse().ok().map(Self::Beside),
            _ => text.parse().ok().map(Self::Exactly),
        };
        parsed.ok_or_else(|| {
            format!("{text:?} is no number of jobs; write 8, 0 (as many as can be), 200%, +2 or -1")
        })
    }

    fn of(self, cores: u32, most: u32) -> u32 {
        let cores = u64::from(cores);
        let jobs = match self {
            Self::Exactly(0) => u64::from(most),
            Self::Exactly(jobs) => u64::from(jobs),
            Self::Percent(percent) => (cores * u64::from(percent)).div_ceil(100),
            Self::Beside(more) => cores.saturating_add_signed(more),
        };
        u32::try_from(jobs.max(1)).unwrap_or(u32::MAX)
    }
}

/// The fewest and the most jobs at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) min: u32,
    pub(super) max: u32,
}

/// What was asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) jobs: Option<Jobs>,
    pub(super) min: Option<u32>,
    pub(super) max: Option<u32>,
}

impl Bounds {
    pub(super) fn of(asked: &Asked, cores: u32, printing: Printing) -> Result<Self, Stop> {
        let most = system_most(printing);
        Self::within(asked, cores, most)
    }

    fn within(asked: &Asked, cores: u32, most: u32) -> Result<Self, Stop> {
        let refused = |flag: &str, jobs: u32| {
            Err(Stop::Misused(format!(
                "{flag} {jobs} is more than the {most} jobs that the limits on open files and \
                 processes allow; ask for fewer, or raise them with `ulimit -n` and `ulimit -u`"
            )))
        };
        if let Some(jobs) = asked.jobs {
            let jobs = jobs.of(cores, most);
            return match jobs <= most {
                true => Ok(Self { min: jobs, max: jobs }),
                false => refused("--jobs", jobs),
            };
        }
        let max = match asked.max {
            Some(max) if most < max => return refused("--max", max),
            Some(max) => max,
            None => cores.saturating_mul(PER_CORE).max(MAX_LEAST).min(most),
        };
        let min = asked.min.unwrap_or(1).max(1);
        match min <= max {
            true => Ok(Self { min, max }),
            false => Err(Stop::Misused(format!("--max {max} is below --min {min}"))),
        }
    }
}

/// The most jobs that the limits of this process allow.
fn system_most(printing: Printing) -> u32 {
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let processes = getrlimit(Resource::Nproc).current.unwrap_or(u64::MAX);
    // A job whose output is not ours needs one file, to be waited for.
    let each = if printing == Printing::Inherited { 1 } else { FILES_PER_JOB };
    let most = (files.saturating_sub(FILES_OURS) / each).min(processes / PROCESSES_SHARE);
    u32::try_from(most).unwrap_or(u32::MAX).clamp(1, WORKERS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(jobs: Option<&str>, min: Option<u32>, max: Option<u32>, expected: &str) {
        let jobs = jobs.map(|text| Jobs::parse(text).expect("a number of jobs"));
        let told = match Bounds::within(&Asked { jobs, min, max }, 4, 500) {
            Ok(Bounds { min, max }) => format!("{min} to {max}"),
            Err(Stop::Misused(why)) => why.split(" jobs").next().unwrap_or_default().to_owned(),
            Err(other) => format!("{other:?}"),
        };
        assert_eq!(told, expected);
    }

    #[test]
    fn a_search_has_generous_bounds() {
        check(None, None, None, "1 to 256");
        check(None, Some(0), Some(8), "1 to 8");
        check(None, Some(9), Some(8), "--max 8 is below --min 9");
        check(None, Some(1), Some(501), "--max 501 is more than the 500");
    }

    #[test]
    fn a_fixed_number_is_written_as_for_parallel() {
        check(Some("8"), None, None, "8 to 8");
        check(Some("0"), None, None, "500 to 500");
        check(Some("150%"), None, None, "6 to 6");
        check(Some("+2"), None, None, "6 to 6");
        check(Some("-9"), None, None, "1 to 1");
        check(Some("501"), None, None, "--jobs 501 is more than the 500");
        assert!(["", "x", "1.5", "%", "+"].iter().all(|text| Jobs::parse(text).is_err()));
    }
}
