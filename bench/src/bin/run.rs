//! `headcount run` beside `xargs -P N` over a sweep of N, and GNU parallel.

use std::process::ExitCode;

use bench::{measure_and_report_asked, run};

fn main() -> ExitCode {
    // The jobs are this program too.
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.first().map(String::as_str) {
        Some("job") => run::job(&words[1..]),
        _ => measure_and_report_asked(run::measure),
    }
}
