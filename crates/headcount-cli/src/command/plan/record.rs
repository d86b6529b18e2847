//! What a file tells of the past: counts of arrivals, and what is known of jobs and workers.

use headcount_sim::maths::{BadNumber, Service};

/// More counts than this are not kept: over three months of seconds.
pub(super) const COUNTS_MAX: usize = 10_000_000;

/// What a file tells of the past.
#[derive(Debug)]
pub(super) struct Record {
    /// How long each count is, in seconds.
    pub(super) step: f64,
    pub(super) counts: Vec<u64>,
    /// How long jobs took. `None`: not told.
    pub(super) service: Option<Service>,
    /// How long workers took to start, in seconds. `None`: not told.
    pub(super) spawn: Option<f64>,
    /// Why no rate can be told from it, and what to do. `None`: it can.
    pub(super) no_rate: Option<String>,
}

/// Times of jobs, summed up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Times {
    pub(super) fn add(&mut self, seconds: f64) {
        self.add_many(1.0, seconds, 0.0);
    }

    /// So many jobs of which only their mean and their variation are known.
    pub(super) fn add_many(&mut self, count: f64, mean: f64, scv: f64) {
        self.count += count;
        self.sum += count * mean;
        self.squares += count * mean * mean * (1.0 + scv);
    }

    /// `None`: there was no job.
    pub(super) fn service(&self) -> Option<Result<Service, BadNumber>> {
        let mean = self.sum / self.count;
        let scv = (self.squares / self.count / (mean * mean) - 1.0).max(0.0);
        (0.0 < self.count).then(|| Service::new(mean, scv))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_summed_up_one_by_one_or_many_at_once() {
        let mut times = Times::default();
        assert!(times.service().is_none());
        times.add(1.0);
        times.add(3.0);
        let two = times.service().unwrap().unwrap();
        assert_eq!((two.mean(), two.scv()), (2.0, 0.25));
        times.add_many(2.0, two.mean(), two.scv());
        assert_eq!(times.service().unwrap().unwrap(), two);
    }

    #[test]
    fn jobs_that_took_no_time_are_no_service() {
        let mut times = Times::default();
        times.add(0.0);
        assert!(times.service().unwrap().is_err());
    }
}
