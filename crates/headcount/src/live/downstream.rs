//! Pools that call the same other side share one veto.
//!
//! Each of them sees its own errors only. While the other side fails for one pool, another that
//! happens to have had luck would grow and make it worse; so they put what they see together, and
//! none grows while too many tasks fail on the whole. How many are too many is for each pool to
//! say: what fails is counted together, what is borne is not.
//!
//! Pools look at different times, and one that was stopped looks no more. So all of them are
//! counted over the same span, which ends with the latest look of any.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use headcount_core::guard::ErrorVeto;
use headcount_core::signal::External;
use headcount_core::{Counters, Extras, Name, NameError, Observation, Timestamp};

use super::surroundings::Surroundings;
use crate::sync::lock;

/// Errors count for so long.
const SEEN_FOR: Duration = Duration::from_secs(10);
/// Of every pool so many looks are kept.
const LOOKS_MAX: usize = 256;

/// The other side that several pools call: a database, somebody's API.
///
/// ```
/// use headcount::{Downstream, Preset, Scaler, ThreadPool};
///
/// let database = Downstream::new("database", 0.1)?;
/// let pools = [(); 2].map(|()| ThreadPool::builder().workers(1..=8).build());
/// let [reads, writes] = pools.map(|pool| pool.expect("no fault"));
/// let of = |pool: &ThreadPool| {
///     Scaler::of(pool.handle()).policy(Preset::gopipe()).downstream(&database).start()
/// };
/// let (reads, writes) = (of(&reads)?, of(&writes)?);
/// assert_eq!(database.error_rate(), None, "nothing was tried yet");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Downstream {
    /// What the share of tasks that fail is called in observations.
    rate_name: Name,
    rate_max: f64,
    looks: Arc<Mutex<Vec<Option<Looks>>>>,
}

/// What one pool saw lately.
type Looks = VecDeque<(Timestamp, Counters)>;

impl Downstream {
    /// The other side called `name`; pools that call it do not grow while more than `rate_max` of
    /// their tasks fail, on the whole.
    ///
    /// # Errors
    ///
    /// When `name` is no name.
    pub fn new(name: &str, rate_max: f64) -> Result<Self, NameError> {
        let rate_name = Name::new(&format!("{name}.errors"))?;
        Ok(Self { rate_name, rate_max, looks: Arc::default() })
    }

    /// The same other side, for pools that bear another share of failures. What fails counts for
    /// all of them together.
    ///
    /// ```
    /// use headcount::{Downstream, Preset, Scaler, ThreadPool};
    ///
    /// let database = Downstream::new("database", 0.1)?;
    /// let pool = ThreadPool::builder().workers(1..=8).build()?;
    /// let patient = database.with_rate_max(0.5);
    /// let scaler = Scaler::of(pool.handle()).policy(Preset::gopipe());
    /// let scaler = scaler.downstream(&patient).start()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_rate_max(&self, rate_max: f64) -> Self {
        Self { rate_max, ..self.clone() }
    }

    /// The share of tasks that failed lately, of all pools that call it. `None`: none has ended.
    #[must_use]
    pub fn error_rate(&self) -> Option<f64> {
        let looks = lock(&self.looks);
        let latest = looks.iter().flatten().filter_map(|looks| Some(looks.back()?.0)).max()?;
        let (mut completed, mut failed) = (0, 0);
        for looks in looks.iter().flatten() {
            if let (Some(first), Some((_, last))) = (base(looks, latest), looks.back()) {
                completed += last.completed.saturating_sub(first.completed);
                failed += last.failed.saturating_sub(first.failed);
            }
        }
        (0 < completed).then(|| failed as f64 / completed as f64)
    }

    pub(super) fn join(&self) -> Caller {
        let mut looks = lock(&self.looks);
        let free = looks.iter().position(Option::is_none);
        let index = free.unwrap_or(looks.len());
        match free {
            Some(index) => looks[index] = Some(Looks::new()),
            None => looks.push(Some(Looks::new())),
        }
        Caller { downstream: self.clone(), index }
    }

    /// Reads the share from the observation, and refuses growth by it.
    pub(super) fn add_veto(&self, extras: &mut Extras) {
        extras.signals.push(Box::new(External { name: self.rate_name }));
        let veto = ErrorVeto { signal: self.rate_name, rate_max: self.rate_max };
        extras.guards.push(Arc::new(veto));
    }
}

/// One pool that calls it.
pub(super) struct Caller {
    downstream: Downstream,
    index: usize,
}

impl Surroundings for Caller {
    fn look(&self, observation: &mut Observation) {
        if let Some(looks) = &mut lock(&self.downstream.looks)[self.index] {
            note(looks, observation.at, observation.pool.counters);
        }
        if let Some(rate) = self.downstream.error_rate() {
            // Where there is no room for another name, nothing is known of it.
            observation.externals.set(self.downstream.rate_name, rate).ok();
        }
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        lock(&self.downstream.looks)[self.index] = None;
    }
}

/// What to count from, at `latest`: the last look before the span that counts, or the first.
fn base(looks: &Looks, latest: Timestamp) -> Option<Counters> {
    let before = looks.iter().rev().find(|(at, _)| SEEN_FOR <= latest.since(*at));
    before.or(looks.front()).map(|(_, counters)| *counters)
}

fn note(looks: &mut Looks, at: Timestamp, counters: Counters) {
    // One that is older than the span is kept, so that there is something to count from.
    while 2 <= looks.len() && (SEEN_FOR <= at.since(looks[1].0) || LOOKS_MAX <= looks.len()) {
        looks.pop_front();
    }
    looks.push_back((at, counters));
}

impl fmt::Debug for Downstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = self.error_rate();
        f.debug_struct("Downstream").field(self.rate_name.as_str(), &rate).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use headcount_core::PoolSnapshot;

    use super::*;

    fn look(caller: &Caller, second: u64, completed: u64, failed: u64) -> Option<f64> {
        let counters = Counters { completed, failed, ..Counters::default() };
        let pool = PoolSnapshot { counters, ..PoolSnapshot::default() };
        let mut observation = Observation::new(Timestamp::from_secs(second), pool);
        caller.look(&mut observation);
        observation.externals.get("db.errors")
    }

    #[test]
    fn what_one_sees_the_other_knows() {
        let database = Downstream::new("db", 0.1).expect("a name");
        let (a, b) = (database.join(), database.join());
        assert_eq!(look(&a, 0, 0, 0), None);
        assert_eq!(look(&b, 0, 0, 0), None);
        assert_eq!(look(&a, 1, 100, 50), Some(0.5));
        assert_eq!(look(&b, 1, 100, 0), Some(0.25), "and the other way round");
        drop(a);
        assert_eq!(look(&b, 2, 100, 0), Some(0.0), "who is gone does not count");
    }

    #[test]
    fn errors_are_forgotten() {
        let database = Downstream::new("db", 0.1).expect("a name");
        let a = database.join();
        look(&a, 0, 0, 0);
        look(&a, 1, 100, 100);
        assert_eq!(look(&a, 9, 200, 100), Some(0.5));
        assert_eq!(look(&a, 12, 300, 100), Some(0.0));
    }

    #[test]
    fn errors_of_a_pool_that_looks_no_more_are_forgotten_too() {
        let database = Downstream::new("db", 0.1).expect("a name");
        let (stopped, other) = (database.join(), database.join());
        look(&stopped, 0, 0, 0);
        look(&other, 0, 0, 0);
        look(&stopped, 1, 100, 100);
        assert_eq!(look(&other, 9, 100, 0), Some(0.5), "lately");
        assert_eq!(look(&other, 12, 200, 0), Some(0.0), "long ago, though it is still there");
    }
}
