//! An hour of requests to a language model that completes code, from November 2023: bursts, and
//! nothing between them. Three seconds of four are empty.
//!
//! From Microsoft's Azure public dataset, under CC-BY 4.0; `data/README.md` has the attribution.

use std::time::Duration;

/// What it is called.
pub const NAME: &str = "azure_llm_code";
/// How long the steps of its arrivals are.
pub const STEP: Duration = Duration::from_secs(1);

/// Its counts of arrivals, packed with gzip, as they would stand in a file.
///
/// ```
/// use headcount_sim::load::trace_file::{Arrivals, azure};
///
/// let arrivals = Arrivals::read_with_step(azure::arrivals(), azure::STEP)?;
/// assert_eq!(arrivals.total(), 8_819.0);
/// # Ok::<(), headcount_sim::load::trace_file::TraceFileError>(())
/// ```
#[must_use]
pub fn arrivals() -> &'static [u8] {
    include_bytes!("../../../data/azure_llm_code_1s.arrivals.csv.gz")
}

/// Its jobs with the tokens of each, packed with gzip, as they would stand in a file.
///
/// ```
/// use headcount_sim::load::trace_file::{azure, read_jobs};
///
/// assert_eq!(read_jobs(azure::jobs())?.len(), 8_819);
/// # Ok::<(), headcount_sim::load::trace_file::TraceFileError>(())
/// ```
#[must_use]
pub fn jobs() -> &'static [u8] {
    include_bytes!("../../../data/azure_llm_code.jobs.csv.gz")
}

#[cfg(test)]
mod tests {
    use headcount_core::Timestamp;

    use super::super::{Arrivals, read_jobs};
    use super::*;

    #[test]
    fn counts_and_jobs_tell_the_same_story() {
        let arrivals = Arrivals::read(arrivals()).unwrap();
        assert_eq!(arrivals.step, STEP);
        let jobs = read_jobs(jobs()).unwrap();
        let mut total = 0.0;
        for (second, count) in (1..).zip(&arrivals.counts) {
            total += count;
            let end = Timestamp::from_secs(second);
            let before = jobs.partition_point(|job| job.at < end) as f64;
            // Jobs have times in milliseconds, so a few moved into the next second.
            assert!((before - total).abs() <= 1.0, "{total} until {end}, {before} of them listed");
        }
    }
}
