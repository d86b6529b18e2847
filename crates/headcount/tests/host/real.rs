//! The machine that the tests run on.

use headcount::Timestamp;
use headcount::probes::{Host, Sensor};

#[test]
fn its_values_are_plausible() {
    let sample = Host::new().sample(Timestamp::ORIGIN).unwrap();
    let (host_cores, cores) = (sample.host_cores.unwrap(), sample.cores.unwrap());
    assert!(0.0 < cores && cores <= f64::from(host_cores), "{sample:?}");
    let memory = sample.memory.unwrap();
    assert!(0 < memory.used_bytes && memory.used_bytes < memory.limit_bytes, "{memory:?}");
    assert!(sample.memory_limit_bytes.unwrap() <= memory.limit_bytes, "{sample:?}");
    let load = sample.load.unwrap();
    assert!((0.0..1e5).contains(&load.one), "{load:?}");
    let files = sample.file_descriptors.unwrap();
    assert!(3 <= files.used && files.used <= files.limit, "{files:?}");
    let threads = sample.threads.unwrap();
    assert!(1 <= threads.used && threads.used <= threads.limit, "{threads:?}");
    if let Some(pressure) = sample.pressure {
        let all = [pressure.cpu, pressure.io, pressure.memory];
        assert!(all.iter().all(|share| (0.0..=1.0).contains(share)), "{pressure:?}");
    }
}

/// The time that is told runs faster than the real one, so only the bounds can be checked.
#[test]
fn its_shares_are_shares() {
    let mut host = Host::new();
    for second in (0..50).step_by(5) {
        let sample = host.sample(Timestamp::from_secs(second)).unwrap();
        let shares = [sample.cpu, sample.io_wait, sample.throttled];
        assert!(shares.iter().flatten().all(|share| (0.0..=1.0).contains(share)), "{sample:?}");
    }
}

/// An open file is seen, whichever way this kernel lets them be counted.
#[test]
fn its_open_files_are_counted() {
    let mut host = Host::new();
    let mut count = |second| {
        let sample = host.sample(Timestamp::from_secs(second)).unwrap();
        sample.file_descriptors.unwrap().used
    };
    let before = count(0);
    let opened: Vec<_> =
        (0..200).map(|_| std::fs::File::open("/proc/self/stat").unwrap()).collect();
    let during = count(5);
    drop(opened);
    // Tests beside this one open and close files, too, though never this many.
    assert!(before + 150 < during, "{before} before, {during} with 200 more");
    assert!(count(10) + 150 < during);
}
