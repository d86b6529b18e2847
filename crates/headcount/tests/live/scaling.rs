//! One scaler, on a clock that is told the time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use headcount::{
    Extras, Mode, PolicyConfig, Preset, Resizable, Scaler, ScalerEvent, ScalingPolicy, Staffing,
    StateFile, ThreadPool,
};
use headcount_core::decide::Decider;
use headcount_core::{Proposal, Reason, Situation};

use crate::support::{busy, by_hand, run_for};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn it_grows_and_says_why() {
    let (pool, (driver, clock)) = (busy(), by_hand());
    let scaler = Scaler::of(pool.clone()).policy(Preset::gopipe()).driver(&driver).start();
    let scaler = scaler.expect("no fault");
    assert_eq!(scaler.why(), "nothing was decided yet");
    run_for(&driver, &clock, SECOND / 2);
    assert_eq!(pool.resized(), [Staffing::exactly(3)]);
    assert_eq!(scaler.why(), "grow 2 to 3: wants 3 (all busy) -> bounds 3");
    assert_eq!(scaler.last_tick_age(), Some(SECOND / 2));
    assert_eq!(
        (scaler.stats().grows, scaler.samples(9).len(), scaler.decisions().len()),
        (1, 1, 1)
    );
}

#[test]
fn when_it_is_stopped_nothing_is_done_any_more() {
    let (pool, (driver, clock)) = (busy(), by_hand());
    let scaler = Scaler::of(pool.clone()).policy(Preset::gopipe()).driver(&driver).start();
    let scaler = scaler.expect("no fault");
    scaler.stop();
    run_for(&driver, &clock, 30 * SECOND);
    assert_eq!((pool.resized(), driver.len(), scaler.is_active()), (vec![], 0, false));
    scaler.start();
    run_for(&driver, &clock, SECOND / 2);
    assert_eq!(pool.resized().len(), 1);
    drop(scaler);
    assert!(driver.is_empty(), "it goes with its last handle");
}

#[test]
fn however_often_it_is_started_there_is_one_loop() {
    let (pool, (driver, clock)) = (busy(), by_hand());
    let scaler = Scaler::of(pool).policy(Preset::gopipe()).driver(&driver).start();
    let scaler = scaler.expect("no fault");
    for _ in 0..10 {
        scaler.start();
        scaler.set_policy(Preset::gopipe()).expect("no fault");
    }
    assert_eq!(driver.len(), 1);
    run_for(&driver, &clock, SECOND / 2);
    assert_eq!(scaler.stats().evaluations, 1);
}

#[test]
fn to_evaluate_changes_nothing() {
    let (pool, (driver, _)) = (busy(), by_hand());
    let scaler = Scaler::of(pool.clone()).policy(Preset::gopipe()).driver(&driver).build();
    let scaler = scaler.expect("no fault");
    let first = scaler.evaluate_now();
    assert_eq!(first.to, Staffing::exactly(3));
    assert_eq!(scaler.evaluate_now(), first);
    assert_eq!((pool.resized(), scaler.stats().evaluations), (vec![], 0));
}

#[test]
fn sizes_by_hand_count_in_every_mode_and_within_the_bounds() {
    for mode in [Mode::Off, Mode::Manual, Mode::Advise, Mode::Automatic] {
        let (pool, (driver, _)) = (busy(), by_hand());
        let scaler = Scaler::of(pool.clone()).policy(Preset::gopipe()).driver(&driver).build();
        let scaler = scaler.expect("no fault");
        scaler.set_mode(mode);
        assert_eq!(scaler.scale_to(100).to, Staffing::exactly(8));
        assert_eq!(scaler.scale_down().to, Staffing::exactly(7));
        assert_eq!(scaler.scale_to(0).to, Staffing::exactly(1));
        assert_eq!(scaler.scale_up().to, Staffing::exactly(2));
        assert_eq!(pool.resized(), [8, 7, 1, 2].map(Staffing::exactly));
        assert_eq!((scaler.mode(), scaler.held()), (mode, None), "as it was before");
    }
}

#[test]
fn a_mode_that_applies_nothing_applies_nothing() {
    for mode in [Mode::Off, Mode::Manual, Mode::Advise] {
        let (pool, (driver, clock)) = (busy(), by_hand());
        let policy = PolicyConfig { mode: Some(mode), ..Preset::gopipe().config() };
        let scaler = Scaler::of(pool.clone()).policy(policy).driver(&driver).start();
        let scaler = scaler.expect("no fault");
        run_for(&driver, &clock, 30 * SECOND);
        assert_eq!((pool.resized(), scaler.stats().grows), (vec![], 0), "{mode}");
        assert!(0 < scaler.stats().evaluations, "but it looks");
    }
}

#[test]
fn it_is_held_until_that_expires() {
    let (pool, (driver, clock)) = (busy(), by_hand());
    let scaler = Scaler::of(pool.clone()).policy(Preset::gopipe()).driver(&driver).start();
    let scaler = scaler.expect("no fault");
    scaler.hold_at(6, Some(10 * SECOND));
    assert_eq!(pool.resized(), [Staffing::exactly(6)], "at once");
    pool.set(|pool| (pool.busy, pool.live) = (6, 6));
    run_for(&driver, &clock, 9 * SECOND);
    assert_eq!(pool.resized(), [Staffing::exactly(6)]);
    assert!(scaler.held().is_some());
    run_for(&driver, &clock, 5 * SECOND);
    assert!(scaler.held().is_none());
    assert_eq!(pool.resized(), [Staffing::exactly(6), Staffing::exactly(7)]);
}

#[test]
fn another_policy_keeps_what_guards_remember_and_its_bounds_hold_at_once() {
    let (pool, (driver, clock)) = (busy(), by_hand());
    let scaler = Scaler::of(pool.clone()).policy(Preset::gopipe()).driver(&driver).start();
    let scaler = scaler.expect("no fault");
    run_for(&driver, &clock, SECOND);
    assert_eq!(pool.resized(), [Staffing::exactly(3)]);
    pool.set(|pool| (pool.busy, pool.live, pool.queued) = (3, 3, 1000));
    let gopipe = Preset::gopipe().config();
    let spool = PolicyConfig { guards: gopipe.guards, ..Preset::spool().config() };
    scaler.set_policy(spool).expect("no fault");
    run_for(&driver, &clock, 2 * SECOND);
    assert_eq!(pool.resized().len(), 1, "the cooldown spans the change, though nothing else does");
    let low = PolicyConfig { workers_max: Some(2), ..Preset::gopipe().config() };
    scaler.set_policy(low).expect("no fault");
    assert_eq!(pool.resized().last(), Some(&Staffing::exactly(2)));
    assert_eq!(scaler.stats().grows, 1, "statistics go on");
}

#[test]
fn a_wrong_policy_changes_nothing() {
    let (pool, (driver, clock)) = (busy(), by_hand());
    let scaler = Scaler::of(pool.clone()).policy(Preset::gopipe()).driver(&driver).start();
    let scaler = scaler.expect("no fault");
    let before = scaler.policy();
    let wrong = PolicyConfig { tick: Some(Duration::ZERO), ..PolicyConfig::default() };
    let error = scaler.set_policy(wrong).expect_err("no interval");
    assert_eq!(error.to_string(), "tick is 0 s; a span above 0 is needed");
    assert_eq!(scaler.policy(), before);
    run_for(&driver, &clock, SECOND / 2);
    assert_eq!(pool.resized(), [Staffing::exactly(3)]);
}

/// Panics when it is told to.
#[derive(Clone, Debug)]
struct Moody(Arc<AtomicBool>);

impl Decider for Moody {
    fn decide(&mut self, situation: &Situation<'_>) -> Proposal {
        assert!(!self.0.load(Ordering::Relaxed), "not today");
        let wanted = situation.pool().ceiling + 1;
        Proposal::want(Staffing::exactly(wanted), Reason::Manual)
    }
}

#[test]
fn a_tick_that_panics_is_told_and_the_loop_goes_on() {
    let ((driver, clock), angry) = (by_hand(), Arc::new(AtomicBool::new(true)));
    let (pool, other) = (busy(), busy());
    let decider = Moody(Arc::clone(&angry));
    let scaler = Scaler::of(pool.clone())
        .policy(Preset::gopipe())
        .extras(move || Extras::decider(decider.clone()))
        .driver(&driver)
        .start()
        .expect("no fault");
    let beside = Scaler::of(other.clone()).policy(Preset::gopipe()).driver(&driver).start();
    let _beside = beside.expect("no fault");
    let events = scaler.events().expect("there is room");
    run_for(&driver, &clock, 5 * SECOND / 2);
    assert_eq!(scaler.panics(), 3);
    assert!(matches!(events.recv(), Ok(ScalerEvent::Panicked(said)) if said == "not today"));
    assert_eq!(other.resized(), [Staffing::exactly(3)], "others have their turn");
    angry.store(false, Ordering::Relaxed);
    run_for(&driver, &clock, SECOND);
    assert_eq!(pool.resized(), [Staffing::exactly(3)]);
}

#[test]
fn a_listener_may_call_the_scaler() {
    let (pool, (driver, clock)) = (busy(), by_hand());
    let scaler = Scaler::of(pool).policy(Preset::gopipe()).driver(&driver).start();
    let scaler = scaler.expect("no fault");
    let (inside, heard) = (scaler.clone(), Arc::new(AtomicU32::new(0)));
    let told = Arc::clone(&heard);
    let listened = scaler.on_scaled(move |scaled| {
        assert_eq!(inside.decision().map(|decision| decision.to.ceiling), Some(scaled.to));
        inside.stop();
        told.store(scaled.to, Ordering::Relaxed);
    });
    listened.expect("there is room");
    run_for(&driver, &clock, SECOND);
    assert_eq!(heard.load(Ordering::Relaxed), 3);
    assert!(!scaler.is_active());
}

#[test]
fn a_pool_that_drains_is_not_shrunk_and_one_that_is_gone_is_forgotten() {
    let (pool, (driver, clock)) = (busy(), by_hand());
    let scaler = Scaler::of(pool.clone()).policy(Preset::gopipe()).driver(&driver).start();
    let scaler = scaler.expect("no fault");
    pool.set(|pool| {
        (pool.busy, pool.parked, pool.draining) = (0, 2, true);
        pool.longest_idle = Some(3600 * SECOND);
    });
    run_for(&driver, &clock, 60 * SECOND);
    assert_eq!(pool.resized(), []);
    pool.set(|pool| (pool.live, pool.parked) = (0, 0));
    run_for(&driver, &clock, 3 * SECOND);
    assert!(!scaler.is_active());
    assert!(matches!(scaler.latest_events().last(), Some(ScalerEvent::Ended)));
}

#[test]
fn after_a_restart_it_begins_with_the_last_known_size_and_holds() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("state");
    let start = |pool: &crate::support::Paper, driver: &headcount::Driver| {
        let state = StateFile::open(&path);
        let scaler = Scaler::of(pool.clone()).policy(Preset::gopipe()).state_file(&state);
        scaler.name("thumbs\nof two lines").driver(driver).start().expect("no fault")
    };
    let (pool, (driver, clock)) = (busy(), by_hand());
    let scaler = start(&pool, &driver);
    scaler.scale_to(6);
    run_for(&driver, &clock, SECOND);
    drop(scaler);

    let (pool, (driver, clock)) = (busy(), by_hand());
    let _scaler = start(&pool, &driver);
    assert_eq!(pool.snapshot().ceiling, 6);
    pool.set(|pool| {
        (pool.busy, pool.parked) = (0, pool.live);
        pool.longest_idle = Some(3600 * SECOND);
    });
    run_for(&driver, &clock, 5 * SECOND);
    assert_eq!(pool.resized(), [], "it does not shrink at first");
    assert!(path.is_file(), "it was written");
}

#[test]
fn as_a_policy_it_rejects_nothing_and_can_be_switched_off() {
    let pool = ThreadPool::builder().workers(1..=4).build().expect("no fault");
    let scaler = Scaler::of(pool.handle()).policy(Preset::gopipe()).start().expect("no fault");
    pool.policies().add(Arc::new(ScalingPolicy::of(&scaler))).expect("the first");
    let ran = (0..100).map(|n| pool.submit(move || n).expect("nothing is rejected"));
    let sum: i32 = ran.map(|handle| handle.join().expect("it ran")).sum();
    assert_eq!(sum, 4950);
    pool.policies().disable(ScalingPolicy::NAME).expect("it is there");
    assert!(!scaler.is_active());
    pool.policies().enable(ScalingPolicy::NAME).expect("it is there");
    assert!(scaler.is_active());
}

#[test]
fn a_mode_that_was_set_by_hand_outlives_a_change_of_policy() {
    let (pool, (driver, clock)) = (busy(), by_hand());
    let scaler = Scaler::of(pool.clone()).policy(Preset::gopipe()).driver(&driver).start();
    let scaler = scaler.expect("no fault");
    scaler.set_mode(Mode::Off);
    scaler.set_policy(Preset::spool()).expect("no fault");
    pool.set(|pool| pool.queued = 1000);
    run_for(&driver, &clock, 60 * SECOND);
    assert_eq!((scaler.mode(), pool.resized()), (Mode::Off, vec![]));
}

#[test]
fn what_a_listener_asks_for_is_done_at_once() {
    let (pool, (driver, clock)) = (busy(), by_hand());
    let slow = PolicyConfig { tick: Some(60 * SECOND), ..Preset::gopipe().config() };
    let scaler = Scaler::of(pool.clone()).policy(slow).driver(&driver).start();
    let scaler = scaler.expect("no fault");
    let inside = scaler.clone();
    scaler.on_scaled(move |_| inside.release()).expect("there is room");
    run_for(&driver, &clock, SECOND);
    assert_eq!(scaler.stats().evaluations, 2, "once more, because somebody let it go");
}

#[test]
fn a_closed_pool_is_told_no_size_and_nobody_is_told_of_one() {
    let (pool, (driver, clock)) = (busy(), by_hand());
    let scaler = Scaler::of(pool.clone()).policy(Preset::gopipe()).driver(&driver).start();
    let scaler = scaler.expect("no fault");
    pool.set(|pool| (pool.draining, pool.floor, pool.ceiling) = (true, 0, 0));
    run_for(&driver, &clock, 20 * SECOND);
    assert_eq!((pool.resized(), scaler.stats().grows), (vec![], 0), "{}", scaler.why());
    assert!(scaler.latest_events().is_empty());
}

#[test]
fn a_part_that_panics_under_a_size_by_hand_changes_nothing() {
    let ((driver, _), angry) = (by_hand(), Arc::new(AtomicBool::new(false)));
    let guard = Fragile(Arc::clone(&angry));
    let scaler = Scaler::of(busy())
        .policy(Preset::gopipe())
        .extras(move || Extras { guards: vec![Arc::new(guard.clone())], ..Extras::default() })
        .driver(&driver)
        .build()
        .expect("no fault");
    angry.store(true, Ordering::Relaxed);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| scaler.scale_to(5)));
    assert!(panicked.is_err());
    assert_eq!((scaler.mode(), scaler.held()), (Mode::Automatic, None));
}

/// A limit that panics when it is told to.
#[derive(Clone, Debug)]
struct Fragile(Arc<AtomicBool>);

impl headcount_core::guard::Guard for Fragile {
    fn name(&self) -> &'static str {
        "fragile"
    }

    fn is_limit(&self) -> bool {
        true
    }

    fn review(&self, _: &Situation<'_>, _: Staffing) -> headcount_core::guard::Ruling {
        assert!(!self.0.load(Ordering::Relaxed), "not today");
        headcount_core::guard::Ruling::Allow
    }
}

#[test]
fn whoever_finds_no_room_to_listen_is_told() {
    let (pool, (driver, clock)) = (busy(), by_hand());
    let scaler = Scaler::of(pool.clone()).policy(Preset::gopipe()).driver(&driver).start();
    let scaler = scaler.expect("no fault");
    let heard = Arc::new(AtomicU32::new(0));
    let listen = || {
        let heard = Arc::clone(&heard);
        scaler.on_scaled(move |_| {
            heard.fetch_add(1, Ordering::Relaxed);
        })
    };
    let listening = (0..65).filter(|_| listen().is_ok()).count();
    let streams: Vec<_> = (0..65).filter_map(|_| scaler.events().ok()).collect();
    run_for(&driver, &clock, SECOND / 2);
    assert_eq!((listening, heard.load(Ordering::Relaxed)), (64, 64), "who was taken is called");
    assert_eq!(streams.iter().filter(|stream| stream.try_recv().is_ok()).count(), 64);

    drop(streams);
    scaler.set_mode(Mode::Advise);
    assert!(scaler.events().is_ok(), "those that were dropped made room");
    let mut crowded = Scaler::of(pool).policy(Preset::gopipe()).driver(&driver);
    for _ in 0..65 {
        crowded = crowded.on_scaled(|_| ());
    }
    let error = crowded.build().expect_err("one too many");
    assert_eq!(error.to_string(), "on_scaled is 65 listeners; at most 64 are called");
}
