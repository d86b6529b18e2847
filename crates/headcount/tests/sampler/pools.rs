//! Pools of database connections, watched by a sampler.

use std::sync::Arc;

use headcount::probes::{DbPool, HostSample, Sampler, Scripted};
use headcount::{ManualClock, Name};

fn name(text: &str) -> Name {
    Name::new(text).expect("a name")
}

fn sampler(sample: HostSample) -> Sampler {
    Sampler::manual(Scripted::always(sample), Arc::new(ManualClock::default()))
}

fn check(sampler: &Sampler, share: Option<f64>, fullest: Option<&str>) {
    let latest = sampler.sample_now().expect("the sensor answers");
    assert_eq!((latest.sample.db_pool, latest.fullest_db_pool), (share, fullest.map(name)));
}

#[test]
fn the_fullest_of_those_watched_counts() {
    let sampler = sampler(HostSample::default());
    check(&sampler, None, None);
    sampler.watch_db_pool(name("orders"), || Some(0.4)).unwrap();
    sampler.watch_db_pool(name("users"), || Some(0.8)).unwrap();
    sampler.watch_db_pool(name("archive"), || None).unwrap();
    check(&sampler, Some(0.8), Some("users"));
    sampler.unwatch_db_pool(name("users"));
    check(&sampler, Some(0.4), Some("orders"));
}

#[test]
fn what_the_sensor_says_itself_counts_too() {
    let sampler = sampler(HostSample { db_pool: Some(0.6), ..HostSample::default() });
    check(&sampler, Some(0.6), None);
    sampler.watch_db_pool(name("orders"), || Some(0.4)).unwrap();
    check(&sampler, Some(0.6), Some("orders"));
}

#[test]
fn a_full_pool_is_bad_for_health() {
    let sampler = sampler(HostSample { io_wait: Some(0.0), ..HostSample::default() });
    let score = || sampler.sample_now().unwrap().health.unwrap().score;
    assert!(99.0 < score());
    sampler.watch_db_pool(name("orders"), || Some(1.0)).unwrap();
    assert!(score() < 34.0);
}

#[test]
fn a_pool_that_panics_costs_the_measurement_and_no_more() {
    let sampler = sampler(HostSample::default());
    sampler.watch_db_pool(name("orders"), || panic!("no connection")).unwrap();
    assert_eq!(sampler.sample_now(), None);
    sampler.unwatch_db_pool(name("orders"));
    check(&sampler, None, None);
    assert_eq!((sampler.counts().panicked, sampler.counts().taken), (1, 1));
}

/// Asks the sampler when it is dropped, which must not happen under the sampler's lock.
struct Curious(Sampler);

impl DbPool for Curious {
    fn use_share(&self) -> Option<f64> {
        Some(0.5)
    }
}

impl Drop for Curious {
    fn drop(&mut self) {
        let _ = self.0.latest();
    }
}

#[test]
fn a_pool_may_ask_the_sampler_as_it_goes() {
    let sampler = sampler(HostSample::default());
    let curious = || Curious(sampler.clone());
    sampler.watch_db_pool(name("orders"), curious()).unwrap();
    sampler.watch_db_pool(name("orders"), curious()).unwrap();
    sampler.unwatch_db_pool(name("orders"));
    for number in 0..32 {
        sampler.watch_db_pool(name(&format!("p{number}")), || None).unwrap();
    }
    assert!(sampler.watch_db_pool(name("orders"), curious()).is_err());
}
