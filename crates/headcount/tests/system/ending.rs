//! How a system ends, and what is left of the pools that it sees out.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use headcount::config::{Config, Registry};
use headcount::{System, SystemError};

fn read(text: &str) -> Config {
    Config::parse("pools.yaml", text, &Registry::new()).unwrap_or_else(|report| panic!("{report}"))
}

#[test]
fn a_drained_system_does_not_come_back_to_life() {
    let system = System::of(read("pools: {a: {}}")).start().expect("no fault");
    assert!(system.drain(Duration::from_secs(30)).is_clean());
    let error = system.reload(read("pools: {a: {}, b: {}}")).expect_err("it is over");
    assert!(matches!(error, SystemError::Drained), "{error}");
    assert!(system.names().is_empty());
}

#[test]
fn a_drain_may_take_for_ever() {
    let system = System::of(read("pools: {a: {}, b: {type: limiter}}")).start().expect("no fault");
    let pool = system.thread_pool("a").expect("it is there");
    let task = pool.submit(|| 7).expect("there is room");
    assert!(system.drain(Duration::MAX).is_clean());
    assert_eq!(task.join().expect("it ran"), 7);
}

#[test]
fn what_a_pool_on_its_way_out_still_takes_is_nobody_elses() {
    let text = "{pools: {a: {workers: {min: 3, max: 3}}, b: {workers: {max: 4}}}, \
                budget: {workers_max: 4}}";
    let system = System::of(read(text)).start().expect("no fault");
    let leaving = system.thread_pool("a").expect("it is there");
    let (started, begun) = mpsc::channel();
    let releases: Vec<_> = (0..3)
        .map(|_| {
            let (release, blocked) = mpsc::channel::<()>();
            let started = started.clone();
            let task = move || {
                started.send(()).expect("somebody listens");
                blocked.recv().expect("released");
            };
            leaving.spawn(task).expect("there is room");
            begun.recv().expect("it has begun");
            release
        })
        .collect();
    system.reload(read("{pools: {b: {workers: {max: 4}}}, budget: {workers_max: 4}}")).expect("ok");
    let (stays, scaler) = (system.thread_pool("b"), system.scaler("b").expect("it is there"));
    let stays = stays.expect("it is there");
    scaler.scale_to(1);
    for _ in 0..1000 {
        scaler.scale_to(4);
        assert_eq!(stays.snapshot().ceiling, 1, "three are taken");
        assert!(system.budget().held() <= 4, "{}", system.budget().held());
        thread::yield_now();
    }
    drop(releases.into_iter().map(|release| release.send(())).collect::<Vec<_>>());
    let deadline = Instant::now() + Duration::from_secs(30);
    while stays.snapshot().ceiling < 4 {
        assert!(Instant::now() < deadline, "{}", scaler.why());
        scaler.scale_to(4);
        thread::yield_now();
    }
}
