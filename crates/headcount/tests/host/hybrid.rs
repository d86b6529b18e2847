//! Both versions at once: some controllers in trees of their own, pressure in the common one.

use headcount_core::health::Pressure;

use crate::tree::{Tree, memory};

fn hybrid() -> Tree {
    let tree = Tree::bare();
    tree.write("proc/self/cgroup", "4:memory:/batch\n1:name=systemd:/x\n0::/batch\n");
    let mounts = "32 31 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                  40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n\
                  41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
    tree.write("proc/self/mountinfo", mounts);
    tree.write("sys/fs/cgroup/unified/batch/cgroup.procs", "");
    tree.fill(
        "sys/fs/cgroup/memory/batch",
        &[
            ("memory.limit_in_bytes", "1073741824\n"),
            ("memory.usage_in_bytes", "536870912\n"),
            ("memory.stat", "total_active_file 0\ntotal_inactive_file 268435456\n"),
        ],
    );
    tree
}

#[test]
fn each_controller_is_read_where_it_is() {
    let tree = hybrid();
    let unified = "sys/fs/cgroup/unified/batch";
    // The controller is in the other tree, so these would be somebody else's.
    tree.fill(unified, &[("memory.max", "1048576\n"), ("cpu.max", "50000 100000\n")]);
    let sample = tree.sample();
    assert_eq!(memory(&sample), Some((256, 1024)));
    assert_eq!(sample.cores, Some(0.5), "this one is here");
}

#[test]
fn pressure_is_in_the_common_tree() {
    let tree = hybrid();
    let some = "some avg10=25.00 avg60=0.00 avg300=0.00 total=1\n";
    let names = ["cpu.pressure", "io.pressure", "memory.pressure"];
    tree.fill("sys/fs/cgroup/unified/batch", &names.map(|name| (name, some)));
    let pressure = Pressure { cpu: 0.25, io: 0.25, memory: 0.25 };
    assert_eq!(tree.sample().pressure, Some(pressure));
}
