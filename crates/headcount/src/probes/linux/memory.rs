//! Memory that cannot be given back, against every limit that holds for us.
//!
//! The page cache is no use of memory: the kernel gives it up when somebody needs the room. A
//! group's own figure counts it in, so it is taken off, and with it kernel memory that can be
//! reclaimed. What remains is what workers take: anonymous and shared memory, stacks, sockets.

use std::path::{Path, PathBuf};

use headcount_core::MemoryUse;

use super::files::Files;
use super::groups::{Groups, Version};
use super::text::keyed;

/// What is known of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Memory {
    /// Against the limit with the least room left.
    pub(super) tightest: Option<MemoryUse>,
    /// The lowest limit.
    pub(super) limit_bytes: Option<u64>,
}

impl Memory {
    pub(super) fn read(files: &mut Files, groups: &Groups) -> Self {
        let place = files.place("proc/meminfo");
        let meminfo = files.text(&place);
        let total = meminfo.and_then(|text| kib(text, "MemTotal"));
        let available = meminfo.and_then(|text| kib(text, "MemAvailable"));
        let host = Limited { limit_bytes: total, used_bytes: total.zip(available).map(used) };

        let mut limited: Vec<Limited> = vec![host];
        if let Some(branch) = &groups.memory {
            let read = |level: &PathBuf| Limited::read(files, branch.version, level);
            // A limit of more than there is limits nothing.
            let binds = |group: &Limited| total.is_none_or(|total| group.limit_bytes < Some(total));
            limited.extend(branch.levels.iter().filter_map(read).filter(binds));
        }
        Self::of(&limited)
    }

    /// Where the use below one of the limits is not known, the room left is not, either.
    fn of(limited: &[Limited]) -> Self {
        let limits = limited.iter().filter(|one| one.limit_bytes.is_some());
        let uses: Option<Vec<MemoryUse>> = limits.map(Limited::in_use).collect();
        let room = |one: &MemoryUse| one.limit_bytes.saturating_sub(one.used_bytes);
        Self {
            tightest: uses.and_then(|uses| uses.into_iter().min_by_key(room)),
            limit_bytes: limited.iter().filter_map(|one| one.limit_bytes).min(),
        }
    }
}

fn used((total, available): (u64, u64)) -> u64 {
    total.saturating_sub(available)
}

/// A number of KiB, in bytes.
fn kib(meminfo: &str, key: &str) -> Option<u64> {
    keyed(meminfo, key)?.checked_mul(1024)
}

/// A limit, and what is used below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limited {
    limit_bytes: Option<u64>,
    used_bytes: Option<u64>,
}

impl Limited {
    fn in_use(&self) -> Option<MemoryUse> {
        Some(MemoryUse { used_bytes: self.used_bytes?, limit_bytes: self.limit_bytes? })
    }

    /// The limit of a group. `None`: it has none.
    fn read(files: &mut Files, version: Version, level: &Path) -> Option<Self> {
        let names = match version {
            // Past `high` a group is slowed down until it has given memory back.
            Version::Two => ["memory.max", "memory.high"].as_slice(),
            Version::One => ["memory.limit_in_bytes"].as_slice(),
        };
        let limit = names.iter().filter_map(|name| files.number(&level.join(name))).min()?;
        let used_bytes = match version {
            Version::Two => used_by_two(files, level),
            Version::One => used_by_one(files, level),
        };
        Some(Self { limit_bytes: Some(limit), used_bytes })
    }
}

fn used_by_two(files: &mut Files, level: &Path) -> Option<u64> {
    let current = files.number(&level.join("memory.current"))?;
    let stat = files.text(&level.join("memory.stat"))?;
    let cache = keyed(stat, "active_file")?.saturating_add(keyed(stat, "inactive_file")?);
    let slab = keyed(stat, "slab_reclaimable").unwrap_or(0);
    Some(current.saturating_sub(cache).saturating_sub(slab))
}

/// The figures that begin with `total_` have the groups further down in them.
fn used_by_one(files: &mut Files, level: &Path) -> Option<u64> {
    let usage = files.number(&level.join("memory.usage_in_bytes"))?;
    let stat = files.text(&level.join("memory.stat"))?;
    let active = keyed(stat, "total_active_file")?;
    Some(usage.saturating_sub(active.saturating_add(keyed(stat, "total_inactive_file")?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Limits and uses, 0 for what is not known: the tightest one, and the lowest limit.
    fn check(limited: &[(u64, u64)], tightest: Option<(u64, u64)>, limit: Option<u64>) {
        let known = |number: u64| (0 < number).then_some(number);
        let one = |(limit, used): &(u64, u64)| Limited {
            limit_bytes: known(*limit),
            used_bytes: known(*used),
        };
        let limited: Vec<Limited> = limited.iter().map(one).collect();
        let tightest =
            tightest.map(|(limit_bytes, used_bytes)| MemoryUse { used_bytes, limit_bytes });
        assert_eq!(Memory::of(&limited), Memory { tightest, limit_bytes: limit });
    }

    #[test]
    fn the_limit_that_is_hit_first_counts() {
        check(&[], None, None);
        check(&[(1000, 400)], Some((1000, 400)), Some(1000));
        check(&[(1000, 400), (500, 100)], Some((500, 100)), Some(500));
        check(&[(1000, 900), (500, 100)], Some((1000, 900)), Some(500));
        check(&[(1000, 400), (500, 700)], Some((500, 700)), Some(500));
    }

    #[test]
    fn a_limit_below_which_nobody_looked_leaves_all_unknown() {
        check(&[(1000, 400), (500, 0)], None, Some(500));
        check(&[(0, 0), (500, 100)], Some((500, 100)), Some(500));
    }
}
