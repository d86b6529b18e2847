//! What this process may have only so much of: open files and threads.

use std::fs;

use super::super::sample::Usage;
use super::files::{Files, entries};
use super::groups::Groups;
use super::text::{keyed, value_of};

/// The soft limit on `what`, by `proc/self/limits`. `None`: not known, or unlimited.
pub(super) fn limit(limits: &str, what: &str) -> Option<u64> {
    value_of(limits, what)?.split_ascii_whitespace().next()?.parse().ok()
}

/// Counts the open files of this process.
#[derive(Debug, Default)]
pub(super) struct OpenFiles {
    counting: Counting,
}

/// How they are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Counting {
    /// Not tried yet.
    #[default]
    Untried,
    /// By the size of the directory, which is their number since Linux 6.2.
    Size,
    /// One by one, which takes its time where there are many: so not every time.
    Listing { known: u64, skips_left: u32 },
}

/// So many can be listed in well under a millisecond.
const LISTED_OFTEN_MAX: u64 = 512;
/// More are listed only every so many samples: once a minute, if they are 5 s apart.
const SKIPS: u32 = 11;

impl OpenFiles {
    pub(super) fn count(&mut self, files: &Files) -> Option<u64> {
        let place = files.place("proc/self/fd");
        let size = || fs::metadata(&place).ok().map(|about| about.len());
        let (count, counting) = match self.counting {
            Counting::Untried => tried(size()?, entries(&place)?),
            Counting::Size => (size()?, Counting::Size),
            Counting::Listing { skips_left: 0, .. } => listed(entries(&place)?),
            Counting::Listing { known, skips_left } => {
                (known, Counting::Listing { known, skips_left: skips_left - 1 })
            }
        };
        self.counting = counting;
        Some(count)
    }
}

/// Whether the size of the directory is the number of files, and not 0 or a number of bytes. Other
/// threads open and close files meanwhile, so the two need not be equal.
fn tried(size: u64, listing: u64) -> (u64, Counting) {
    const SLACK: u64 = 8;
    match 0 < size && size.abs_diff(listing) <= SLACK {
        true => (size, Counting::Size),
        false => listed(listing),
    }
}

fn listed(known: u64) -> (u64, Counting) {
    let skips_left = if LISTED_OFTEN_MAX < known { SKIPS } else { 0 };
    (known, Counting::Listing { known, skips_left })
}

/// What is known of threads beside what the groups say.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Threads {
    /// Of this process.
    pub(super) own: Option<u64>,
    /// What the system grants the user. His other processes use of it as well, and who may do
    /// anything is not held to it: it is the best that can be known cheaply.
    pub(super) own_limit: Option<u64>,
    /// Of the whole host.
    pub(super) host: Option<u64>,
}

impl Threads {
    /// The limit that is used up the most.
    pub(super) fn fullest(self, files: &mut Files, groups: &Groups) -> Option<Usage> {
        let usage = |(used, limit)| Usage { used, limit };
        let kernel = ["proc/sys/kernel/threads-max", "proc/sys/kernel/pid_max"];
        let kernel = kernel.iter().filter_map(|name| files.number(&files.place(name))).min();
        let own = self.own.zip(self.own_limit).map(usage);
        let host = self.host.zip(kernel).map(usage);

        let levels = groups.pids.iter().flat_map(|branch| &branch.levels);
        let groups = levels.filter_map(|level| {
            // `max` is no number, so a group without a limit is passed over here.
            let limit = files.number(&level.join("pids.max"))?;
            Some(Usage { used: files.number(&level.join("pids.current"))?, limit })
        });
        groups.chain(own).chain(host).reduce(Usage::fuller)
    }
}

/// How many threads this process has.
pub(super) fn own_threads(status: &str) -> Option<u64> {
    keyed(status, "Threads")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn soft_limits_are_read() {
        let limits = "Limit            Soft Limit   Hard Limit   Units\n\
                      Max processes    unlimited    unlimited    processes\n\
                      Max open files   20000        40000        files\n";
        assert_eq!(limit(limits, "Max open files"), Some(20_000));
        assert_eq!(limit(limits, "Max processes"), None);
        assert_eq!(limit(limits, "Max cpu time"), None);
    }

    #[test]
    fn a_size_is_believed_only_if_it_is_the_number_of_files() {
        assert_eq!(tried(40, 41), (40, Counting::Size));
        let listing = |known| (known, Counting::Listing { known, skips_left: 0 });
        assert_eq!(tried(0, 3), listing(3), "before Linux 6.2");
        assert_eq!(tried(4096, 3), listing(3), "a directory on a disk");
    }

    #[test]
    fn many_files_are_listed_now_and_then() {
        assert_eq!(listed(512), (512, Counting::Listing { known: 512, skips_left: 0 }));
        assert_eq!(listed(513), (513, Counting::Listing { known: 513, skips_left: 11 }));
        let files = Files::below("nowhere".into());
        let mut open = OpenFiles { counting: Counting::Listing { known: 900, skips_left: 2 } };
        assert_eq!([1, 2, 3].map(|_| open.count(&files)), [Some(900), Some(900), None]);
    }
}
