//! The thread of a sampler, led through its steps by a sensor that waits for orders.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use headcount::probes::{HostSample, Sampler, SamplerConfig, Sensor, SensorError};
use headcount::{Clock, ManualClock, SystemClock, Timestamp};

/// Long enough for any machine, and never waited for in full unless a test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// Says that it was asked, then waits to be told what to answer.
struct Led {
    asked: Sender<()>,
    answers: Receiver<f64>,
}

impl Sensor for Led {
    fn sample(&mut self, _at: Timestamp) -> Result<HostSample, SensorError> {
        self.asked.send(()).map_err(|_| SensorError::Unsupported)?;
        let io_wait = self.answers.recv().map_err(|_| SensorError::Unsupported)?;
        assert!(0.0 <= io_wait, "told to panic");
        Ok(HostSample { io_wait: Some(io_wait), ..HostSample::default() })
    }
}

/// The other ends of a sensor that is led.
struct Leader {
    asked: Receiver<()>,
    answers: Sender<f64>,
}

impl Leader {
    fn expect_asked(&self) {
        self.asked.recv_timeout(PATIENCE).expect("the sensor is asked");
    }

    fn answer(&self, io_wait: f64) {
        self.answers.send(io_wait).expect("the sensor waits");
    }

    fn expect_gone(&self) {
        let gone = self.asked.recv_timeout(PATIENCE);
        assert_eq!(gone, Err(RecvTimeoutError::Disconnected), "the thread has ended");
    }
}

fn led() -> (Led, Leader) {
    let ((asked, was_asked), (answers, to_answer)) = (channel(), channel());
    (Led { asked, answers: to_answer }, Leader { asked: was_asked, answers })
}

/// Pauses for an hour by itself, so that it measures when it is asked and once at the beginning.
fn patient() -> SamplerConfig {
    SamplerConfig {
        interval: Duration::from_secs(3600),
        time_limit: PATIENCE,
        ..Default::default()
    }
}

fn io_wait(sampler: &Sampler) -> Option<f64> {
    sampler.latest().and_then(|latest| latest.sample.io_wait)
}

#[test]
fn it_measures_at_once_and_whenever_it_is_asked() {
    let (sensor, leader) = led();
    let sampler = Sampler::start(sensor, patient(), Arc::new(SystemClock)).unwrap();
    leader.expect_asked();
    assert_eq!(sampler.latest(), None, "it has not answered yet");
    leader.answer(0.1);

    leader.answer(0.2);
    let elsewhere = sampler.clone();
    let asker = std::thread::spawn(move || elsewhere.sample_now());
    let seen = asker.join().unwrap().and_then(|latest| latest.sample.io_wait);
    assert!(seen == Some(0.1) || seen == Some(0.2), "{seen:?}");
    assert_eq!(seen, io_wait(&sampler));
}

#[test]
fn it_measures_once_for_each_time_that_it_is_asked() {
    let calls = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&calls);
    let sensor = move |_: Timestamp| {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(HostSample::default())
    };
    let sampler = Sampler::start(sensor, patient(), Arc::new(SystemClock)).unwrap();
    for _ in 0..1000 {
        assert!(sampler.sample_now().is_some());
    }
    // The first time it measures unasked, which may do for whoever asks first.
    assert!((1000..=1001).contains(&calls.load(Ordering::Relaxed)), "{calls:?}");
}

#[test]
fn it_goes_on_by_itself() {
    let (sensor, leader) = led();
    let interval = Duration::from_millis(100);
    let config = SamplerConfig { interval, ..SamplerConfig::default() };
    let sampler = Sampler::start(sensor, config, Arc::new(SystemClock)).unwrap();
    for answer in [0.1, 0.2, 0.3] {
        leader.expect_asked();
        leader.answer(answer);
    }
    leader.expect_asked();
    assert_eq!((io_wait(&sampler), sampler.counts().taken), (Some(0.3), 3));
}

#[test]
fn a_sensor_that_hangs_costs_nobody_else_anything() {
    let (sensor, leader) = led();
    let clock = ManualClock::default();
    let config = SamplerConfig { time_limit: Duration::from_millis(1), ..patient() };
    let sampler = Sampler::start(sensor, config, Arc::new(clock.clone())).unwrap();
    leader.expect_asked();
    leader.answer(0.1);
    while sampler.latest().is_none() {
        sampler.sample_now();
    }
    sampler.sample_now();
    leader.expect_asked();

    clock.advance(Duration::from_secs(10));
    for _ in 0..3 {
        let latest = sampler.sample_now().expect("the last value is kept");
        assert_eq!((latest.sample.io_wait, latest.measured_at), (Some(0.1), Timestamp::ORIGIN));
    }
    assert_eq!(sampler.counts().late, 1, "it is late once, however often one looks");
    assert!(leader.asked.try_recv().is_err(), "and nobody else measures meanwhile");

    leader.answer(0.2);
    while io_wait(&sampler) != Some(0.2) {
        std::thread::yield_now();
    }
    assert_eq!((sampler.counts().taken, sampler.counts().late), (2, 1));
}

#[test]
fn a_sensor_that_panics_does_not_end_the_thread() {
    let (sensor, leader) = led();
    let sampler = Sampler::start(sensor, patient(), Arc::new(SystemClock)).unwrap();
    leader.expect_asked();
    leader.answer(-1.0);
    while sampler.counts().panicked == 0 {
        std::thread::yield_now();
    }
    leader.answer(0.2);
    assert_eq!(sampler.sample_now().and_then(|latest| latest.sample.io_wait), Some(0.2));
    assert_eq!((sampler.counts().taken, sampler.counts().panicked), (1, 1));
}

#[test]
fn the_thread_ends_with_the_last_handle() {
    let (sensor, leader) = led();
    let sampler = Sampler::start(sensor, patient(), Arc::new(SystemClock)).unwrap();
    leader.expect_asked();
    leader.answer(0.1);
    let other = sampler.clone();
    drop(sampler);
    leader.answer(0.2);
    assert!(other.sample_now().is_some(), "one handle is left, and so is the thread");
    drop(other);
    while leader.asked.try_recv().is_ok() {}
    leader.expect_gone();
}

#[test]
fn the_last_handle_does_not_wait_for_a_sensor_that_hangs() {
    let (sensor, leader) = led();
    let sampler = Sampler::start(sensor, patient(), Arc::new(SystemClock)).unwrap();
    leader.expect_asked();
    drop(sampler);
    leader.answer(0.1);
    leader.expect_gone();
}

#[test]
fn samples_are_stamped_by_the_clock_that_was_given() {
    let (sensor, leader) = led();
    let clock = ManualClock::default();
    clock.advance(Duration::from_secs(77));
    leader.answer(0.1);
    let sampler = Sampler::start(sensor, patient(), Arc::new(clock.clone())).unwrap();
    while sampler.latest().is_none() {
        std::thread::yield_now();
    }
    assert_eq!(sampler.latest().map(|latest| latest.measured_at), Some(clock.now()));
}
