//! Another configuration while tasks run.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use headcount::config::{Config, Registry};
use headcount::probes::{HostSample, Scripted};
use headcount::{Driver, ManualClock, PoolSnapshot, Resizable, Staffing, System};

fn read(text: &str) -> Config {
    Config::parse("pools.yaml", text, &Registry::new()).unwrap_or_else(|report| panic!("{report}"))
}

#[test]
fn reloads_under_load_lose_no_task() {
    let texts = [
        "pools: {a: {preset: slo, workers: {max: 4}}}",
        "pools: {a: {preset: gopipe, workers: {max: 2}}, b: {}}",
        "pools: {a: {preset: aimd, workers: {min: 2, max: 8}}}",
        "{pools: {a: {preset: slo, workers: {max: 3}}}, budget: {workers_max: 3}}",
    ];
    let system = System::of(read(texts[0])).start().expect("no fault");
    let (ran, over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let submitters: Vec<_> = (0..2)
        .map(|_| {
            let (system, ran, over) = (system.clone(), Arc::clone(&ran), Arc::clone(&over));
            thread::spawn(move || {
                let pool = system.thread_pool("a").expect("it is always there");
                let mut accepted = 0;
                while !over.load(Ordering::Relaxed) {
                    let ran = Arc::clone(&ran);
                    pool.spawn(move || {
                        ran.fetch_add(1, Ordering::Relaxed);
                    })
                    .expect("the same pool goes on");
                    accepted += 1;
                }
                accepted
            })
        })
        .collect();
    for round in 0..100 {
        system.reload(read(texts[round % texts.len()])).expect("no fault");
    }
    over.store(true, Ordering::Relaxed);
    let joined = submitters.into_iter().map(|submitter| submitter.join().expect("no panic"));
    let accepted: u64 = joined.sum();
    let drained = system.drain(Duration::from_secs(30));
    assert!(drained.is_clean(), "{drained:?}");
    assert_eq!(ran.load(Ordering::Relaxed), accepted);
}

#[test]
fn a_pool_that_is_gone_runs_what_it_has_and_takes_no_more() {
    let system = System::of(read("pools: {a: {workers: {max: 1}}, b: {}}")).start();
    let system = system.expect("no fault");
    let pool = system.thread_pool("a").expect("it is there");
    let (release, blocked) = mpsc::channel::<()>();
    pool.spawn(move || blocked.recv().expect("released")).expect("there is room");
    let waiting = pool.submit(|| "it ran").expect("there is room");
    let reload = system.reload(read("pools: {b: {}}")).expect("no fault");
    assert_eq!((reload.removed, system.names()), (1, vec!["b".to_owned()]));
    release.send(()).expect("it waits for that");
    assert_eq!(waiting.join().expect("it was taken in"), "it ran");
    assert!(pool.spawn(|| ()).is_err(), "it takes no more");
}

#[test]
fn a_pool_of_another_type_is_made_anew_and_the_rest_stays() {
    let system = System::of(read("pools: {a: {type: limiter}, b: {}}")).start();
    let system = system.expect("no fault");
    let (limiter, other) = (system.limiter("a").expect("it is there"), system.scaler("b"));
    let reload = system.reload(read("pools: {a: {type: threads}, b: {}}")).expect("no fault");
    assert_eq!((reload.added, reload.changed, reload.removed), (0, 1, 0));
    let pool = system.thread_pool("a").expect("it is there");
    assert_eq!(pool.submit(|| 7).expect("there is room").join().expect("it ran"), 7);
    assert!(other.expect("it was there").is_active(), "untouched");
    assert!(limiter.is_closed(), "the old one takes no more");
}

#[test]
fn what_cannot_be_made_changes_nothing() {
    let system = System::of(read("pools: {a: {workers: {max: 4}}}")).start().expect("no fault");
    let before = system.config();
    // No runtime to be had here.
    let error = system.reload(read("pools: {a: {workers: {max: 2}}, b: {type: tasks}}"));
    assert!(error.is_err());
    assert_eq!(system.config(), before);
    assert_eq!(system.scaler("a").expect("it is there").policy().workers_max, Some(4));
}

#[test]
fn a_smaller_budget_holds_for_all() {
    let text = |budget: u32| {
        let pools = "{a: {preset: slo, workers: {max: 8}}, b: {preset: slo, workers: {max: 8}}}";
        read(&format!("{{pools: {pools}, budget: {{workers_max: {budget}}}}}"))
    };
    let system = System::of(text(16)).start().expect("no fault");
    system.reload(text(5)).expect("no fault");
    let deadline = std::time::Instant::now() + Duration::from_secs(30);
    while 5 < system.budget().held() {
        assert!(std::time::Instant::now() < deadline, "{:?}", system.budget().held());
        thread::yield_now();
    }
}

#[test]
fn a_pool_takes_the_place_of_another_in_a_full_budget() {
    let text = |pool: &str| {
        read(&format!(
            "{{pools: {{{pool}: {{workers: {{min: 4, max: 4}}}}}}, budget: {{workers_max: 4}}}}"
        ))
    };
    let system = System::of(text("a")).start().expect("no fault");
    let (release, blocked) = mpsc::channel::<()>();
    let pool = system.thread_pool("a").expect("it is there");
    pool.spawn(move || blocked.recv().expect("released")).expect("there is room");
    for name in ["b", "c"] {
        let reload = system.reload(text(name)).expect("the file is valid");
        assert_eq!((reload.added, reload.removed), (1, 1));
        assert_eq!(system.budget().workers_max(), 4);
    }
    release.send(()).expect("it waits for that");
}

#[test]
fn minimums_move_from_one_pool_to_another_in_a_full_budget() {
    let text = |a: u32, b: u32| {
        let pool = |min: u32| format!("{{workers: {{min: {min}, max: 4}}}}");
        let pools = format!("{{a: {}, b: {}}}", pool(a), pool(b));
        read(&format!("{{pools: {pools}, budget: {{workers_max: 4}}}}"))
    };
    let system = System::of(text(1, 3)).start().expect("no fault");
    let reload = system.reload(text(3, 1)).expect("the file is valid");
    assert_eq!((reload.changed, reload.notes), (2, Vec::new()));
    let min = |name| system.scaler(name).expect("it is there").policy().workers_min;
    assert_eq!((min("a"), min("b")), (Some(3), Some(1)));
}

#[test]
fn a_wrong_policy_or_budget_of_a_program_changes_nothing() {
    let text =
        "{pools: {a: {workers: {max: 4}}, b: {workers: {max: 4}}}, budget: {workers_max: 8}}";
    let system = System::of(read(text)).start().expect("no fault");
    let before = system.config();
    let mut crossed = read("pools: {a: {workers: {max: 2}}, b: {workers: {max: 4}}}");
    crossed.pools[1].policy.workers_min = Some(9);
    let error = system.reload(crossed).expect_err("the bounds cross");
    assert!(error.to_string().starts_with("pools.b: workers_max is 4"), "{error}");
    let mut scarce = before.clone();
    scarce.budget = Some(1);
    let error = system.reload(scarce).expect_err("one for two");
    assert!(error.to_string().starts_with("budget.workers_max is 1"), "{error}");
    assert_eq!((system.config(), system.budget().workers_max()), (before, 8));
    assert_eq!(system.scaler("a").expect("it is there").policy().workers_max, Some(4));
}

#[test]
fn two_pools_of_one_name_are_refused() {
    let mut twice = read("pools: {a: {workers: {max: 4}}, b: {}}");
    twice.pools[1].name = "a".to_owned();
    let text = "pools.a: two pools have this name; give each a name of its own";
    let error = System::of(twice.clone()).start().expect_err("a is there twice");
    assert_eq!(error.to_string(), text);
    let system = System::of(read("pools: {a: {}}")).start().expect("no fault");
    let error = system.reload(twice).expect_err("a is there twice");
    assert_eq!(error.to_string(), text);
}

#[test]
fn a_pool_of_another_type_keeps_its_name_in_state_and_trace() {
    let dir = tempfile::tempdir().expect("a directory");
    let text = |kind: &str| {
        let state = dir.path().join("state");
        let pools = format!("pools: {{a: {{type: {kind}}}}}, state: {{path: {state:?}}}");
        let trace = dir.path().join("run.jsonl");
        read(&format!("{{{pools}, trace: {{path: {trace:?}}}}}"))
    };
    let system = System::of(text("limiter")).start().expect("no fault");
    let before = system.scaler("a").expect("it is there");
    let reload = system.reload(text("threads")).expect("the name is its own");
    assert_eq!((reload.changed, before.is_active()), (1, false));
}

/// A pool without workers, all of them busy: its counters are what the test says.
#[derive(Default)]
struct Paper(Mutex<PoolSnapshot>);

impl Paper {
    fn state(&self) -> MutexGuard<'_, PoolSnapshot> {
        self.0.lock().expect("nobody panics")
    }
}

impl Resizable for Paper {
    fn snapshot(&self) -> PoolSnapshot {
        *self.state()
    }

    fn resize(&self, staffing: Staffing) {
        let counters = self.state().counters;
        let busy = PoolSnapshot::at_work(staffing, staffing.ceiling);
        *self.state() = PoolSnapshot { counters, ..busy };
    }
}

#[test]
fn what_a_pool_bears_of_a_shared_downstream_is_what_the_file_says_of_it_now() {
    let (failing, lucky) = (Arc::new(Paper::default()), Arc::new(Paper::default()));
    let (a, b) = (Arc::clone(&failing), Arc::clone(&lucky));
    let registry = Registry::new().resizable("failing", move |_| Ok(Arc::clone(&a)));
    let registry = registry.resizable("lucky", move |_| Ok(Arc::clone(&b)));
    let text = |rate_max: f64| {
        let pool = |kind: &str, rate_max: f64| {
            let rest = "preset: gopipe, workers: {max: 64}, downstream: db";
            let veto = format!("guards: {{error_veto: {{rate_max: {rate_max}}}}}");
            format!("{kind}: {{type: {kind}, {rest}, {veto}}}")
        };
        let text = format!("pools: {{{}, {}}}", pool("failing", 0.1), pool("lucky", rate_max));
        Config::parse("a.yaml", &text, &registry).unwrap_or_else(|report| panic!("{report}"))
    };
    let clock = ManualClock::default();
    let driver = Driver::by_hand(Arc::new(clock.clone()));
    let system = System::of(text(0.5)).registry(&registry).driver(&driver);
    let system = system.sensor(|| Scripted::always(HostSample::default()));
    let system = system.start().expect("no fault");
    let grows = || {
        let before = lucky.state().ceiling;
        for second in 1..5 {
            failing.state().counters.completed += 100;
            failing.state().counters.failed += 40;
            driver.run_due();
            clock.advance(Duration::from_secs(second));
        }
        before < lucky.state().ceiling
    };
    assert!(grows(), "{}", system.scaler("lucky").expect("it is there").why());
    assert!(grows(), "40 % fail, and it bears a half");
    system.reload(text(0.3)).expect("no fault");
    assert!(!grows(), "it bears less now");
}
