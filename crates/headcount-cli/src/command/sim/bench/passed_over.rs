//! Tables of a folder that belong to no load: why, and what to do.

use std::ffi::OsStr;

use headcount_sim::load::trace_file::TraceFolder;

/// A table that belongs to no load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PassedOver {
    pub(super) file: String,
    pub(super) why: String,
}

impl PassedOver {
    /// All of a folder.
    pub(super) fn of(found: &TraceFolder) -> Vec<Self> {
        let left_over = found.left_over.iter();
        left_over.map(|file| Self { file: file.clone(), why: why(file, found) }).collect()
    }

    /// A table whose name is no text, so that it belongs to nothing. `None`: it is no table.
    pub(super) fn unnamed(name: &OsStr) -> Option<Self> {
        let bytes = name.as_encoded_bytes();
        let is_table = bytes.ends_with(b".csv") || bytes.ends_with(b".csv.gz");
        is_table.then(|| Self {
            file: name.to_string_lossy().into_owned(),
            why: "its name is not UTF-8; rename it".to_owned(),
        })
    }
}

fn why(file: &str, found: &TraceFolder) -> String {
    let plain = file.strip_suffix(".gz").unwrap_or(file);
    let alone = TraceFolder::of([file]);
    let has = |name: &str| {
        let jobs = |name: &str| found.traces.iter().any(|one| one.jobs.as_deref() == Some(name));
        found.traces.iter().any(|one| one.arrivals == name) || jobs(name)
    };
    let ending = |ending: &str| plain.strip_suffix(ending).filter(|name| !name.is_empty());
    match (ending(".arrivals.csv"), ending(".jobs.csv")) {
        _ if plain != file && has(plain) => format!("{plain} is there, too; remove one of them"),
        _ if !alone.traces.is_empty() => {
            "another file has its name and its step; remove one of them".to_owned()
        }
        (Some(name), _) => {
            let name = name.rsplit_once('_').map_or(name, |(name, _)| name);
            let name = if name.is_empty() { "web" } else { name };
            format!("its name must say the step in seconds; call it {name}_60s.arrivals.csv")
        }
        (_, Some(name)) => {
            format!("it has no arrivals; put a file beside it, as {name}_60s.arrivals.csv")
        }
        _ => "its name is not that of a trace; call it web_60s.arrivals.csv or web.jobs.csv"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(files: &str, expected: &str) {
        let told = PassedOver::of(&TraceFolder::of(files.split(' ')));
        let told: Vec<String> =
            told.iter().map(|one| format!("{}: {}", one.file, one.why)).collect();
        assert_eq!(told.join("|"), expected, "{files:?}");
    }

    #[test]
    fn each_is_told_why_and_what_to_do() {
        let step = "its name must say the step in seconds; call it x_60s.arrivals.csv";
        check("x_1m.arrivals.csv", &format!("x_1m.arrivals.csv: {step}"));
        check("x.arrivals.csv.gz", &format!("x.arrivals.csv.gz: {step}"));
        check("x.jobs.csv", {
            "x.jobs.csv: it has no arrivals; put a file beside it, as x_60s.arrivals.csv"
        });
        check("x_1s.arrivals.csv x_1s.arrivals.csv.gz", {
            "x_1s.arrivals.csv.gz: x_1s.arrivals.csv is there, too; remove one of them"
        });
        check("x_1.0s.arrivals.csv x_1s.arrivals.csv", {
            "x_1s.arrivals.csv: another file has its name and its step; remove one of them"
        });
        check("x_1s.arrivals.csv x.jobs.csv x.jobs.csv.gz", {
            "x.jobs.csv.gz: x.jobs.csv is there, too; remove one of them"
        });
        check("notes.csv _1s.arrivals.csv", {
            "_1s.arrivals.csv: its name must say the step in seconds; call it \
             web_60s.arrivals.csv|notes.csv: its name is not that of a trace; call it \
             web_60s.arrivals.csv or web.jobs.csv"
        });
    }

    #[test]
    fn a_table_whose_name_is_no_text_is_told() {
        let unnamed = |name: &str| PassedOver::unnamed(OsStr::new(name)).map(|one| one.why);
        assert_eq!(unnamed("x.csv.gz").as_deref(), Some("its name is not UTF-8; rename it"));
        assert_eq!(unnamed("README"), None);
    }
}
