//! How long a job waits for its start while the workers have little to do.

use std::thread;
use std::time::Duration;

use super::contest::{Figures, Scenario, Title};
use super::crew::Crew;
use super::field::{Contestant, Store};
use super::orders::{How, Order, Produced, Shift, Work};
use super::stage::{PAYLOAD, Stage};

const RATE: usize = 1_000;
const JOBS: usize = 5_000;
const CONCURRENCY: usize = 100;
/// Until workers that are at work have opened all of their connections.
const SETTLE: Duration = Duration::from_secs(1);
/// How much longer than its pace a producer may take.
const LATE_MAX: Duration = Duration::from_secs(30);

/// Jobs at an even pace.
pub(super) struct Latency;

impl Scenario for Latency {
    fn store(&self) -> Store {
        Store::Redis
    }

    fn titles(&self, stage: &Stage) -> Vec<Title> {
        let conditions = stage.conditions(Store::Redis);
        let row = |share: &str| {
            let pace = format!("{RATE} jobs/s, concurrency {CONCURRENCY}");
            Title::cost(format!("latency {share}: submit to start, {pace}, {conditions}"), "ms")
        };
        vec![row("p50"), row("p99")]
    }

    fn remark(&self, contestant: &Contestant) -> &'static str {
        contestant.consuming
    }

    fn round(&self, stage: &Stage, contestant: &Contestant) -> Figures {
        let place = stage.clear(Store::Redis)?;
        let shift = Shift { concurrency: CONCURRENCY, work: Work::Nothing };
        let mut crew = Crew::start(stage, contestant, &place, shift)?;
        thread::sleep(SETTLE);
        let (jobs, warm_up) = (stage.options.jobs(JOBS), stage.options.jobs(JOBS) / 10);
        let order = Order { how: How::Paced, jobs, width: RATE, warm_up, payload: PAYLOAD };
        let producer = stage.producer(contestant, &place, order)?;
        let seconds = (jobs + warm_up) as f64 / RATE as f64;
        producer.next::<Produced>(Duration::from_secs_f64(seconds) + LATE_MAX)?;

        crew.wait_for(jobs + warm_up)?;
        let mut latencies = crew.latencies_us()?;
        latencies.sort_by(f64::total_cmp);
        Ok(vec![at(&latencies, 0.5) / 1e3, at(&latencies, 0.99) / 1e3])
    }
}

/// The smallest value that at least this share of all does not exceed.
fn at(sorted: &[f64], share: f64) -> f64 {
    let rank = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_one_of_the_values() {
        let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!([at(&hundred, 0.5), at(&hundred, 0.99)], [50.0, 99.0]);
        assert_eq!([at(&[1.0, 2.0, 3.0], 0.5), at(&[1.0, 2.0, 3.0], 0.99)], [2.0, 3.0]);
        assert_eq!([at(&[7.0], 0.5), at(&[7.0], 0.99)], [7.0, 7.0]);
        assert!(at(&[], 0.5).is_nan());
    }
}
