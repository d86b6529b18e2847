//! What all benchmarks share: rounds, spread, and the report as a table and as JSON.
//!
//! The machines these run on are noisy, so a figure is the median of several rounds, and comes
//! with its spread: the distance from the lower to the upper quartile, as a share of the median.

mod arguments;
mod programs;
pub mod pools;
pub mod queues;
pub mod run;

pub use arguments::Asked;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// One row of a report.
#[derive(Clone, Debug)]
pub struct Row {
    /// What was measured, with everything that matters to it.
    pub row: String,
    /// What the figures count.
    pub unit: &'static str,
    /// Ours; not a number where we did not take part.
    pub ours: f64,
    /// Others', by name.
    pub peers: Vec<(String, f64)>,
    /// From the lower to the upper quartile, as a share of the median.
    pub spread: f64,
    /// Whether the lowest figure is the best one; for a rate it is the highest.
    pub lower_is_better: bool,
    /// The spreads of the others, by name; in most benchmarks nobody asks for them.
    pub peer_spreads: Vec<(String, f64)>,
    /// What has to be known of somebody's figure, or why it has none, by name.
    pub remarks: Vec<(String, String)>,
}

impl Row {
    /// A row of our own, with nobody to compare with.
    pub fn alone(row: &str, unit: &'static str, rounds: &[f64]) -> Self {
        let (ours, spread) = median_and_spread(rounds);
        Self {
            row: row.to_owned(),
            unit,
            ours,
            peers: Vec::new(),
            spread,
            lower_is_better: true,
            peer_spreads: Vec::new(),
            remarks: Vec::new(),
        }
    }

    /// Ours as a multiple of the best of the others; those without a figure do not count.
    pub fn ratio_to_best_peer(&self) -> Option<f64> {
        let better = if self.lower_is_better { f64::min } else { f64::max };
        let best = self.peers.iter().map(|(_, value)| *value).reduce(better)?;
        // Two that take nothing take the same.
        let is_tie = self.ours.total_cmp(&best).is_eq();
        Some(if is_tie { 1.0 } else { self.ours / best })
    }

    fn json(&self) -> String {
        let ratio = figure(self.ratio_to_best_peer().unwrap_or(f64::NAN));
        let more = [
            member("peer_spreads", &self.peer_spreads, |spread| figure(*spread)),
            member("remarks", &self.remarks, |remark| format!("{remark:?}")),
        ];
        format!(
            "{{\"row\": {:?}, \"unit\": {:?}, \"lower_is_better\": {}, \"ours\": {}, \
             \"peers\": {}, \"ratio_to_best_peer\": {ratio}, \"spread\": {}{}}}",
            self.row,
            self.unit,
            self.lower_is_better,
            figure(self.ours),
            object(&self.peers, |value| figure(*value)),
            figure(self.spread),
            more.concat()
        )
    }

    /// What the table has behind ours.
    fn others(&self) -> String {
        let remark = |name: &str| self.remarks.iter().find(|(of, _)| of == name);
        let told = |(name, value): &(String, f64)| match (value.is_nan(), remark(name)) {
            (true, Some((_, why))) => format!("{name} {why}"),
            _ => format!("{name} {}", shown(*value)),
        };
        self.peers.iter().map(told).collect::<Vec<_>>().join(", ")
    }
}

fn object<T>(members: &[(String, T)], value: impl Fn(&T) -> String) -> String {
    let members: Vec<_> = members.iter().map(|(n, v)| format!("{n:?}: {}", value(v))).collect();
    format!("{{{}}}", members.join(", "))
}

/// A member that is left out where there is nothing in it.
fn member<T>(name: &str, members: &[(String, T)], value: impl Fn(&T) -> String) -> String {
    match members {
        [] => String::new(),
        members => format!(", {name:?}: {}", object(members, value)),
    }
}

/// The median of some rounds, and the distance between their quartiles as a share of it; of no
/// rounds, neither is a number.
pub fn median_and_spread(rounds: &[f64]) -> (f64, f64) {
    if rounds.is_empty() {
        return (f64::NAN, f64::NAN);
    }
    let mut sorted = rounds.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
    let median = at(0.5);
    (median, if median == 0.0 { 0.0 } else { (at(0.75) - at(0.25)) / median })
}

/// Nanoseconds for each of `count` calls, in one round.
pub fn nanoseconds_each(count: u32, mut call: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..count {
        call();
    }
    start.elapsed().as_nanos() as f64 / f64::from(count)
}

/// What every benchmark does: reads its arguments, measures, prints the rows and, asked with
/// `--json FILE`, writes them to the file too. Nothing is measured if the arguments are not
/// understood.
pub fn measure_and_report(measure: impl FnOnce() -> Vec<Row>) -> ExitCode {
    let asked = Asked::read(std::env::args().skip(1)).and_then(Asked::only_json);
    exit_code(asked.and_then(|asked| report(&measure(), asked.json.as_ref())))
}

/// The same, for a benchmark that can also be asked for some rounds (`--rounds N`) and for some
/// rows (`--only TEXT`).
pub fn measure_and_report_asked(
    measure: impl FnOnce(&Asked) -> Result<Vec<Row>, String>,
) -> ExitCode {
    measure_and_report_for(Asked::read(std::env::args().skip(1)), measure)
}

/// The same, for a benchmark that reads its arguments itself, as it has more of them.
pub fn measure_and_report_for(
    asked: Result<Asked, String>,
    measure: impl FnOnce(&Asked) -> Result<Vec<Row>, String>,
) -> ExitCode {
    exit_code(asked.and_then(|asked| report(&measure(&asked)?, asked.json.as_ref())))
}

fn exit_code(outcome: Result<(), String>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

fn report(rows: &[Row], file: Option<&PathBuf>) -> Result<(), String> {
    let mut table = String::new();
    for row in rows {
        let ours = match row.ours.is_nan() {
            true => format!("{:>10} {}", "-", row.unit),
            false => {
                let (ours, spread) = (shown(row.ours), row.spread * 100.0);
                format!("{ours:>10} {} (spread {spread:.0} %)", row.unit)
            }
        };
        let _ = writeln!(table, "{:<76} {ours} {}", row.row, row.others());
    }
    print!("{table}");
    file.map_or(Ok(()), |file| write_json(rows, file))
}

fn write_json(rows: &[Row], file: &PathBuf) -> Result<(), String> {
    let rows: Vec<_> = rows.iter().map(|row| format!("  {}", row.json())).collect();
    std::fs::write(file, format!("[\n{}\n]\n", rows.join(",\n")))
        .map_err(|error| format!("{}: {error}", file.display()))
}

/// A figure as the table has it: a small one with more digits, as it may be a ratio.
fn shown(value: f64) -> String {
    if value.abs() < 10.0 { format!("{value:.2}") } else { format!("{value:.1}") }
}

/// A figure as JSON has it, which knows no figure that is not a number.
fn figure(value: f64) -> String {
    if value.is_finite() { format!("{value:.3}") } else { "null".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_without_ours_is_still_json() {
        let peers = vec![("rayon".to_owned(), 2.0)];
        let row = Row { peers, ..Row::alone("tiny", "ns", &[]) };
        assert_eq!(
            row.json(),
            "{\"row\": \"tiny\", \"unit\": \"ns\", \"lower_is_better\": true, \"ours\": null, \
             \"peers\": {\"rayon\": 2.000}, \"ratio_to_best_peer\": null, \"spread\": null}"
        );
    }

    #[test]
    fn the_ratio_is_to_the_best_of_the_others() {
        let peers = vec![
            ("rayon".to_owned(), 4.0),
            ("stalled".to_owned(), f64::NAN),
            ("tokio".to_owned(), 2.0),
        ];
        let lowest = Row { peers, ..Row::alone("tiny", "ns", &[1.0, 1.0, 1.0]) };
        assert_eq!(lowest.ratio_to_best_peer(), Some(0.5));
        let highest = Row { lower_is_better: false, ..lowest };
        assert_eq!(highest.ratio_to_best_peer(), Some(0.25));
    }

    #[test]
    fn who_takes_nothing_is_level_with_others_that_do() {
        let peers = vec![("rayon".to_owned(), 0.0)];
        let row = Row { peers, ..Row::alone("idle", "us/s", &[0.0]) };
        assert_eq!(row.ratio_to_best_peer(), Some(1.0));
    }

    #[test]
    fn a_remark_stands_where_the_figure_would() {
        let peers = vec![("bullmq".to_owned(), f64::NAN)];
        let remarks = vec![("bullmq".to_owned(), "not installed".to_owned())];
        let row = Row { peers, remarks, ..Row::alone("drain", "jobs/s", &[]) };
        assert_eq!(row.others(), "bullmq not installed");
        assert!(row.json().ends_with("\"remarks\": {\"bullmq\": \"not installed\"}}"));
    }
}
