//! Which files of a folder belong together, by their names alone.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A load in files: counts of arrivals, and the sizes of its jobs where they are known.
///
/// ```
/// use headcount_sim::load::trace_file::TraceFolder;
/// use std::time::Duration;
///
/// let folder = TraceFolder::of(["web_60s.arrivals.csv.gz", "web.jobs.csv", "notes.txt"]);
/// let web = &folder.traces[0];
/// assert_eq!((web.name.as_str(), web.step), ("web", Duration::from_secs(60)));
/// assert_eq!(web.jobs.as_deref(), Some("web.jobs.csv"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFiles {
    /// What it is called.
    pub name: String,
    /// How long the steps of its arrivals are.
    pub step: Duration,
    /// The file of its arrivals.
    pub arrivals: String,
    /// The file of its jobs, if there is one.
    pub jobs: Option<String>,
}

/// The loads of a folder, in the order of their names.
///
/// ```
/// use headcount_sim::load::trace_file::TraceFolder;
///
/// let folder = TraceFolder::of(["README.md", "web.arrivals.csv"]);
/// assert_eq!(folder.traces, []);
/// assert_eq!(folder.left_over, ["web.arrivals.csv"], "its name does not say the step");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceFolder {
    /// One for each file of arrivals.
    pub traces: Vec<TraceFiles>,
    /// Tables that belong to none: misnamed, jobs without arrivals, or there twice.
    pub left_over: Vec<String>,
}

impl TraceFolder {
    /// Sorts out the names of the files of a folder.
    ///
    /// Arrivals are `<name>_<step>s.arrivals.csv`, their jobs `<name>.jobs.csv`, both with or
    /// without `.gz` behind. Where a file is there both ways, the one that is not packed counts.
    #[must_use]
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut arrivals: BTreeMap<(&str, Duration), &str> = BTreeMap::new();
        let mut jobs: BTreeMap<&str, &str> = BTreeMap::new();
        let mut left_over = BTreeSet::new();
        // In order, so that the plain file comes before the packed one.
        for file in names.into_iter().collect::<BTreeSet<_>>() {
            let taken = match (arrivals_name(file), jobs_name(file)) {
                (Some(key), _) => *arrivals.entry(key).or_insert(file) == file,
                (_, Some(name)) => *jobs.entry(name).or_insert(file) == file,
                _ => table(file).is_none(),
            };
            if !taken {
                left_over.insert(file.to_owned());
            }
        }

        let mut traces = Vec::new();
        for ((name, step), file) in &arrivals {
            traces.push(TraceFiles {
                name: (*name).to_owned(),
                step: *step,
                arrivals: (*file).to_owned(),
                jobs: jobs.get(name).map(|&jobs| jobs.to_owned()),
            });
        }
        let used = |name: &str| traces.iter().any(|trace| trace.name == name);
        left_over.extend(jobs.iter().filter(|(name, _)| !used(name)).map(|(_, f)| (*f).to_owned()));
        Self { traces, left_over: left_over.into_iter().collect() }
    }
}

/// A name without its ending, where it is that of a table.
fn table(file: &str) -> Option<&str> {
    file.strip_suffix(".gz").unwrap_or(file).strip_suffix(".csv")
}

fn arrivals_name(file: &str) -> Option<(&str, Duration)> {
    let (name, step) = table(file)?.strip_suffix(".arrivals")?.rsplit_once('_')?;
    let step = step.strip_suffix('s')?;
    if name.is_empty() || !step.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    let step = Duration::try_from_secs_f64(step.parse().ok()?).ok()?;
    (!step.is_zero()).then_some((name, step))
}

fn jobs_name(file: &str) -> Option<&str> {
    table(file)?.strip_suffix(".jobs").filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(files: &str, expected: &str) {
        let folder = TraceFolder::of(files.split(' '));
        let told = folder.traces.iter().map(|trace| {
            let jobs = trace.jobs.as_deref().unwrap_or("-");
            format!("{} {:?} {} {jobs}", trace.name, trace.step, trace.arrivals)
        });
        let told: Vec<String> = told.chain(folder.left_over.iter().cloned()).collect();
        assert_eq!(told.join("|"), expected, "{files:?}");
    }

    #[test]
    fn arrivals_go_with_the_jobs_of_their_name() {
        check(
            "b_x_60s.arrivals.csv.gz a_1s.arrivals.csv b_x.jobs.csv.gz README.md",
            "a 1s a_1s.arrivals.csv -|b_x 60s b_x_60s.arrivals.csv.gz b_x.jobs.csv.gz",
        );
        check("a_0.5s.arrivals.csv", "a 500ms a_0.5s.arrivals.csv -");
    }

    #[test]
    fn two_steps_of_one_name_share_its_jobs() {
        check(
            "a_60s.arrivals.csv a_1s.arrivals.csv a.jobs.csv",
            "a 1s a_1s.arrivals.csv a.jobs.csv|a 60s a_60s.arrivals.csv a.jobs.csv",
        );
    }

    #[test]
    fn the_plain_file_counts_where_both_are_there() {
        check(
            "a_1s.arrivals.csv.gz a_1s.arrivals.csv a.jobs.csv.gz a.jobs.csv",
            "a 1s a_1s.arrivals.csv a.jobs.csv|a.jobs.csv.gz|a_1s.arrivals.csv.gz",
        );
    }

    #[test]
    fn tables_that_belong_to_nothing_are_named() {
        for file in
            ["a.arrivals.csv", "a_1.arrivals.csv", "a_xs.arrivals.csv.gz", "_1s.arrivals.csv"]
        {
            check(file, file);
        }
        for step in ["0", "-1", "inf", "nan", "1e3", "", "1.2.3", "99999999999999999999999"] {
            let file = format!("a_{step}s.arrivals.csv");
            check(&file, &file);
        }
        check("a.jobs.csv .jobs.csv x.csv", ".jobs.csv|a.jobs.csv|x.csv");
        check(".csv .gz a.gz _ s.arrivals.csv ", ".csv|s.arrivals.csv");
    }
}
