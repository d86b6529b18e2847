//! What the kernel's accounts say of the processors, where it keeps them in `/proc`.

use std::fs;
use std::time::Duration;

/// A tick of the accounts; the first one may be somebody else's.
const TICK: Duration = Duration::from_millis(10);
/// No share of a processor is smaller than this, so that nothing is divided by nothing.
const SHARE_MIN: f64 = 1e-4;

/// The accounts of all processors: time in use, and all time, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticks {
    used: u64,
    all: u64,
}

impl Ticks {
    pub(super) fn now() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/stat").ok()?)
    }

    fn parse(stat: &str) -> Option<Self> {
        let fields = stat.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<u64> =
            fields.split_ascii_whitespace().map_while(|field| field.parse().ok()).collect();
        // User, nice, system, idle, waiting for a disk, and more.
        let idle = ticks.get(3)? + ticks.get(4)?;
        let all = ticks.iter().take(8).sum::<u64>();
        Some(Self { used: all.saturating_sub(idle), all })
    }

    /// The share of the processors in use since `before`. `None`: too little time has passed.
    pub(super) fn busy_since(self, before: Self) -> Option<f64> {
        let all = self.all.checked_sub(before.all).filter(|all| 0 < *all)?;
        Some(self.used.saturating_sub(before.used) as f64 / all as f64)
    }
}

/// What our children that have ended have used of the processors.
pub(super) fn used_by_children() -> Option<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let ticks = children_of(&stat)?;
    let per_second = rustix::param::clock_ticks_per_second().max(1);
    Some(Duration::from_secs_f64(ticks as f64 / per_second as f64))
}

fn children_of(stat: &str) -> Option<u64> {
    // The name stands in brackets and may hold anything, so fields are counted from its end.
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split_ascii_whitespace().skip(13);
    let (user, system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(user + system)
}

/// How many jobs fill the cores, if those that ended used so much of the time that they took.
/// `None`: too little is known.
pub(super) fn fill(cores: u32, used: Duration, took: Duration) -> Option<f64> {
    let used = used.saturating_sub(TICK).as_secs_f64();
    let took = took.as_secs_f64();
    (0.0 < took).then(|| f64::from(cores) / (used / took).clamp(SHARE_MIN, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processors_are_in_use_or_idle() {
        let before = Ticks::parse("cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 1 2\n");
        let after = Ticks::parse("cpu  160 0 70 810 60 0 0 0 0 0\ncpu0 1 2\n");
        let (before, after) = (before.expect("a line"), after.expect("a line"));
        assert_eq!(after.busy_since(before), Some(0.8));
        assert_eq!(before.busy_since(before), None);
        assert_eq!(Ticks::parse("intr 1"), None);
    }

    #[test]
    fn children_are_found_behind_any_name() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194304 100 200 0 0 5 6 30 12 20 0 9 0";
        assert_eq!(children_of(stat), Some(42));
        assert_eq!(children_of("7 (a) S 1"), None);
    }

    #[test]
    fn jobs_that_wait_leave_room_for_others() {
        let fill = |used, took| {
            fill(4, Duration::from_millis(used), Duration::from_millis(took)).map(f64::round)
        };
        assert_eq!(fill(1010, 1000), Some(4.0), "they compute all the time");
        assert_eq!(fill(110, 1000), Some(40.0), "they compute a tenth of it");
        assert_eq!(fill(10, 100), Some(40_000.0), "it may have been somebody else's");
        assert_eq!(fill(10, 0), None);
    }
}
