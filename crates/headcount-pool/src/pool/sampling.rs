//! How much of their tasks' time workers spend blocked, as the system's accounts have it.
//!
//! A worker at a task computes, waits for a core, or is blocked. The kernel keeps account of the
//! first two for each thread; what is left of the time at tasks is the third. Nobody has to mark
//! anything for that.

use std::collections::BTreeMap;
use std::time::Duration;

use headcount_core::Timestamp;
use headcount_core::roster::WorkerId;

/// How much lies between two samples at least: each reads one file for each worker.
const APART_MIN: Duration = Duration::from_secs(1);
/// Pools of more workers are not sampled.
pub(crate) const SAMPLED_MAX: usize = 256;

/// Turns samples into the share of time that was spent blocked.
#[derive(Debug, Default)]
pub(crate) struct BlockedShare {
    /// What each worker had used when it was last seen.
    used: BTreeMap<WorkerId, Duration>,
    /// What was used since the beginning, as far as it was seen.
    total_used: Duration,
    last: Option<Sample>,
    share: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    at: Timestamp,
    /// Time at tasks, and time used of it, since the beginning.
    busy: Duration,
    used: Duration,
}

impl BlockedShare {
    /// The share over the last window. `None`: not known.
    pub(crate) fn share(&self) -> Option<f64> {
        self.share
    }

    /// Whether it is time for another sample.
    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        self.last.is_none_or(|last| APART_MIN <= now.since(last.at))
    }

    /// Takes a sample: all workers were at tasks for `busy` since the beginning, and each has used
    /// this much.
    pub(crate) fn sample(
        &mut self,
        now: Timestamp,
        busy: Duration,
        used: impl Iterator<Item = (WorkerId, Duration)>,
    ) {
        let before = std::mem::take(&mut self.used);
        for (worker, used) in used {
            let seen = before.get(&worker).copied().unwrap_or_default();
            self.total_used += used.saturating_sub(seen);
            self.used.insert(worker, used);
        }
        let sample = Sample { at: now, busy, used: self.total_used };
        if let Some(last) = self.last.replace(sample) {
            let busy = busy.saturating_sub(last.busy).as_secs_f64();
            let used = sample.used.saturating_sub(last.used).as_secs_f64();
            // Idle for the whole window: there is nothing to have a share of.
            self.share = (0.0 < busy).then(|| (1.0 - used / busy).clamp(0.0, 1.0));
        }
    }
}

/// What this thread has used: time on a core and time waiting for one. `None`: not known here.
pub(crate) fn used_by(thread: u32) -> Option<Duration> {
    let text = std::fs::read_to_string(format!("/proc/self/task/{thread}/schedstat")).ok()?;
    parse(&text)
}

fn parse(schedstat: &str) -> Option<Duration> {
    let mut numbers = schedstat.split_ascii_whitespace().map(str::parse::<u64>);
    let (running, waiting) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    Some(Duration::from_nanos(running.saturating_add(waiting)))
}

/// The kernel's number of this thread.
#[cfg(target_os = "linux")]
pub(crate) fn this_thread() -> Option<u32> {
    u32::try_from(rustix::thread::gettid().as_raw_nonzero().get()).ok()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn this_thread() -> Option<u32> {
    None
}

#[cfg(all(test, not(loom)))]
mod tests {
    use headcount_core::Staffing;
    use headcount_core::roster::{Order, Roster, RosterConfig, Spread};

    use super::*;

    fn worker() -> WorkerId {
        let mut roster = Roster::new(RosterConfig::new(Staffing::exactly(1)));
        match roster.next_order(Timestamp::ORIGIN, &Spread::default()) {
            Some(Order::Hire(worker)) => worker,
            other => unreachable!("{other:?}"),
        }
    }

    /// Samples of (second, seconds busy, seconds used): the share after the last.
    fn check(samples: &[(u64, u64, u64)], expected: Option<f64>) {
        let mut share = BlockedShare::default();
        for (at, busy, used) in samples {
            let used = [(worker(), Duration::from_secs(*used))];
            share.sample(Timestamp::from_secs(*at), Duration::from_secs(*busy), used.into_iter());
        }
        assert_eq!(share.share(), expected);
    }

    #[test]
    fn what_was_not_used_of_the_time_at_tasks_was_blocked() {
        check(&[(0, 0, 0)], None);
        check(&[(0, 0, 0), (10, 8, 2)], Some(0.75));
        check(&[(0, 0, 0), (10, 8, 2), (20, 16, 10)], Some(0.0));
        check(&[(0, 0, 0), (10, 8, 2), (20, 8, 2)], None);
    }

    #[test]
    fn the_accounts_of_the_kernel_are_read() {
        assert_eq!(parse("1500 500 3\n"), Some(Duration::from_nanos(2000)));
        assert_eq!(parse("1500"), None);
        assert_eq!(parse("one two"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_thread_has_an_account() {
        let thread = this_thread().expect("it runs");
        assert!(used_by(thread).is_some());
    }
}
