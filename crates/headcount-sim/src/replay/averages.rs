//! How many workers there were, on average.

use headcount_core::{PoolSnapshot, Timestamp};

/// Workers on average, over the time between looks.
///
/// Each look counts until the next one. A clock that runs back, as from one process to the next,
/// adds no time.
///
/// ```
/// use headcount_core::{PoolSnapshot, Staffing, Timestamp};
/// use headcount_sim::replay::Averages;
///
/// let mut averages = Averages::default();
/// averages.look(Timestamp::from_secs(0), &PoolSnapshot::at_work(Staffing::exactly(4), 1));
/// averages.look(Timestamp::from_secs(9), &PoolSnapshot::at_work(Staffing::exactly(8), 8));
/// averages.look(Timestamp::from_secs(10), &PoolSnapshot::default());
/// assert_eq!((averages.live(), averages.busy()), (4.4, 1.7));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Averages {
    last: Option<(Timestamp, u32, u32)>,
    seconds: f64,
    live_seconds: f64,
    busy_seconds: f64,
}

impl Averages {
    /// Takes in how a pool is at a moment.
    pub fn look(&mut self, at: Timestamp, pool: &PoolSnapshot) {
        if let Some((before, live, busy)) = self.last {
            let seconds = at.since(before).as_secs_f64();
            self.seconds += seconds;
            self.live_seconds += f64::from(live) * seconds;
            self.busy_seconds += f64::from(busy) * seconds;
        }
        self.last = Some((at, pool.live, pool.busy));
    }

    /// Workers that existed.
    #[must_use]
    pub fn live(&self) -> f64 {
        self.over_time(self.live_seconds)
    }

    /// Workers that ran a task.
    #[must_use]
    pub fn busy(&self) -> f64 {
        self.over_time(self.busy_seconds)
    }

    fn over_time(&self, sum: f64) -> f64 {
        if self.seconds <= 0.0 { 0.0 } else { sum / self.seconds }
    }
}
