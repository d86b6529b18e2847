//! A machine made of files.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use headcount::Timestamp;
use headcount::probes::{Host, HostSample, Sensor};

pub(crate) const MIB: u64 = 1 << 20;
pub(crate) const GIB: u64 = 1 << 30;

/// A directory that is a machine, and is removed with it.
pub(crate) struct Tree {
    root: PathBuf,
}

impl Tree {
    /// Nothing at all.
    pub(crate) fn empty() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("headcount-host-{}-{number}", std::process::id());
        let root = std::env::temp_dir().join(name);
        fs::create_dir_all(&root).expect("there is room for a directory");
        Self { root }
    }

    /// Four processors, 8 GiB of which 6 are available, a load of 2, no cgroups, no pressure.
    pub(crate) fn bare() -> Self {
        let tree = Self::empty();
        tree.write("proc/stat", "cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 1 1 1 1 1\nintr 5 6\n");
        tree.write("proc/meminfo", "MemTotal: 8388608 kB\nMemAvailable:   6291456 kB\n");
        tree.write("proc/loadavg", "2.00 1.50 1.25 3/400 8712\n");
        tree.write("proc/self/status", "Name:\tx\nThreads:\t12\nCpus_allowed_list:\t0-127\n");
        tree.write("proc/self/limits", LIMITS);
        tree.write("proc/self/fd/0", "");
        tree.write("proc/self/fd/1", "");
        tree.write("proc/sys/kernel/threads-max", "64000\n");
        tree.write("proc/sys/kernel/pid_max", "32000\n");
        tree.write("sys/devices/system/cpu/online", "0-3\n");
        tree
    }

    /// The same, in the tree of version 2 at this path of its own.
    pub(crate) fn version_two(path: &str, mounted_root: &str) -> Self {
        let tree = Self::bare();
        tree.write("proc/self/cgroup", &format!("0::{path}\n"));
        let mount = format!("31 23 0:28 {mounted_root} /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
        tree.write("proc/self/mountinfo", &mount);
        tree.write("sys/fs/cgroup/cgroup.procs", "");
        tree
    }

    pub(crate) fn write(&self, path: &str, text: &str) -> &Self {
        self.write_bytes(path, text.as_bytes())
    }

    pub(crate) fn write_bytes(&self, path: &str, bytes: &[u8]) -> &Self {
        let place = self.root.join(path);
        let directory = place.parent().expect("it is below the root");
        fs::create_dir_all(directory).expect("there is room for a directory");
        fs::write(place, bytes).expect("there is room for a file");
        self
    }

    /// Several files in one directory.
    pub(crate) fn fill(&self, directory: &str, files: &[(&str, &str)]) -> &Self {
        for (name, text) in files {
            self.write(&format!("{directory}/{name}"), text);
        }
        self
    }

    pub(crate) fn remove(&self, path: &str) -> &Self {
        fs::remove_file(self.root.join(path)).expect("the file is there");
        self
    }

    pub(crate) fn host(&self) -> Host {
        Host::below(&self.root)
    }

    /// The first sample, in which there are no shares of time.
    pub(crate) fn sample(&self) -> HostSample {
        self.host().sample(Timestamp::ORIGIN).expect("there is a machine")
    }

    /// The second of two samples, ten seconds after the first and after `then` has happened.
    pub(crate) fn sample_after(&self, then: impl FnOnce(&Self)) -> HostSample {
        let mut host = self.host();
        host.sample(Timestamp::from_secs(100)).expect("there is a machine");
        then(self);
        host.sample(Timestamp::from_secs(110)).expect("there is a machine")
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

const LIMITS: &str = "\
Limit                     Soft Limit           Hard Limit           Units
Max processes             4000                 8000                 processes
Max open files            1024                 4096                 files
";

/// The files of a memory controller of version 2: in MiB the limit, what is used, and how much of
/// that is page cache.
pub(crate) fn memory_two(tree: &Tree, level: &str, limit: &str, used: u64, cache: u64) {
    let half = cache * MIB / 2;
    let stat = format!("anon 4096\nactive_file {half}\ninactive_file {half}\n");
    tree.fill(
        level,
        &[
            ("memory.max", limit),
            ("memory.high", "max\n"),
            ("memory.current", &format!("{}\n", used * MIB)),
            ("memory.stat", &stat),
        ],
    );
}

/// Used and limit in MiB.
pub(crate) fn memory(sample: &HostSample) -> Option<(u64, u64)> {
    sample.memory.map(|memory| (memory.used_bytes / MIB, memory.limit_bytes / MIB))
}

pub(crate) fn close(found: Option<f64>, expected: f64) {
    assert!(found.is_some_and(|f| (f - expected).abs() < 1e-9), "{found:?}, not {expected}");
}
