//! The file of the README is read as it is printed there.

#![cfg(feature = "config")]

use headcount::System;
use headcount::config::{Config, Registry};

/// What stands before the end of the block.
fn read(name: &str, rest: &str) -> Config {
    let (yaml, _) = rest.split_once("```").expect("it ends");
    Config::parse(name, yaml, &Registry::new()).unwrap_or_else(|report| panic!("{report}"))
}

#[test]
fn the_jobs_of_the_readme_are_understood() {
    let readme = include_str!("../../../README.md");
    let (_, rest) = readme.split_once("```yaml\nstore: ").expect("it has one");
    let config = read("jobs.yaml", &format!("store: {rest}"));
    assert_eq!(config.jobs.queues.len(), 1);
}

#[test]
fn the_file_of_the_readme_is_put_to_work() {
    let readme = include_str!("../../../README.md");
    let (_, rest) = readme.split_once("```yaml\n# autoscaler.yaml\n").expect("it has one");
    let config = read("autoscaler.yaml", rest);
    assert_eq!((config.service.as_str(), config.budget), ("api", Some(1024)));
    let name = config.pools[0].name.clone();
    let system = System::of(config).start().expect("no fault");
    let pool = system.thread_pool(&name).expect("ants are threads");
    assert_eq!(pool.submit(|| 6 * 7).expect("there is room").join().expect("it ran"), 42);
    let bounds = system.scaler(&name).expect("it is scaled").policy();
    assert_eq!((bounds.workers_min, bounds.workers_max), (Some(4), Some(128)));
}
