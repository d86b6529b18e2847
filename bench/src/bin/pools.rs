//! Pools side by side: ours beside those that Rust programs use, in the same rounds.
//!
//! Every pool does the same work through one small trait. Pools are made before the clock starts
//! and are gone, down to their last thread, before the next one is made. `--rounds N` and
//! `--only TEXT` make a run shorter.

use std::process::ExitCode;

use bench::measure_and_report_asked;
use bench::pools::{CountingAllocator, measure, print_memory_if_asked};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn main() -> ExitCode {
    if print_memory_if_asked() {
        return ExitCode::SUCCESS;
    }
    measure_and_report_asked(measure)
}
