//! Everything that is wrong with a file, in one report.

use std::fmt;

use super::place::Place;

/// One thing that is wrong, or unwise: where it stands, what it is, what would be right.
///
/// ```
/// use headcount::config::{Reader, Registry};
///
/// let text = "pools:\n  thumbs:\n    workers: {max: many}\n";
/// let report = Reader::new(&Registry::new()).parse("pools.yaml", text).expect_err("a fault");
/// let finding = &report.findings()[0];
/// assert_eq!(finding.path, "pools.thumbs.workers.max");
/// assert_eq!(finding.value.as_deref(), Some("\"many\""));
/// assert_eq!(finding.place.to_string(), "3:20");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Where it is written.
    pub place: Place,
    /// The path that leads there, as its author wrote it; empty for the file as a whole.
    pub path: String,
    /// What is written there, in short; nothing where the path is all there is to say.
    pub value: Option<String>,
    /// What is wrong about it, and what would be right.
    pub advice: String,
}

impl Finding {
    pub(crate) fn new(place: &Place, path: &str, value: Option<String>, advice: String) -> Self {
        Self { place: place.clone(), path: path.to_owned(), value, advice }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.value, self.path.is_empty()) {
            (Some(value), false) => write!(f, "{} is {value}; {}", self.path, self.advice),
            (Some(value), true) => write!(f, "the file is {value}; {}", self.advice),
            (None, false) => write!(f, "{} {}", self.path, self.advice),
            (None, true) => f.write_str(&self.advice),
        }
    }
}

/// How many things a report tells of; nobody reads more of them at once.
const FINDINGS_MAX: usize = 1_000;

/// Everything that is wrong with a file, by line; of more than a thousand things the first.
///
/// ```
/// use headcount::config::{Reader, Registry};
///
/// let text = "pools:\n  thumbs:\n    tick: soon\n    workers: {min: 5, max: 3}\n";
/// let report = Reader::new(&Registry::new()).parse("pools.yaml", text).expect_err("two faults");
/// assert_eq!(
///     report.to_string(),
///     "pools.yaml:3:11: pools.thumbs.tick is \"soon\"; a span of time is needed, such as 3s, \
///      500ms or 1m30s\n\
///      pools.yaml:4:28: pools.thumbs.workers.max is 3; it must be at least workers.min, which \
///      is 5"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    file: String,
    findings: Vec<Finding>,
}

impl Report {
    pub(crate) fn new(file: &str, mut findings: Vec<Finding>) -> Self {
        findings.sort_by(|a, b| a.place.cmp(&b.place));
        findings.dedup();
        let more = findings.len().saturating_sub(FINDINGS_MAX);
        findings.truncate(FINDINGS_MAX);
        if 0 < more {
            let advice = format!("{more} more are wrong; mend these first");
            findings.push(Finding::new(&Place::Default, "", None, advice));
        }
        Self { file: file.to_owned(), findings }
    }

    /// A report of one thing that is wrong with the file as a whole.
    pub(crate) fn of_file(file: &str, advice: impl Into<String>) -> Self {
        let finding = Finding::new(&Place::Default, "", None, advice.into());
        Self { file: file.to_owned(), findings: vec![finding] }
    }

    /// Each thing that is wrong, by line.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The file, as it was called when it was read.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, finding) in self.findings.iter().enumerate() {
            if 0 < index {
                writeln!(f)?;
            }
            write_line(f, &self.file, finding)?;
        }
        Ok(())
    }
}

impl std::error::Error for Report {}

/// A finding behind the place where it is.
pub(crate) fn write_line(f: &mut fmt::Formatter<'_>, file: &str, finding: &Finding) -> fmt::Result {
    match &finding.place {
        Place::File { .. } => write!(f, "{file}:{}: {finding}", finding.place),
        Place::Variable(_) => write!(f, "{}: {finding}", finding.place),
        Place::Preset(_) | Place::Default => write!(f, "{file}: {finding}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_an_end() {
        let finding = |line| {
            let place = Place::File { line, column: 1 };
            Finding::new(&place, "a", None, "is wrong".to_owned())
        };
        let report = |count| Report::new("a.yaml", (1..=count).map(finding).collect());
        assert_eq!(report(1_000).findings().len(), 1_000);
        let text = report(1_007).to_string();
        assert!(text.ends_with("a.yaml: 7 more are wrong; mend these first"), "{text}");
        assert_eq!(text.lines().count(), 1_001);
    }
}
