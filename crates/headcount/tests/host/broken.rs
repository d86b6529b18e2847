//! Files that are missing, empty or full of rubbish cost one value each, and never more.

use headcount::Timestamp;
use headcount::probes::{HostSample, Sensor};

use crate::tree::{Tree, memory_two};

const OWN: &str = "sys/fs/cgroup/pods/one";

/// A machine of which everything can be known.
fn whole() -> Tree {
    let tree = Tree::version_two("/pods/one", "/");
    memory_two(&tree, OWN, "1073741824\n", 100, 0);
    let some = "some avg10=25.00 avg60=0.00 avg300=0.00 total=1\n";
    tree.fill(OWN, &["cpu.pressure", "io.pressure", "memory.pressure"].map(|name| (name, some)));
    let stat = "usage_usec 7\nnr_periods 7\nnr_throttled 7\n";
    tree.fill(OWN, &[("cpu.max", "100000 100000\n"), ("cpu.stat", stat)]);
    tree.fill(OWN, &[("pids.max", "100\n"), ("pids.current", "90\n")]);
    tree
}

/// What a file may hold instead of what it should.
const RUBBISH: [&str; 8] = ["", "\n", "rubbish\n", "-1\n", "\0\0", ": : :", "- - -", "cpu"];
/// What is past the end of our numbers.
const TOO_MUCH: &str = "99999999999999999999999 99999999999999999999999\n";

/// However this file is broken, these values and no others are unknown.
fn check(path: &str, unknown: &str) {
    let tree = whole();
    for rubbish in RUBBISH.into_iter().chain([TOO_MUCH]) {
        let breaks = |tree: &Tree| _ = tree.write(path, rubbish);
        assert_eq!(told(&tree, breaks), unknown, "{path} is {rubbish:?}");
    }
    let removes = |tree: &Tree| _ = tree.write(path, "").remove(path);
    assert_eq!(told(&tree, removes), unknown, "{path} is missing");
    let no_text = |tree: &Tree| _ = tree.write_bytes(path, b"\xff\xfe 1\n");
    assert_eq!(told(&tree, no_text), unknown, "{path} is no text");
}

/// What is not known after two samples of a machine that is broken before each.
fn told(tree: &Tree, breaks: impl Fn(&Tree)) -> String {
    let mut host = tree.host();
    let mut sample = HostSample::default();
    for (second, stat) in [(0, "cpu  1 0 0 1 0 0 0 0\n"), (5, "cpu  9 0 0 9 0 0 0 0\n")] {
        tree.write("proc/stat", stat);
        breaks(tree);
        sample = host.sample(Timestamp::from_secs(second)).expect("there is a machine");
    }
    unknown(&sample)
}

fn unknown(sample: &HostSample) -> String {
    let known = [
        ("cpu", sample.cpu.is_some()),
        ("throttled", sample.throttled.is_some()),
        ("io_wait", sample.io_wait.is_some()),
        ("load", sample.load.is_some()),
        ("host_cores", sample.host_cores.is_some()),
        ("cores", sample.cores.is_some()),
        ("memory", sample.memory.is_some()),
        ("memory_limit", sample.memory_limit_bytes.is_some()),
        ("pressure", sample.pressure.is_some()),
        ("file_descriptors", sample.file_descriptors.is_some()),
        ("threads", sample.threads.is_some()),
    ];
    let unknown = known.iter().filter(|(_, known)| !known).map(|(name, _)| *name);
    unknown.collect::<Vec<_>>().join(" ")
}

#[test]
fn nothing_is_unknown_of_a_whole_machine() {
    assert_eq!(told(&whole(), |_| ()), "");
}

#[test]
fn files_of_the_host_cost_their_own_value() {
    check("proc/stat", "io_wait");
    check("proc/loadavg", "load");
    check("sys/devices/system/cpu/online", "host_cores");
    check("proc/self/limits", "file_descriptors");
}

#[test]
fn what_has_another_source_is_still_known() {
    check("proc/meminfo", "");
    check("proc/self/status", "");
    check("proc/sys/kernel/pid_max", "");
    check("proc/sys/kernel/threads-max", "");
}

#[test]
fn files_of_the_group_cost_their_own_value() {
    let own = |name: &str| format!("{OWN}/{name}");
    check(&own("cpu.stat"), "cpu throttled");
    check(&own("memory.current"), "memory");
    check(&own("memory.stat"), "memory");
    check(&own("io.pressure"), "pressure");
    check(&own("pids.current"), "");
}

#[test]
fn a_limit_that_cannot_be_read_is_none() {
    let own = |name: &str| format!("{OWN}/{name}");
    check(&own("cpu.max"), "throttled");
    check(&own("memory.max"), "");
    check(&own("memory.high"), "");
    check(&own("pids.max"), "");
}

#[test]
fn without_a_way_to_the_groups_only_the_host_is_known() {
    check("proc/self/cgroup", "throttled pressure");
    check("proc/self/mountinfo", "throttled pressure");
}

#[test]
fn a_mount_that_is_not_there_is_no_mount() {
    let tree = whole();
    let mount = "31 23 0:28 / /elsewhere/cgroup rw - cgroup2 cgroup2 rw\n";
    tree.write("proc/self/mountinfo", mount);
    assert_eq!(unknown(&tree.sample()), "cpu throttled io_wait pressure");
}

#[test]
fn a_directory_in_place_of_a_file_is_no_file() {
    let tree = whole();
    tree.remove("proc/loadavg").write("proc/loadavg/inside", "");
    assert_eq!(unknown(&tree.sample()), "cpu throttled io_wait load");
}
