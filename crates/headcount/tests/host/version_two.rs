//! Cgroups of version 2: one tree.

use headcount::Timestamp;
use headcount::probes::{Sensor, Usage};
use headcount_core::health::Pressure;

use crate::tree::{MIB, Tree, close, memory, memory_two};

const OWN: &str = "sys/fs/cgroup/pods/one";

/// A process in `/pods/one`, seen from the host.
fn pod() -> Tree {
    let tree = Tree::version_two("/pods/one", "/");
    tree.write(&format!("{OWN}/cgroup.procs"), "");
    tree
}

#[test]
fn a_quota_is_processors() {
    let tree = pod();
    tree.fill(OWN, &[("cpu.max", "150000 100000\n")]);
    assert_eq!((tree.sample().cores, tree.sample().host_cores), (Some(1.5), Some(4)));
    tree.fill(OWN, &[("cpu.max", "max 100000\n")]);
    assert_eq!(tree.sample().cores, Some(4.0));
    tree.fill(OWN, &[("cpu.max", "900000 100000\n")]);
    assert_eq!(tree.sample().cores, Some(4.0), "more than there are");
}

#[test]
fn the_tightest_quota_up_the_tree_holds() {
    let tree = pod();
    tree.fill(OWN, &[("cpu.max", "200000 100000\n")]);
    tree.fill("sys/fs/cgroup/pods", &[("cpu.max", "50000 100000\n")]);
    assert_eq!(tree.sample().cores, Some(0.5));
}

#[test]
fn use_is_a_share_of_the_quota_and_not_of_the_host() {
    let tree = pod();
    let stat = |used, periods, throttled| {
        format!("usage_usec {used}\nnr_periods {periods}\nnr_throttled {throttled}\n")
    };
    tree.fill(OWN, &[("cpu.max", "200000 100000\n"), ("cpu.stat", &stat(5_000_000, 10, 4))]);
    // Ten seconds of two processors are twenty; five of them were used.
    let sample = tree.sample_after(|tree| {
        tree.fill(OWN, &[("cpu.stat", &stat(10_000_000, 110, 24))]);
        tree.write("proc/stat", "cpu  9100 0 100 700 100 0 0 0 0 0\n");
    });
    close(sample.cpu, 0.25);
    close(sample.throttled, 0.2);
    close(sample.io_wait, 0.0);
}

#[test]
fn under_a_quota_that_binds_nothing_use_is_a_share_of_the_host() {
    let tree = pod();
    tree.fill(OWN, &[("cpu.max", "900000 100000\n"), ("cpu.stat", "usage_usec 0\n")]);
    let sample = tree.sample_after(|tree| {
        tree.write("proc/stat", "cpu  400 0 200 1200 200 0 0 0 0 0\n");
    });
    close(sample.cpu, 0.4);
}

#[test]
fn the_fullest_quota_up_the_tree_counts() {
    let tree = pod();
    let parent = "sys/fs/cgroup/pods";
    for level in [OWN, parent] {
        tree.fill(level, &[("cpu.max", "100000 100000\n"), ("cpu.stat", "usage_usec 0\n")]);
    }
    let sample = tree.sample_after(|tree| {
        tree.fill(OWN, &[("cpu.stat", "usage_usec 1000000\n")]);
        tree.fill(parent, &[("cpu.stat", "usage_usec 9000000\n")]);
    });
    close(sample.cpu, 0.9);
    assert_eq!(sample.throttled, None, "nobody counts periods here");
}

#[test]
fn a_group_that_did_not_run_was_not_throttled() {
    let tree = pod();
    let stat = "usage_usec 7\nnr_periods 10\nnr_throttled 4\n";
    tree.fill(OWN, &[("cpu.max", "100000 100000\n"), ("cpu.stat", stat)]);
    let sample = tree.sample_after(|_| {});
    assert_eq!((sample.cpu, sample.throttled), (Some(0.0), Some(0.0)));
}

#[test]
fn counters_of_a_group_that_go_backwards_are_not_known() {
    let tree = pod();
    tree.fill(OWN, &[("cpu.max", "100000 100000\n")]);
    tree.fill(OWN, &[("cpu.stat", "usage_usec 9\nnr_periods 9\nnr_throttled 9\n")]);
    let sample = tree.sample_after(|tree| {
        tree.fill(OWN, &[("cpu.stat", "usage_usec 8\nnr_periods 10\nnr_throttled 8\n")]);
        tree.write("proc/stat", "cpu  9100 0 100 700 100 0 0 0 0 0\n");
    });
    assert_eq!((sample.cpu, sample.throttled), (None, None));
}

#[test]
fn the_page_cache_is_no_use_of_memory() {
    let tree = pod();
    memory_two(&tree, OWN, "1073741824\n", 900, 700);
    assert_eq!(memory(&tree.sample()), Some((200, 1024)));
    let stat = format!("active_file 0\ninactive_file 0\nslab_reclaimable {}\n", 100 * MIB);
    tree.fill(OWN, &[("memory.stat", &stat)]);
    assert_eq!(memory(&tree.sample()), Some((800, 1024)));
}

#[test]
fn the_limit_with_the_least_room_is_told_and_the_lowest_beside_it() {
    let tree = pod();
    memory_two(&tree, OWN, "1073741824\n", 100, 0);
    memory_two(&tree, "sys/fs/cgroup/pods", "2147483648\n", 2000, 0);
    let sample = tree.sample();
    assert_eq!(memory(&sample), Some((2000, 2048)), "a neighbour fills the group around us");
    assert_eq!(sample.memory_limit_bytes, Some(1024 * MIB));
}

#[test]
fn a_limit_past_which_we_are_slowed_down_is_one() {
    let tree = pod();
    memory_two(&tree, OWN, "1073741824\n", 100, 0);
    tree.fill(OWN, &[("memory.high", "536870912\n")]);
    assert_eq!(memory(&tree.sample()), Some((100, 512)));
}

#[test]
fn a_limit_above_what_the_host_has_is_none() {
    let tree = pod();
    memory_two(&tree, OWN, "99999999999999\n", 100, 0);
    assert_eq!(memory(&tree.sample()), Some((2048, 8192)));
    memory_two(&tree, OWN, "max\n", 100, 0);
    assert_eq!(memory(&tree.sample()), Some((2048, 8192)));
}

#[test]
fn pressure_is_that_of_the_group_or_of_the_host_as_a_whole() {
    let tree = pod();
    let some = |percent| format!("some avg10={percent} avg60=0.00 avg300=0.00 total=1\n");
    let pressure = |cpu, io, memory| Some(Pressure { cpu, io, memory });
    for (name, percent) in [("cpu", "10.00"), ("io", "20.00"), ("memory", "30.00")] {
        tree.write(&format!("proc/pressure/{name}"), &some(percent));
    }
    assert_eq!(tree.sample().pressure, pressure(0.1, 0.2, 0.3));
    for name in ["cpu.pressure", "io.pressure"] {
        tree.fill(OWN, &[(name, &some("50.00"))]);
    }
    assert_eq!(tree.sample().pressure, pressure(0.1, 0.2, 0.3), "two of three are not enough");
    tree.fill(OWN, &[("memory.pressure", &some("5.00"))]);
    assert_eq!(tree.sample().pressure, pressure(0.5, 0.5, 0.05));
}

#[test]
fn threads_are_limited_by_the_group_too() {
    let tree = pod();
    tree.fill(OWN, &[("pids.max", "max\n"), ("pids.current", "40\n")]);
    tree.fill("sys/fs/cgroup/pods", &[("pids.max", "100\n"), ("pids.current", "90\n")]);
    assert_eq!(tree.sample().threads, Some(Usage { used: 90, limit: 100 }));
}

#[test]
fn in_a_namespace_the_top_of_the_tree_is_our_own_group() {
    let tree = Tree::version_two("/", "/");
    memory_two(&tree, "sys/fs/cgroup", "268435456\n", 100, 0);
    assert_eq!(memory(&tree.sample()), Some((100, 256)));
}

#[test]
fn without_a_namespace_only_our_part_of_the_tree_may_be_mounted() {
    let tree = Tree::version_two("/docker/b7/worker", "/docker/b7");
    memory_two(&tree, "sys/fs/cgroup", "268435456\n", 100, 0);
    memory_two(&tree, "sys/fs/cgroup/worker", "134217728\n", 90, 0);
    assert_eq!(memory(&tree.sample()), Some((90, 128)));
}

#[test]
fn a_path_that_cannot_be_followed_leads_to_the_top_of_what_is_mounted() {
    for (path, root) in [("/docker/b7", "/"), ("/../x", "/"), ("/", "/docker/b7")] {
        let tree = Tree::version_two(path, root);
        memory_two(&tree, "sys/fs/cgroup", "268435456\n", 100, 0);
        assert_eq!(memory(&tree.sample()), Some((100, 256)), "{path} in {root}");
    }
}

#[test]
fn a_process_that_is_moved_is_found_again() {
    let tree = pod();
    memory_two(&tree, OWN, "268435456\n", 100, 0);
    memory_two(&tree, "sys/fs/cgroup/pods/two", "536870912\n", 200, 0);
    let mut host = tree.host();
    let before = host.sample(Timestamp::from_secs(0)).unwrap();
    tree.write("proc/self/cgroup", "0::/pods/two\n");
    let after = host.sample(Timestamp::from_secs(5)).unwrap();
    assert_eq!((memory(&before), memory(&after)), (Some((100, 256)), Some((200, 512))));
}

#[test]
fn what_another_group_has_counted_is_no_beginning() {
    let tree = pod();
    let quota = ("cpu.max", "100000 100000\n");
    tree.fill(OWN, &[quota, ("cpu.stat", "usage_usec 0\n")]);
    tree.fill("sys/fs/cgroup/pods/two", &[quota, ("cpu.stat", "usage_usec 5000000\n")]);
    let moved = tree.sample_after(|tree| _ = tree.write("proc/self/cgroup", "0::/pods/two\n"));
    assert_eq!((moved.cores, moved.cpu), (Some(1.0), None));
}

#[test]
fn a_quota_that_was_not_there_before_has_no_beginning() {
    let tree = pod();
    let quota = ("cpu.max", "100000 100000\n");
    tree.fill(OWN, &[quota, ("cpu.stat", "usage_usec 0\n")]);
    let sample = tree.sample_after(|tree| {
        tree.fill(OWN, &[("cpu.max", "max 100000\n")]);
        tree.fill("sys/fs/cgroup/pods", &[quota, ("cpu.stat", "usage_usec 5000000\n")]);
    });
    assert_eq!((sample.cores, sample.cpu), (Some(1.0), None));
}

#[test]
fn a_quota_that_is_changed_holds_from_the_next_sample_on() {
    let tree = pod();
    tree.fill(OWN, &[("cpu.max", "100000 100000\n"), ("cpu.stat", "usage_usec 0\n")]);
    let sample = tree.sample_after(|tree| {
        tree.fill(OWN, &[("cpu.max", "200000 100000\n"), ("cpu.stat", "usage_usec 10000000\n")]);
    });
    assert_eq!(sample.cores, Some(2.0));
    close(sample.cpu, 0.5);
}
