//! The flags of `headcount sim bench`.

use std::path::PathBuf;

use headcount_sim::contest::{Regime, TEMPOS};

/// What the command takes.
#[derive(Debug, clap::Args)]
#[command(after_help = "docs/sim.md says what regimes and loads are, docs/policies.md what the \
    policies are.")]
pub(in crate::command::sim) struct Arguments {
    /// Writes all cells to a file, as an array.
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,
    /// Adds the loads of a folder: files of arrivals (`web_60s.arrivals.csv`, or `.csv.gz`), with
    /// or without a file of jobs (`web.jobs.csv`).
    #[arg(long, value_name = "DIR")]
    pub(super) traces: Option<PathBuf>,
    /// These regimes only: A, B-knee, B-brown-out, B-drift (B is all three), C, D, E.
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = regimes)]
    pub(super) regime: Vec<Regimes>,
    /// These loads only.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(super) load: Vec<String>,
    /// These policies only: hpa is hpa at every tempo, hpa/15 the one.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(super) policy: Vec<String>,
    /// Over how many seeds each cell is the mean.
    #[arg(long, value_name = "N", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(super) seeds: u64,
    /// What the times of other systems' policies are divided by.
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = TEMPOS)]
    #[arg(value_parser = tempo)]
    pub(super) tempos: Vec<f64>,
    /// Shows every tempo, not only the best of each policy.
    #[arg(long)]
    pub(super) all: bool,
    /// Draws the policies by cost and lateness; of several regimes each into a file of its own,
    /// FILE-A.svg and so on.
    #[arg(long, value_name = "FILE.svg")]
    pub(super) scatter: Option<PathBuf>,
    /// On how many threads; as many as there are cores by default.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: Option<u16>,
}

/// What one name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Regimes(pub(super) Vec<Regime>);

fn regimes(name: &str) -> Result<Regimes, String> {
    let is_meant = |regime: &Regime| {
        let full = regime.to_string();
        let group = full.split('-').next().unwrap_or_default();
        full.eq_ignore_ascii_case(name) || group.eq_ignore_ascii_case(name)
    };
    let meant: Vec<Regime> = Regime::ALL.into_iter().filter(is_meant).collect();
    match meant.is_empty() {
        true => {
            let names = Regime::ALL.map(|regime| regime.to_string()).join(", ");
            Err(format!("no regime is called {name:?}; there are {names}, and B for its three"))
        }
        false => Ok(Regimes(meant)),
    }
}

fn tempo(text: &str) -> Result<f64, String> {
    let tempo = text.parse().ok().filter(|tempo| (1.0..=1e6).contains(tempo));
    tempo.ok_or_else(|| format!("{text:?} is no tempo; write a number from 1 to 1000000"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expected: &str) {
        let told = match regimes(name) {
            Ok(Regimes(meant)) => {
                meant.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
            }
            Err(why) => why,
        };
        assert_eq!(told, expected, "{name:?}");
    }

    #[test]
    fn regimes_are_called_by_name_or_by_group() {
        check("A", "A");
        check("b-knee", "B-knee");
        check("B", "B-knee B-brown-out B-drift");
        check(
            "F",
            "no regime is called \"F\"; there are A, B-knee, B-brown-out, B-drift, C, D, E, and B \
             for its three",
        );
    }

    #[test]
    fn a_tempo_makes_quicker() {
        assert_eq!(tempo("15"), Ok(15.0));
        for text in ["0", "0.5", "-1", "nan", "inf", "x"] {
            assert!(tempo(text).is_err(), "{text}");
        }
    }
}
