//! What all benchmarks share: rounds, spread, and the report as a table and as JSON.
//!
//! The machines these run on are noisy, so a figure is the median of several rounds, and comes
//! with its spread: the distance from the lower to the upper quartile, as a share of the median.

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
    /// Ours.
    pub ours: f64,
    /// Others', by name.
    pub peers: Vec<(String, f64)>,
    /// From the lower to the upper quartile, as a share of the median.
    pub spread: f64,
}

impl Row {
    /// A row of our own, with nobody to compare with.
    pub fn alone(row: &str, unit: &'static str, rounds: &[f64]) -> Self {
        let (ours, spread) = median_and_spread(rounds);
        Self { row: row.to_owned(), unit, ours, peers: Vec::new(), spread }
    }

    /// Ours as a multiple of the best of the others.
    pub fn ratio_to_best_peer(&self) -> Option<f64> {
        let best = self.peers.iter().map(|(_, value)| *value).reduce(f64::min)?;
        Some(self.ours / best)
    }

    fn json(&self) -> String {
        let peers: Vec<_> =
            self.peers.iter().map(|(name, value)| format!("{name:?}: {value:.3}")).collect();
        let ratio = self.ratio_to_best_peer().map_or("null".to_owned(), |r| format!("{r:.3}"));
        format!(
            "{{\"row\": {:?}, \"unit\": {:?}, \"lower_is_better\": true, \"ours\": {:.3}, \
             \"peers\": {{{}}}, \"ratio_to_best_peer\": {ratio}, \"spread\": {:.3}}}",
            self.row,
            self.unit,
            self.ours,
            peers.join(", "),
            self.spread
        )
    }
}

/// The median of some rounds, and the distance between their quartiles as a share of it.
pub fn median_and_spread(rounds: &[f64]) -> (f64, f64) {
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
    match json_file().and_then(|file| report(&measure(), file.as_ref())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

fn json_file() -> Result<Option<PathBuf>, String> {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next(), arguments.next()) {
        (None, ..) => Ok(None),
        (Some("--json"), Some(file), None) => Ok(Some(PathBuf::from(file))),
        (Some(other), ..) => Err(format!("{other:?} is not understood; --json FILE is")),
    }
}

fn report(rows: &[Row], file: Option<&PathBuf>) -> Result<(), String> {
    let mut table = String::new();
    for row in rows {
        let peers: Vec<_> = row.peers.iter().map(|(name, v)| format!("{name} {v:.1}")).collect();
        let _ = writeln!(
            table,
            "{:<64} {:>10.1} {} (spread {:.0} %) {}",
            row.row,
            row.ours,
            row.unit,
            row.spread * 100.0,
            peers.join(", ")
        );
    }
    print!("{table}");
    file.map_or(Ok(()), |file| write_json(rows, file))
}

fn write_json(rows: &[Row], file: &PathBuf) -> Result<(), String> {
    let rows: Vec<_> = rows.iter().map(|row| format!("  {}", row.json())).collect();
    std::fs::write(file, format!("[\n{}\n]\n", rows.join(",\n")))
        .map_err(|error| format!("{}: {error}", file.display()))
}
