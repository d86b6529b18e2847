//! What is kept and told, in virtual time.

use std::sync::Arc;
use std::time::Duration;

use headcount::probes::{HostSample, Sampler, Scripted, Sensor, SensorError};
use headcount::{Clock, ManualClock, Observation, PoolSnapshot, Timestamp};
use headcount_core::MemoryUse;
use headcount_core::health::{Basis, Standing};

fn sample(io_wait: f64) -> HostSample {
    let memory = Some(MemoryUse { used_bytes: 1, limit_bytes: 2 });
    HostSample { io_wait: Some(io_wait), memory, ..HostSample::default() }
}

fn manual(sensor: impl Sensor + 'static) -> (Sampler, ManualClock) {
    let clock = ManualClock::default();
    (Sampler::manual(sensor, Arc::new(clock.clone())), clock)
}

fn told(sampler: &Sampler, clock: &ManualClock) -> Observation {
    let mut observation = Observation::new(clock.now(), PoolSnapshot::default());
    sampler.tell(&mut observation);
    observation
}

#[test]
fn before_the_first_success_nothing_is_known() {
    let (sampler, clock) = manual(Scripted::new([]));
    assert_eq!(sampler.latest(), None);
    assert_eq!(sampler.sample_now(), None);
    assert_eq!(told(&sampler, &clock), Observation::default());
    assert_eq!(sampler.counts().failed, 1);
}

#[test]
fn every_sample_takes_the_place_of_the_one_before() {
    let (sampler, clock) = manual(Scripted::new([Ok(sample(0.0)), Ok(sample(0.9))]));
    assert_eq!(sampler.sample_now().map(|latest| latest.measured_at), Some(Timestamp::ORIGIN));
    clock.advance(Duration::from_secs(5));
    let latest = sampler.sample_now().unwrap();
    assert_eq!((latest.sample, latest.measured_at), (sample(0.9), Timestamp::from_secs(5)));
    assert_eq!(told(&sampler, &clock).health, latest.health);
    assert_eq!(sampler.last_failure(), None);
}

#[test]
fn a_failing_sensor_leaves_the_last_value_until_it_is_stale() {
    let (sampler, clock) = manual(Scripted::new([Ok(sample(0.0)), Err(SensorError::Unsupported)]));
    sampler.sample_now();
    let basis_and_memory = || {
        let observation = told(&sampler, &clock);
        let standing = Standing::of(observation.health.as_ref(), observation.at);
        (standing.basis, observation.memory.is_some())
    };
    for _ in 0..24 {
        clock.advance(Duration::from_secs(5));
        sampler.sample_now();
    }
    assert_eq!(basis_and_memory(), (Basis::Measured, true), "two minutes old");
    clock.advance(Duration::from_nanos(1));
    assert_eq!(basis_and_memory(), (Basis::Stale, false));
    assert_eq!(sampler.counts().failed, 24);
}

#[test]
fn a_late_sample_is_as_old_as_its_beginning() {
    let clock = ManualClock::default();
    let slow = clock.clone();
    let sensor = move |_: Timestamp| {
        slow.advance(Duration::from_secs(130));
        Ok(sample(0.0))
    };
    let sampler = Sampler::manual(sensor, Arc::new(clock.clone()));
    let latest = sampler.sample_now().unwrap();
    assert_eq!(latest.measured_at, Timestamp::ORIGIN);
    assert!(latest.is_stale(clock.now()));
    assert_eq!((sampler.counts().taken, sampler.counts().late), (1, 1));
}

#[test]
fn a_panic_is_counted_and_the_sensor_asked_again() {
    let mut calls = 0;
    let sensor = move |_: Timestamp| {
        calls += 1;
        assert!(calls != 2, "the second call is not to be");
        Ok(sample(f64::from(calls) / 10.0))
    };
    let (sampler, _clock) = manual(sensor);
    let io_wait = || sampler.sample_now().and_then(|latest| latest.sample.io_wait);
    assert_eq!([io_wait(), io_wait(), io_wait()], [Some(0.1), Some(0.1), Some(0.3)]);
    assert_eq!((sampler.counts().taken, sampler.counts().panicked), (2, 1));
    let why = "the sensor or a database pool panicked";
    assert_eq!(sampler.last_failure().as_deref(), Some(why));
}

#[test]
fn a_sample_of_nothing_that_counts_has_no_health() {
    let (sampler, clock) = manual(Scripted::always(HostSample::default()));
    assert!(sampler.sample_now().is_some_and(|latest| latest.health.is_none()));
    assert_eq!(told(&sampler, &clock).health, None);
}
