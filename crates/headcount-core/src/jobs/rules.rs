//! What holds for a queue as a whole: limits, and in which order jobs are taken.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::label::Label;
use super::spec::Priority;

/// What holds for a queue as a whole. Kept in its store, so that all of a fleet keep to it.
///
/// ```
/// use headcount_core::jobs::{Rate, Rules};
/// use std::time::Duration;
///
/// let rate = Rate { jobs: 10, per: Duration::from_secs(1) };
/// let rules = Rules { rate: Some(rate), key_running_max: Some(1), ..Rules::default() };
/// assert_eq!(rules.check(), Ok(()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct Rules {
    /// How many jobs may run at once, over all nodes. The default is no limit.
    pub running_max: Option<u32>,
    /// How many jobs with one key may run at once. The default is no limit.
    pub key_running_max: Option<u32>,
    /// How many jobs may start in a span of time, over all nodes. The default is no limit.
    pub rate: Option<Rate>,
    /// In which order jobs of different priority are taken.
    pub order: Order,
    /// How many jobs in a row a tenant has taken when it is its turn. The default is 1 for each.
    pub tenant_weights: BTreeMap<Label, u32>,
    /// How many jobs may be in the queue that have not ended; more are refused. The default is ten
    /// million.
    pub waiting_max: u64,
    /// How many jobs that died, were quarantined or cancelled are kept; the oldest go first. The
    /// default is 10,000.
    pub dead_max: u64,
    /// How long they are kept at most. The default is 180 days.
    pub dead_keep: Duration,
    /// How many jobs that are done are kept, of those that asked for it; the oldest go first. The
    /// default is 100,000.
    pub done_max: u64,
}

/// So many jobs may start in a span of time. As many may start at once after a rest.
///
/// ```
/// use headcount_core::jobs::Rate;
/// use std::time::Duration;
///
/// let rate = Rate { jobs: 4, per: Duration::from_secs(1) };
/// assert_eq!(rate.micros_each(), 250_000);
/// // Fresh: all of them; then one every quarter of a second.
/// assert_eq!(rate.free(0, 1_000_000), 4);
/// let theoretical = rate.taken(0, 1_000_000, 4);
/// assert_eq!(rate.free(theoretical, 1_000_000), 0);
/// assert_eq!(rate.free(theoretical, 1_250_000), 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Rate {
    /// This many jobs,
    pub jobs: u32,
    /// in this time.
    pub per: Duration,
}

/// In which order jobs of different priority are taken.
///
/// ```
/// use headcount_core::jobs::{Order, Priority};
///
/// let order = Order::Weighted([8, 8, 4, 4, 2, 2, 1, 1, 1, 1]);
/// // Whose turn it is, by the number of jobs taken so far.
/// assert_eq!(order.turn(0), Some(Priority::new(0)));
/// assert_eq!(order.turn(31), Some(Priority::new(9)));
/// assert_eq!(order.turn(32), Some(Priority::new(0)));
/// assert_eq!(Order::Strict.turn(7), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Order {
    /// The most urgent first, always.
    #[default]
    Strict,
    /// Each priority has its share of turns, so that none starves. Where it is the turn of a
    /// priority that has no job, the most urgent one has it.
    Weighted([u32; Priority::COUNT]),
}

/// What is wrong with the rules of a queue.
///
/// ```
/// use headcount_core::jobs::Rules;
///
/// let rules = Rules { running_max: Some(0), ..Rules::default() };
/// let said = rules.check().expect_err("nothing could run").to_string();
/// assert_eq!(said, "running_max is 0, so nothing would run; pause the queue instead");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RulesError {
    /// This limit is 0.
    Zero(&'static str),
    /// The rate's span is zero, below a microsecond for each job, or longer than a day.
    Rate(Rate),
    /// All weights of the order are 0, or one is above [`Rules::WEIGHT_MAX`].
    Weights,
    /// The tenant's weight is 0 or above [`Rules::WEIGHT_MAX`].
    TenantWeight(Label, u32),
    /// Weights for this many tenants, more than [`Rules::TENANTS_MAX`].
    Tenants(usize),
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            running_max: None,
            key_running_max: None,
            rate: None,
            order: Order::Strict,
            tenant_weights: BTreeMap::new(),
            waiting_max: 10_000_000,
            dead_max: 10_000,
            dead_keep: Duration::from_secs(180 * 24 * 3600),
            done_max: 100_000,
        }
    }
}

impl Rules {
    /// The most turns in a row.
    pub const WEIGHT_MAX: u32 = 1000;
    /// The most tenants whose weights can be told.
    pub const TENANTS_MAX: usize = 1000;

    /// How many jobs in a row this tenant has taken when it is its turn.
    #[must_use]
    pub fn weight(&self, tenant: Option<&Label>) -> u32 {
        tenant.and_then(|tenant| self.tenant_weights.get(tenant)).copied().unwrap_or(1)
    }

    /// Whether a queue can live by them.
    ///
    /// # Errors
    ///
    /// [`RulesError`] names the rule that it cannot live by.
    pub fn check(&self) -> Result<(), RulesError> {
        let zero = |limit: Option<u32>| limit == Some(0);
        if zero(self.running_max) {
            return Err(RulesError::Zero("running_max"));
        }
        if zero(self.key_running_max) {
            return Err(RulesError::Zero("key_running_max"));
        }
        if self.waiting_max == 0 {
            return Err(RulesError::Zero("waiting_max"));
        }
        if let Some(rate) = self.rate.filter(|rate| !rate.can_be_kept()) {
            return Err(RulesError::Rate(rate));
        }
        if self.order.weights().is_some_and(|weights| !shares(&weights)) {
            return Err(RulesError::Weights);
        }
        if Self::TENANTS_MAX < self.tenant_weights.len() {
            return Err(RulesError::Tenants(self.tenant_weights.len()));
        }
        let wrong = |weight: u32| weight == 0 || Self::WEIGHT_MAX < weight;
        match self.tenant_weights.iter().find(|(_, weight)| wrong(**weight)) {
            Some((tenant, weight)) => Err(RulesError::TenantWeight(tenant.clone(), *weight)),
            None => Ok(()),
        }
    }
}

fn shares(weights: &[u32; Priority::COUNT]) -> bool {
    weights.iter().any(|weight| 0 < *weight)
        && weights.iter().all(|weight| *weight <= Rules::WEIGHT_MAX)
}

impl Rate {
    const DAY: Duration = Duration::from_secs(24 * 3600);

    /// Microseconds between two jobs at this rate.
    #[must_use]
    pub fn micros_each(self) -> u64 {
        let per = u64::try_from(self.per.as_micros()).unwrap_or(u64::MAX);
        (per / u64::from(self.jobs.max(1))).max(1)
    }

    /// How many jobs may start now. `theoretical` is what [`Rate::taken`] gave last, or 0; all in
    /// microseconds since 1970.
    #[must_use]
    pub fn free(self, theoretical: u64, now: u64) -> u32 {
        let each = self.micros_each();
        let burst = each.saturating_mul(u64::from(self.jobs));
        let room = now.saturating_add(burst).saturating_sub(theoretical.max(now)) / each;
        u32::try_from(room).unwrap_or(u32::MAX).min(self.jobs)
    }

    /// What to remember after this many have started.
    #[must_use]
    pub fn taken(self, theoretical: u64, now: u64, jobs: u32) -> u64 {
        let took = self.micros_each().saturating_mul(u64::from(jobs));
        theoretical.max(now).saturating_add(took)
    }

    fn can_be_kept(self) -> bool {
        0 < self.jobs && self.per <= Self::DAY && u128::from(self.jobs) <= self.per.as_micros()
    }
}

impl Order {
    fn weights(self) -> Option<[u32; Priority::COUNT]> {
        match self {
            Self::Strict => None,
            Self::Weighted(weights) => Some(weights),
        }
    }

    /// Whose turn it is when `taken` jobs have been taken so far. No one's where the order is
    /// strict.
    #[must_use]
    pub fn turn(self, taken: u64) -> Option<Priority> {
        let weights = self.weights()?;
        let total: u64 = weights.iter().map(|weight| u64::from(*weight)).sum();
        let mut left = taken.checked_rem(total)?;
        for (number, weight) in (0_u8..).zip(weights) {
            match left.checked_sub(u64::from(weight)) {
                Some(beyond) => left = beyond,
                None => return Some(Priority::new(number)),
            }
        }
        None
    }
}

impl fmt::Display for RulesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let max = Rules::WEIGHT_MAX;
        match self {
            Self::Zero("waiting_max") => {
                f.write_str("waiting_max is 0, so every job would be refused; say at least 1")
            }
            Self::Zero(limit) => {
                write!(f, "{limit} is 0, so nothing would run; pause the queue instead")
            }
            Self::Rate(rate) => write!(
                f,
                "a rate of {} jobs per {:?} cannot be kept; allowed is a span of up to a day with \
                 1 job to 1 job a microsecond",
                rate.jobs, rate.per,
            ),
            Self::Weights => {
                write!(f, "the weights of the order must lie between 0 and {max}, and not all be 0")
            }
            Self::TenantWeight(tenant, weight) => {
                write!(f, "tenant {tenant} has the weight {weight}; allowed are 1 to {max}")
            }
            Self::Tenants(count) => {
                write!(f, "{count} tenants have weights; at most {} may", Rules::TENANTS_MAX)
            }
        }
    }
}

impl std::error::Error for RulesError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(change: impl FnOnce(&mut Rules), fine: bool) {
        let mut rules = Rules::default();
        change(&mut rules);
        assert_eq!(rules.check().is_ok(), fine, "{rules:?}");
    }

    #[test]
    fn rules_that_stop_a_queue_are_refused() {
        let second = Duration::from_secs(1);
        check(|_| {}, true);
        check(|rules| rules.running_max = Some(0), false);
        check(|rules| rules.key_running_max = Some(0), false);
        check(|rules| rules.waiting_max = 0, false);
        check(|rules| rules.rate = Some(Rate { jobs: 0, per: second }), false);
        check(|rules| rules.rate = Some(Rate { jobs: 1, per: Duration::ZERO }), false);
        check(|rules| rules.rate = Some(Rate { jobs: 1_000_001, per: second }), false);
        check(|rules| rules.rate = Some(Rate { jobs: 1_000_000, per: second }), true);
        check(|rules| rules.order = Order::Weighted([0; 10]), false);
        check(|rules| rules.order = Order::Weighted([1001; 10]), false);
        let tenant: Label = "a".parse().expect("a name");
        check(|rules| rules.tenant_weights = BTreeMap::from([(tenant.clone(), 0)]), false);
        check(|rules| rules.tenant_weights = BTreeMap::from([(tenant.clone(), 3)]), true);
    }

    #[test]
    fn no_window_has_more_than_its_burst_and_its_rate() {
        let rate = Rate { jobs: 10, per: Duration::from_secs(1) };
        let mut theoretical = 0;
        let mut starts = Vec::new();
        for now in (0..10_000_000).step_by(30_000) {
            let free = rate.free(theoretical, now);
            theoretical = rate.taken(theoretical, now, free);
            starts.extend((0..free).map(|_| now));
        }
        for (first, from) in starts.iter().enumerate() {
            let until = from + 1_000_000;
            let within = starts[first..].iter().filter(|at| **at < until).count();
            assert!(within <= 20, "{within} from {from}");
        }
        assert!(100 <= starts.len(), "{}", starts.len());
    }

    #[test]
    fn every_priority_has_its_share_of_turns() {
        let order = Order::Weighted([3, 0, 0, 0, 0, 2, 0, 0, 0, 1]);
        let turns: Vec<u8> =
            (0..7).filter_map(|taken| order.turn(taken)).map(Priority::get).collect();
        assert_eq!(turns, [0, 0, 0, 5, 5, 9, 0]);
        assert_eq!(Order::Weighted([0; 10]).turn(3), None);
    }
}
