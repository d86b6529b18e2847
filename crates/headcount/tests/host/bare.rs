//! A machine without cgroups and without pressure.

use headcount::Timestamp;
use headcount::probes::{HostSample, Load, Sensor, Usage};

use crate::tree::{GIB, Tree, close, memory};

#[test]
fn everything_is_of_the_host() {
    let sample = Tree::bare().sample();
    assert_eq!(sample.load, Some(Load { one: 2.0, five: 1.5, fifteen: 1.25 }));
    assert_eq!((sample.host_cores, sample.cores), (Some(4), Some(4.0)));
    assert_eq!(memory(&sample), Some((2048, 8192)));
    assert_eq!(sample.memory_limit_bytes, Some(8 * GIB));
    assert_eq!(sample.file_descriptors, Some(Usage { used: 2, limit: 1024 }));
    assert_eq!(sample.vitals().load_per_core, Some(0.5));
    let unknown = (sample.cpu, sample.io_wait, sample.throttled, sample.pressure, sample.db_pool);
    assert_eq!(unknown, (None, None, None, None, None));
}

#[test]
fn shares_are_of_the_time_between_two_samples() {
    let sample = Tree::bare().sample_after(|tree| {
        tree.write("proc/stat", "cpu  400 0 200 1200 200 0 0 0 0 0\n");
    });
    close(sample.cpu, 0.4);
    close(sample.io_wait, 0.1);
}

#[test]
fn counters_that_went_backwards_are_not_known_until_the_next_sample() {
    let tree = Tree::bare();
    let mut host = tree.host();
    let mut cpu_at = |second, stat| {
        tree.write("proc/stat", stat);
        host.sample(Timestamp::from_secs(second)).unwrap().cpu
    };
    assert_eq!(cpu_at(0, "cpu  400 0 0 500 100\n"), None);
    assert_eq!(cpu_at(5, "cpu  10 0 0 10 0\n"), None, "it was started again");
    close(cpu_at(10, "cpu  20 0 0 40 0\n"), 0.25);
}

#[test]
fn processors_that_we_may_not_run_on_do_not_count_for_us() {
    let tree = Tree::bare();
    tree.write("proc/self/status", "Threads:\t1\nCpus_allowed_list:\t1,3\n");
    let sample = tree.sample();
    assert_eq!((sample.host_cores, sample.cores), (Some(4), Some(2.0)));
    assert_eq!(sample.vitals().load_per_core, Some(0.5), "the load is of all four");
}

#[test]
fn the_fullest_limit_on_threads_is_told() {
    let tree = Tree::bare();
    let check = |used, limit| assert_eq!(tree.sample().threads, Some(Usage { used, limit }));
    check(400, 32_000);
    tree.write("proc/self/status", "Threads:\t60\n");
    check(60, 4000);
    tree.write("proc/self/limits", "Max processes   unlimited  unlimited  processes\n");
    check(400, 32_000);
}

#[test]
fn an_empty_machine_is_an_error() {
    let error = Tree::empty().host().sample(Timestamp::ORIGIN).unwrap_err();
    assert!(error.to_string().starts_with("nothing can be read in proc and sys below "), "{error}");
}

#[test]
fn one_readable_file_is_a_sample() {
    let tree = Tree::empty();
    tree.write("proc/loadavg", "2.00 1.50 1.25 3/400 8712\n");
    let load = Some(Load { one: 2.0, five: 1.5, fifteen: 1.25 });
    assert_eq!(tree.sample(), HostSample { load, ..HostSample::default() });
}
