//! Processors: how many there are for us, and how much of their time is used.
//!
//! The kernel counts time since it was started. What we want are shares of the time since the last
//! sample, so two counts are compared. A count that went backwards (the container was moved to
//! another host, say, or the kernel corrected its idle time) says nothing about the time between.

use std::time::Duration;

use headcount_core::Timestamp;

use super::files::Files;
use super::groups::{Branch, Groups, Version};
use super::text::{in_both, keyed, processors, value_of};

/// Over less than that shares are noise: the kernel counts in hundredths of a second.
const WINDOW_MIN: Duration = Duration::from_millis(500);

/// How many processors there are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cores {
    /// That are online.
    pub(super) host: Option<u32>,
    /// That this process may run on.
    pub(super) allowed: Option<u32>,
}

impl Cores {
    /// The mask of a process may name processors that do not exist; those online do.
    pub(super) fn read(files: &mut Files, status: Option<&str>) -> Self {
        let place = files.place("sys/devices/system/cpu/online");
        let online = files.text(&place).and_then(processors);
        let host = online.as_ref().map(|online| in_both(online, online)).filter(|host| 0 < *host);
        let mask = status.and_then(|status| value_of(status, "Cpus_allowed_list"));
        let allowed = mask.and_then(processors).zip(online);
        let allowed = allowed.map(|(mask, online)| in_both(&mask, &online));
        Self { host, allowed: allowed.filter(|allowed| 0 < *allowed).or(host) }
    }

    /// What the quotas leave of the processors that we may run on.
    pub(super) fn usable(self, quotas: &[Quota]) -> Option<f64> {
        let granted = quotas.iter().map(|quota| quota.cores);
        granted.chain(self.allowed.map(f64::from)).reduce(f64::min)
    }
}

/// What is counted up to one instant.
#[derive(Clone, Debug, Default)]
pub(super) struct Count {
    pub(super) host: Option<Times>,
    /// The groups that have a quota, ours first.
    pub(super) quotas: Vec<Quota>,
}

/// How the processors of the host spent their time, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    total: u64,
    /// Idle, the wait for disks not included.
    idle: u64,
    /// Idle for want of a disk.
    io_wait: u64,
}

/// A group that may use so much processor time and no more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Quota {
    /// How far up its group is.
    level: usize,
    /// Processors, in parts.
    pub(super) cores: f64,
    used: Option<Duration>,
    periods: Option<Periods>,
}

/// The periods over which a quota is granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Periods {
    all: u64,
    throttled: u64,
}

impl Count {
    /// A quota of more than the processors that we may run on is none.
    pub(super) fn read(files: &mut Files, groups: &Groups, cores: Cores) -> Self {
        let place = files.place("proc/stat");
        let host = files.beginning(&place).and_then(Times::read);
        let mut quotas = Vec::new();
        if let Some(branch) = &groups.cpu {
            let accounts = groups.cpuacct.as_ref();
            let levels = 0..branch.levels.len();
            quotas.extend(levels.filter_map(|i| Quota::read(files, branch, accounts, i)));
        }
        let binds = |quota: &Quota| cores.allowed.is_none_or(|most| quota.cores < f64::from(most));
        quotas.retain(binds);
        Self { host, quotas }
    }
}

impl Times {
    /// Reads `cpu  user nice system idle iowait irq softirq steal guest guest_nice`, of which old
    /// kernels have only the first ones. What guests use is in `user` already.
    fn read(stat: &str) -> Option<Self> {
        let line = stat.lines().next()?.strip_prefix("cpu ")?;
        let mut ticks = [0_u64; 8];
        let mut words = line.split_ascii_whitespace();
        for (index, tick) in ticks.iter_mut().enumerate() {
            match words.next() {
                Some(word) => *tick = word.parse().ok()?,
                None if 5 <= index => break,
                None => return None,
            }
        }
        let total = ticks.iter().try_fold(0_u64, |sum, tick| sum.checked_add(*tick))?;
        Some(Self { total, idle: ticks[3], io_wait: ticks[4] })
    }
}

impl Quota {
    fn read(
        files: &mut Files,
        branch: &Branch,
        accounts: Option<&Branch>,
        level: usize,
    ) -> Option<Self> {
        let group = &branch.levels[level];
        let cores = match branch.version {
            Version::Two => granted(files.text(&group.join("cpu.max"))?)?,
            Version::One => {
                // Minus one, which is no number of ours, is no quota.
                let quota = files.number(&group.join("cpu.cfs_quota_us"))?;
                ratio(quota, files.number(&group.join("cpu.cfs_period_us"))?)?
            }
        };
        let stat = files.text(&group.join("cpu.stat"));
        let number = |key| stat.and_then(|stat| keyed(stat, key));
        let periods = number("nr_periods").zip(number("nr_throttled"));
        let periods = periods.map(|(all, throttled)| Periods { all, throttled });
        let used = match branch.version {
            Version::Two => number("usage_usec").map(Duration::from_micros),
            Version::One => {
                // The other tree has its own groups; only if they nest alike are they the same.
                let accounts = accounts.filter(|b| b.levels.len() == branch.levels.len());
                let account = accounts.map(|accounts| accounts.levels[level].join("cpuacct.usage"));
                account.and_then(|file| files.number(&file)).map(Duration::from_nanos)
            }
        };
        Some(Self { level, cores, used, periods })
    }
}

/// Processors by `cpu.max`: `150000 100000`, or `max 100000` where there is no quota.
fn granted(text: &str) -> Option<f64> {
    let (quota, period) = text.trim().split_once(' ')?;
    ratio(quota.parse().ok()?, period.parse().ok()?)
}

fn ratio(quota: u64, period: u64) -> Option<f64> {
    (0 < quota && 0 < period).then(|| quota as f64 / period as f64)
}

/// Shares of the time between two samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Shares {
    pub(super) cpu: Option<f64>,
    pub(super) throttled: Option<f64>,
    pub(super) io_wait: Option<f64>,
}

/// Turns counts into shares.
#[derive(Debug, Default)]
pub(super) struct Watch {
    last: Option<(Timestamp, Count)>,
    shares: Shares,
}

impl Watch {
    /// The shares of the time since the count before. A count that comes too soon is passed over:
    /// the last shares hold, and the next window begins where it would have.
    pub(super) fn take(&mut self, at: Timestamp, count: Count) -> Shares {
        match &self.last {
            Some((then, _)) if at.since(*then) < WINDOW_MIN => return self.shares,
            Some((then, before)) => self.shares = between(before, &count, at.since(*then)),
            None => {}
        }
        self.last = Some((at, count));
        self.shares
    }
}

fn between(before: &Count, now: &Count, span: Duration) -> Shares {
    let host = before.host.zip(now.host);
    let of_host = |(before, now)| shares_of_host(before, now);
    let (busy, io_wait) = host.map(of_host).unwrap_or_default();
    if now.quotas.is_empty() {
        return Shares { cpu: busy, throttled: None, io_wait };
    }
    // A quota that was set in between has no beginning yet.
    let beginning = |now: &Quota| before.quotas.iter().find(|quota| quota.level == now.level);
    let pairs = || now.quotas.iter().filter_map(|now| Some((beginning(now)?, now)));
    Shares {
        cpu: pairs().filter_map(|(before, now)| share_used(before, now, span)).reduce(f64::max),
        throttled: pairs().filter_map(|(b, n)| share_throttled(b, n)).reduce(f64::max),
        io_wait,
    }
}

/// The shares that the host was busy and waited for disks.
fn shares_of_host(before: Times, now: Times) -> (Option<f64>, Option<f64>) {
    let total = now.total.checked_sub(before.total).filter(|total| 0 < *total);
    let idle = now.idle.checked_sub(before.idle);
    let io_wait = now.io_wait.checked_sub(before.io_wait);
    let share = |part: u64| Some((part as f64 / total? as f64).min(1.0));
    let busy = idle.zip(io_wait).and_then(|(idle, io_wait)| share(idle.saturating_add(io_wait)));
    (busy.map(|unused| 1.0 - unused), io_wait.and_then(share))
}

fn share_used(before: &Quota, now: &Quota, span: Duration) -> Option<f64> {
    let used = now.used?.checked_sub(before.used?)?;
    Some((used.as_secs_f64() / (span.as_secs_f64() * now.cores)).min(1.0))
}

/// In a window without a period the group did not run, so nothing held it back.
fn share_throttled(before: &Quota, now: &Quota) -> Option<f64> {
    let (before, now) = (before.periods?, now.periods?);
    let all = now.all.checked_sub(before.all)?;
    let throttled = now.throttled.checked_sub(before.throttled)?;
    Some((throttled as f64 / all.max(1) as f64).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(total: u64, idle: u64, io_wait: u64) -> Times {
        Times { total, idle, io_wait }
    }

    #[test]
    fn the_first_line_of_stat_is_read_by_kernels_of_every_age() {
        let line = "cpu  10 1 2 70 5 3 4 5 9 9\ncpu0 1 2 3 4 5\nintr 7";
        assert_eq!(Times::read(line), Some(times(100, 70, 5)));
        assert_eq!(Times::read("cpu  10 0 0 80 10\n"), Some(times(100, 80, 10)));
        assert_eq!(Times::read("cpu  10 0 0 80\n"), None, "without I/O wait it is not Linux 2.6");
        assert_eq!(Times::read("cpu  10 0 0 x 10\n"), None);
        assert_eq!(Times::read("cpu  10 0 0 -3 10\n"), None);
        assert_eq!(Times::read("cpu  18446744073709551615 1 0 80 10\n"), None);
        assert_eq!(Times::read("intr 1 2 3"), None);
        assert_eq!(Times::read(""), None);
    }

    #[test]
    fn quotas_are_parts_of_processors() {
        assert_eq!(granted("150000 100000\n"), Some(1.5));
        for text in ["max 100000", "0 100000", "100000 0", "100000", "", "a b", "-1 100000"] {
            assert_eq!(granted(text), None, "{text:?}");
        }
    }

    /// Counts of (second, total, idle, I/O wait): busy and waiting after the last one.
    fn check(counts: &[(u64, u64, u64, u64)], told: &str) {
        let mut watch = Watch::default();
        let mut shares = Shares::default();
        for (millis, total, idle, io_wait) in counts {
            let count = Count { host: Some(times(*total, *idle, *io_wait)), quotas: Vec::new() };
            shares = watch.take(Timestamp::from_millis(*millis), count);
        }
        let percent =
            |share: Option<f64>| share.map_or("?".to_owned(), |s| format!("{:.0}", s * 100.0));
        assert_eq!(format!("{} {}", percent(shares.cpu), percent(shares.io_wait)), told);
    }

    #[test]
    fn shares_are_of_the_time_since_the_last_count() {
        check(&[(0, 1000, 500, 0)], "? ?");
        check(&[(0, 1000, 500, 0), (5000, 2000, 1000, 250)], "25 25");
        check(&[(0, 0, 0, 0), (5000, 1000, 0, 0), (10_000, 2000, 1000, 0)], "0 0");
    }

    #[test]
    fn a_count_that_comes_too_soon_changes_nothing() {
        let early = (5499, 2001, 1000, 251);
        check(&[(0, 1000, 500, 0), (5000, 2000, 1000, 250), early], "25 25");
        let due = (5500, 3000, 1000, 250);
        check(&[(0, 1000, 500, 0), (5000, 2000, 1000, 250), early, due], "100 0");
    }

    #[test]
    fn counters_that_go_backwards_say_nothing() {
        check(&[(0, 1000, 500, 100), (5000, 900, 450, 90)], "? ?");
        check(&[(0, 1000, 500, 100), (5000, 2000, 1000, 99)], "? ?");
        check(&[(0, 1000, 500, 100), (5000, 2000, 499, 200)], "? 10");
        check(&[(0, 1000, 500, 100), (5000, 1000, 500, 100)], "? ?");
    }
}
