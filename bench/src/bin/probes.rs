//! What one look at the machine costs, and what it costs a pool to read the last one.
//!
//! Beside the real machine, one made of files with six groups around each other, every one of them
//! with limits: more than there will be in practice.

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use bench::{Row, measure_and_report, nanoseconds_each};
use headcount::probes::{Host, Sampler, Sensor};
use headcount::{Clock, Observation, PoolSnapshot, SystemClock, Timestamp};

const ROUNDS: usize = 21;
const SAMPLES: u32 = 200;
const READINGS: u32 = 20_000;

fn main() -> ExitCode {
    measure_and_report(measure)
}

fn measure() -> Vec<Row> {
    let nested = Nested::made();
    let mut hosts = [("this machine", Host::new()), ("six groups", Host::below(&nested.root))];
    let sampler = Sampler::manual(Host::new(), Arc::new(SystemClock));
    sampler.sample_now();
    let mut rounds = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        for (index, (_, host)) in hosts.iter_mut().enumerate() {
            rounds[index].push(samples(host) / 1000.0);
        }
        rounds[2].push(readings(&sampler));
    }
    let mut rows = Vec::new();
    for (index, (name, _)) in hosts.iter().enumerate() {
        rows.push(Row::alone(&format!("one sample: {name}"), "us", &rounds[index]));
    }
    rows.push(Row::alone("what is known, told to an observation", "ns", &rounds[2]));
    rows
}

fn samples(host: &mut Host) -> f64 {
    let mut second = 0;
    nanoseconds_each(SAMPLES, || {
        second += 5;
        black_box(host.sample(Timestamp::from_secs(second))).expect("there is a machine");
    })
}

fn readings(sampler: &Sampler) -> f64 {
    let mut observation = Observation::new(SystemClock.now(), PoolSnapshot::default());
    nanoseconds_each(READINGS, || {
        sampler.tell(&mut observation);
        black_box(&observation);
    })
}

/// A machine of files, removed when it is dropped.
struct Nested {
    root: PathBuf,
}

impl Nested {
    fn made() -> Self {
        let root = std::env::temp_dir().join(format!("headcount-probes-{}", std::process::id()));
        let nested = Self { root };
        nested.copy("proc/stat proc/meminfo proc/loadavg proc/self/status proc/self/limits");
        nested.write("sys/devices/system/cpu/online", "0-63\n");
        nested.write("proc/self/cgroup", "0::/a/b/c/d/e\n");
        let mount = "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        nested.write("proc/self/mountinfo", mount);
        nested.write("proc/self/fd/0", "");
        let own = nested.root.join("sys/fs/cgroup/a/b/c/d/e");
        for level in own.ancestors().take(6) {
            nested.fill(level);
        }
        nested
    }

    fn fill(&self, level: &Path) {
        let pressure = "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
        let stat = "usage_usec 7\nnr_periods 7\nnr_throttled 7\nthrottled_usec 7\n";
        let memory: String = (0..40).map(|n| format!("key_{n} 4096\n")).collect();
        let memory =
            format!("anon 7\n{memory}active_file 7\ninactive_file 7\nslab_reclaimable 7\n");
        let files = [
            ("cpu.max", "150000 100000\n"),
            ("cpu.stat", stat),
            ("memory.max", "1048576\n"),
            ("memory.high", "max\n"),
            ("memory.current", "4096\n"),
            ("memory.stat", &memory),
            ("pids.max", "100\n"),
            ("pids.current", "7\n"),
            ("cpu.pressure", pressure),
            ("io.pressure", pressure),
            ("memory.pressure", pressure),
        ];
        for (name, text) in files {
            let place = level.join(name);
            self.write(&place.strip_prefix(&self.root).expect("below it").to_string_lossy(), text);
        }
    }

    fn copy(&self, paths: &str) {
        for path in paths.split(' ') {
            let text = fs::read_to_string(Path::new("/").join(path)).unwrap_or_default();
            self.write(path, &text);
        }
    }

    fn write(&self, path: &str, text: &str) {
        let place = self.root.join(path);
        let directory = place.parent().expect("it is below the root");
        fs::create_dir_all(directory).expect("there is room for a directory");
        fs::write(place, text).expect("there is room for a file");
    }
}

impl Drop for Nested {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}
