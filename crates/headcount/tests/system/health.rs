//! A sick machine, in virtual time.

use std::sync::Arc;
use std::time::Duration;

use headcount::config::{Config, Registry};
use headcount::probes::{HostSample, Sampler, SensorError};
use headcount::{
    Driver, ManualClock, Name, PolicyConfig, Preset, Scaler, System, ThreadPool, Throttle,
};

/// A machine whose state the test decides.
#[derive(Clone, Default)]
struct Machine(Arc<std::sync::Mutex<Option<f64>>>);

impl Machine {
    fn is(&self, io_wait: f64) {
        *self.0.lock().expect("nobody panics") = Some(io_wait);
    }

    fn sensor(
        &self,
    ) -> impl FnMut(headcount::Timestamp) -> Result<HostSample, SensorError> + use<> {
        let state = Arc::clone(&self.0);
        move |_| {
            let io_wait = *state.lock().expect("nobody panics");
            Ok(HostSample { io_wait, ..HostSample::default() })
        }
    }
}

struct Ward {
    machine: Machine,
    clock: ManualClock,
    driver: Driver,
    sampler: Sampler,
}

impl Ward {
    fn new() -> Self {
        let (machine, clock) = (Machine::default(), ManualClock::default());
        machine.is(0.0);
        let driver = Driver::by_hand(Arc::new(clock.clone()));
        let sampler = Sampler::manual(machine.sensor(), Arc::new(clock.clone()));
        Self { machine, clock, driver, sampler }
    }

    /// Lets time pass: measures every 5 s, decides when it is due.
    fn pass(&self, seconds: u64) {
        for second in 0..seconds {
            if second % 5 == 0 {
                self.sampler.sample_now();
            }
            self.driver.run_due();
            self.clock.advance(Duration::from_secs(1));
        }
        self.driver.run_due();
    }
}

#[test]
fn a_sick_machine_throttles_within_a_cycle_and_recovers_gradually() {
    let ward = Ward::new();
    let pool = ThreadPool::builder().workers(1..=16).build().expect("no fault");
    let policy = PolicyConfig { workers_min: Some(1), ..Preset::slo(Duration::ZERO).config() };
    let scaler = Scaler::of(pool.handle()).policy(policy).health(&ward.sampler);
    let scaler = scaler.throttle_by_health().driver(&ward.driver).start().expect("no fault");
    ward.pass(60);
    assert_eq!(pool.snapshot().ceiling, 16, "{}", scaler.why());

    ward.machine.is(0.9);
    ward.pass(6);
    assert_eq!(pool.snapshot().ceiling, 1, "{}", scaler.why());
    assert!(scaler.why().contains("health critical"), "{}", scaler.why());

    ward.machine.is(0.0);
    ward.pass(240);
    assert_eq!(pool.snapshot().ceiling, 1, "it rests first: {}", scaler.why());
    let mut sizes = vec![1_u32];
    for _ in 0..40 {
        ward.pass(60);
        let size = pool.snapshot().ceiling;
        let last = *sizes.last().expect("it began with one");
        assert!(size <= (last * 3).div_ceil(2), "by half as many again at most: {sizes:?} {size}");
        if size != last {
            sizes.push(size);
        }
    }
    assert_eq!(sizes.last(), Some(&16), "{sizes:?}");
}

#[test]
fn without_the_switch_the_machine_may_be_as_sick_as_it_likes() {
    let ward = Ward::new();
    let pool = ThreadPool::builder().workers(1..=16).build().expect("no fault");
    let slo = Preset::slo(Duration::ZERO);
    let scaler = Scaler::of(pool.handle()).policy(slo).health(&ward.sampler).driver(&ward.driver);
    let scaler = scaler.start().expect("no fault");
    ward.machine.is(0.9);
    ward.pass(10);
    assert_eq!(pool.snapshot().ceiling, 16);
    scaler.throttle_by_health(true).expect("there is room");
    ward.pass(1);
    assert_eq!(pool.snapshot().ceiling, 1, "{}", scaler.why());
}

#[test]
fn tasks_that_wait_for_the_machine_are_counted() {
    let ward = Ward::new();
    let pool = ThreadPool::builder().workers(1..=4).build().expect("no fault");
    let slo = Preset::slo(Duration::ZERO);
    let scaler = Scaler::of(pool.handle()).policy(slo).health(&ward.sampler);
    let scaler = scaler.throttle_by_health().driver(&ward.driver).start().expect("no fault");
    ward.machine.is(0.9);
    ward.pass(6);
    assert_eq!(scaler.throttled(), 0);
    let (release, blocked) = std::sync::mpsc::channel::<()>();
    let (started, begun) = std::sync::mpsc::channel();
    pool.spawn(move || {
        started.send(()).expect("somebody listens");
        blocked.recv().expect("released");
    })
    .expect("there is room");
    begun.recv().expect("it has begun");
    for _ in 0..9 {
        pool.spawn(|| ()).expect("there is room");
    }
    ward.pass(1);
    assert_eq!(scaler.throttled(), 9);
    release.send(()).expect("it waits for that");
}

#[test]
fn code_with_its_own_semaphore_asks_and_changes_nothing_by_asking() {
    let ward = Ward::new();
    let throttle = Throttle::new(10);
    let scaler = Scaler::of(throttle.clone()).policy(Preset::syshealth()).health(&ward.sampler);
    let _scaler = scaler.driver(&ward.driver).start().expect("no fault");
    ward.pass(1);
    ward.machine.is(0.9);
    ward.pass(40);
    assert_eq!(throttle.concurrency(10), 10, "switched off");
    throttle.set_enabled(true);
    for _ in 0..1000 {
        assert_eq!(throttle.concurrency(10), 1);
    }
    ward.machine.is(0.0);
    ward.pass(200);
    assert_eq!(throttle.concurrency(10), 1, "it rests for five minutes");
    ward.pass(200);
    assert_eq!(throttle.concurrency(10), 2, "however often it was asked");
}

#[test]
fn a_watched_database_pool_is_still_watched_after_a_reload_of_the_rules() {
    let read = |text: &str| Config::parse("a.yaml", text, &Registry::new()).expect("no fault");
    let machine = Machine::default();
    machine.is(0.0);
    let system = System::of(read("pools: {a: {}}")).sensor(move || machine.sensor());
    let system = system.start().expect("no fault");
    let before = system.sampler();
    let name = |text| Name::new(text).expect("a name");
    before.watch_db_pool(name("orders"), || Some(0.9)).expect("there is room");
    let fullest = || {
        let latest = system.sampler().sample_now().expect("it was measured");
        latest.fullest_db_pool.map(|name| (name.to_string(), latest.sample.db_pool))
    };
    assert_eq!(fullest(), Some(("orders".to_owned(), Some(0.9))));

    system.reload(read("{pools: {a: {}}, health: {interval: 7s}}")).expect("no fault");
    assert_eq!(fullest(), Some(("orders".to_owned(), Some(0.9))), "by another sampler");
    before.watch_db_pool(name("users"), || Some(1.0)).expect("there is room");
    assert_eq!(fullest(), Some(("users".to_owned(), Some(1.0))), "whichever was told of it");
    system.sampler().unwatch_db_pool(name("users"));
    system.sampler().unwatch_db_pool(name("orders"));
    assert_eq!(fullest(), None);
}
