//! Cgroups of version 1: a tree for each controller.

use headcount::probes::Usage;

use crate::tree::{Tree, close, memory};

const MEMORY: &str = "sys/fs/cgroup/memory/docker/b7";
const CPU: &str = "sys/fs/cgroup/cpu,cpuacct/docker/b7";
const UNLIMITED: &str = "9223372036854771712\n";

/// A process in `/docker/b7` of every tree, seen from the host.
fn container() -> Tree {
    let tree = Tree::bare();
    let groups = "5:cpu,cpuacct:/docker/b7\n4:memory:/docker/b7\n3:pids:/docker/b7\n";
    tree.write("proc/self/cgroup", groups);
    let mount = |name| format!("31 23 0:28 / /sys/fs/cgroup/{name} rw - cgroup cgroup rw,{name}\n");
    let mounts = ["cpu,cpuacct", "memory", "pids"].map(mount).concat();
    tree.write("proc/self/mountinfo", &mounts);
    for name in ["cpu,cpuacct", "memory", "pids"] {
        tree.write(&format!("sys/fs/cgroup/{name}/docker/b7/tasks"), "");
    }
    tree.fill("sys/fs/cgroup/memory", &[("memory.limit_in_bytes", UNLIMITED)]);
    tree
}

/// In MiB: what is used, and how much of that is page cache.
fn fill_memory(tree: &Tree, level: &str, limit: &str, used: u64, cache: u64) {
    let bytes = |mib: u64| mib << 20;
    let stat = format!(
        "cache 1\nactive_file 1\ntotal_active_file {}\ntotal_inactive_file 0\n",
        bytes(cache)
    );
    let used = format!("{}\n", bytes(used));
    let files = [
        ("memory.limit_in_bytes", limit),
        ("memory.usage_in_bytes", used.as_str()),
        ("memory.stat", &stat),
    ];
    tree.fill(level, &files);
}

#[test]
fn memory_is_without_the_page_cache_of_all_groups_below() {
    let tree = container();
    fill_memory(&tree, MEMORY, "1073741824\n", 900, 700);
    assert_eq!(memory(&tree.sample()), Some((200, 1024)));
}

#[test]
fn no_limit_is_a_very_high_one() {
    let tree = container();
    fill_memory(&tree, MEMORY, UNLIMITED, 900, 700);
    assert_eq!(memory(&tree.sample()), Some((2048, 8192)));
}

#[test]
fn nested_limits_hold() {
    let tree = container();
    fill_memory(&tree, MEMORY, "2147483648\n", 100, 0);
    fill_memory(&tree, "sys/fs/cgroup/memory/docker", "536870912\n", 200, 0);
    assert_eq!(memory(&tree.sample()), Some((200, 512)));
}

#[test]
fn a_quota_is_processors_and_minus_one_is_none() {
    let tree = container();
    let quota = |quota| tree.fill(CPU, &[("cpu.cfs_quota_us", quota)]).sample().cores;
    tree.fill(CPU, &[("cpu.cfs_period_us", "50000\n")]);
    assert_eq!([quota("25000\n"), quota("-1\n"), quota("0\n")], [Some(0.5), Some(4.0), Some(4.0)]);
}

#[test]
fn use_and_throttling_are_of_the_quota() {
    let tree = container();
    tree.fill(CPU, &[("cpu.cfs_quota_us", "100000\n"), ("cpu.cfs_period_us", "100000\n")]);
    tree.fill(CPU, &[("cpuacct.usage", "1000000000\n"), ("cpu.stat", THROTTLED[0])]);
    let sample = tree.sample_after(|tree| {
        tree.fill(CPU, &[("cpuacct.usage", "9000000000\n"), ("cpu.stat", THROTTLED[1])]);
    });
    close(sample.cpu, 0.8);
    close(sample.throttled, 0.5);
}

const THROTTLED: [&str; 2] = [
    "nr_periods 100\nnr_throttled 10\nthrottled_time 7\n",
    "nr_periods 200\nnr_throttled 60\nthrottled_time 8\n",
];

#[test]
fn accounts_in_a_tree_of_another_shape_are_not_ours() {
    let tree = container();
    tree.write("proc/self/cgroup", "5:cpu:/docker/b7\n6:cpuacct:/\n");
    let mount = |name| format!("31 23 0:28 / /sys/fs/cgroup/{name} rw - cgroup cgroup rw,{name}\n");
    tree.write("proc/self/mountinfo", &["cpu", "cpuacct"].map(mount).concat());
    let cpu = "sys/fs/cgroup/cpu/docker/b7";
    tree.fill(cpu, &[("cpu.cfs_quota_us", "100000\n"), ("cpu.cfs_period_us", "100000\n")]);
    tree.fill("sys/fs/cgroup/cpuacct", &[("cpuacct.usage", "1\n")]);
    let sample = tree.sample_after(|_| {});
    assert_eq!((sample.cores, sample.cpu), (Some(1.0), None));
}

#[test]
fn threads_are_limited_by_the_group_too() {
    let tree = container();
    let level = "sys/fs/cgroup/pids/docker/b7";
    tree.fill(level, &[("pids.max", "64\n"), ("pids.current", "32\n")]);
    assert_eq!(tree.sample().threads, Some(Usage { used: 32, limit: 64 }));
}

#[test]
fn in_a_container_the_mounted_part_is_our_own_group() {
    let tree = container();
    let mount = "31 23 0:28 /docker/b7 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
    tree.write("proc/self/mountinfo", mount);
    fill_memory(&tree, "sys/fs/cgroup/memory", "268435456\n", 100, 0);
    assert_eq!(memory(&tree.sample()), Some((100, 256)));
}
