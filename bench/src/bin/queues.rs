//! Durable job queues on one Redis: what enqueueing, running, waiting and dying costs.

use std::process::ExitCode;

use bench::queues;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.first().map(String::as_str) {
        // Producers and workers are this program too, so that each has a process to itself.
        Some("produce" | "work") => queues::child(&words),
        _ => queues::measure_and_report(words),
    }
}
