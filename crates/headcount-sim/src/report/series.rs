//! What is to be shown, as plain data.

use std::time::Duration;

use headcount_core::Timestamp;

/// Everything that a picture or page shows.
///
/// ```
/// use headcount_sim::report::{Report, page};
///
/// let report = Report { title: "slo against a fixed pool".to_owned(), ..Report::default() };
/// assert!(page(&report).contains("slo against a fixed pool"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// What it is about.
    pub title: String,
    /// The load, the seed, the command: whatever else the reader should know.
    pub subtitle: String,
    /// The wait that was promised, drawn as a line.
    pub wait_promised: Option<Duration>,
    /// One for each policy, drawn in one colour each.
    pub runs: Vec<Run>,
    /// Numbers of the runs as a whole.
    pub summary: Table,
}

/// What one policy did.
///
/// ```
/// use headcount_sim::report::Run;
///
/// let run = Run { name: "slo".to_owned(), ..Run::default() };
/// assert!(run.points.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// The policy.
    pub name: String,
    /// Its run, in the order of time.
    pub points: Vec<Point>,
    /// What it decided, in the order of time.
    pub decisions: Vec<Remark>,
}

/// The state of a run from one moment to the next point.
///
/// ```
/// use headcount_core::Timestamp;
/// use headcount_sim::report::Point;
///
/// let point = Point { at: Timestamp::from_secs(3), live: 4.0, demand: 3.2, ..Point::default() };
/// assert_eq!(point.wait_p99, None, "nobody began");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// When it begins.
    pub at: Timestamp,
    /// Workers that exist.
    pub live: f64,
    /// The least that may, as decided.
    pub floor: f64,
    /// The most that may, as decided.
    pub ceiling: f64,
    /// The load that comes in, in workers that it would keep busy.
    pub demand: f64,
    /// Jobs that wait.
    pub waiting: f64,
    /// What 99 of 100 jobs that began waited at most, if any began.
    pub wait_p99: Option<Duration>,
}

/// Something said of a moment: a decision, in words.
///
/// ```
/// use headcount_core::Timestamp;
/// use headcount_sim::report::Remark;
///
/// let remark = Remark { at: Timestamp::from_secs(60), text: "4 -> 7: all are busy".to_owned() };
/// assert!(remark.text.starts_with("4 -> 7"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remark {
    /// The moment.
    pub at: Timestamp,
    /// What is said of it.
    pub text: String,
}

/// Rows under named columns; a row that is too short ends with empty cells.
///
/// ```
/// use headcount_sim::report::Table;
///
/// let table = Table {
///     columns: vec!["policy".to_owned(), "J".to_owned()],
///     rows: vec![vec!["slo".to_owned(), "1.009".to_owned()]],
/// };
/// assert_eq!(table.rows.len(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// What the columns are called.
    pub columns: Vec<String>,
    /// The cells, row by row.
    pub rows: Vec<Vec<String>>,
}
