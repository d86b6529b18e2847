//! A folder of its own for each test, with traces in it.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use headcount::trace::{Recorder, RecorderConfig, Row};
use headcount::{
    Decision, Driver, ExtraParts, Extras, ManualClock, Mode, Observation, Policy, PolicyConfig,
    PoolSnapshot, Preset, Resizable, Scaler, Staffing,
};
use headcount_sim::load::{Arrivals, Load, Sizes};
use headcount_sim::run::{PoolSetup, Setup, Simulation};

pub(crate) use crate::folder::Folder as Place;

impl Place {
    /// What is in a file that must be there, with something in it.
    pub(crate) fn found(&self, name: &str) -> String {
        let text = self.read(name);
        assert!(!text.is_empty(), "{name} has something in it");
        text
    }

    /// Runs `headcount` here, and returns its exit code and all that it says.
    pub(crate) fn headcount(&self, words: &[&str]) -> (Option<i32>, String) {
        let outcome = self.execute(words, b"");
        (outcome.code, outcome.text() + &outcome.err)
    }

    /// Replays, and sees that it exits and speaks as expected.
    #[track_caller]
    pub(crate) fn check(&self, words: &[&str], code: i32, expected: &str) {
        let (exit, text) = self.headcount(&[&["replay"], words].concat());
        assert_eq!(exit, Some(code), "{words:?}: {text}");
        assert!(text.contains(expected), "{words:?} does not say {expected:?}: {text}");
    }

    /// Records a run in virtual time, with everything in it that a person may do meanwhile.
    pub(crate) fn record(&self, name: &str, config: RecorderConfig) {
        self.record_with(name, config, Extras::default);
    }

    /// The same for scalers with parts of one's own.
    pub(crate) fn record_with(&self, name: &str, config: RecorderConfig, extras: fn() -> Extras) {
        let recorder = Recorder::create(self.path(name), config).expect("it can be made");
        let clock = ManualClock::default();
        let driver = Driver::by_hand(Arc::new(clock.clone()));
        let pools = ["thumbs", "mail"].map(|name| {
            let pool = Paper::default();
            let scaler = Scaler::of(pool.clone()).name(name).policy(up_to_eight(&Preset::gopipe()));
            let scaler = scaler.extras(extras).trace(&recorder).driver(&driver);
            let scaler = scaler.start().expect("no fault");
            (pool, scaler)
        });
        for second in 0..60 {
            for (pool, _) in &pools {
                pool.set(|pool| pool.busy = if second % 9 < 5 { pool.live } else { 0 });
            }
            act(second, &pools[0].1);
            for _ in 0..10 {
                driver.run_due();
                clock.advance(Duration::from_millis(100));
            }
        }
        assert_eq!(recorder.lost(), 0);
    }

    /// Two minutes of a load that swings, simulated under a preset, as a trace.
    pub(crate) fn simulate(&self, name: &str, preset: &Preset) {
        let config = up_to_eight(preset);
        let policy = Policy::check(&config, 1).expect("no fault");
        let load = Load {
            arrivals: Arrivals::Sine { mean: 30.0, swing: 25.0, period: Duration::from_secs(60) },
            sizes: Sizes::Exponential { mean: Duration::from_millis(100) },
            span: Duration::from_secs(120),
        };
        let jobs = load.jobs(7).expect("a load");
        let notes = policy.build().save().words().to_vec();
        let pool = || "web".to_owned();
        let mut text = "{\"headcount_trace\":1}\n".to_owned();
        let mut write = |row: &Row| {
            let row = serde_json::to_string(row).expect("a row can be written");
            writeln!(text, "{row}").expect("there is room");
        };
        let extras = ExtraParts::default();
        write(&Row::Policy { pool: pool(), policy: Box::new(config), notes, extras });
        let mut watch = |_: usize, observation: &Observation, decision: &Decision| {
            let (observation, decision) = (Box::new(observation.clone()), Box::new(*decision));
            write(&Row::Tick { pool: pool(), observation, decision });
        };
        let setup = Setup::of(PoolSetup::new("web", policy, jobs.into()));
        Simulation::new(setup).watched(&mut watch).run().expect("no rule is broken");
        self.write(name, text);
    }
}

fn up_to_eight(preset: &Preset) -> PolicyConfig {
    let bounds = (Some(1), Some(8));
    PolicyConfig { workers_min: bounds.0, workers_max: bounds.1, ..preset.config() }
}

/// What a person does at that second.
fn act(second: u32, scaler: &Scaler) {
    match second {
        10 => drop(scaler.scale_to(6)),
        20 => scaler.hold_at(3, Some(Duration::from_secs(4))),
        30 => scaler.set_mode(Mode::Advise),
        35 => scaler.set_mode(Mode::Automatic),
        40 => scaler.set_policy(up_to_eight(&Preset::aimd())).expect("no fault"),
        50 => scaler.hold_at(2, None),
        55 => scaler.release(),
        _ => {}
    }
}

/// A pool without workers: its state is what the test says, its size what it was last told.
#[derive(Clone, Default)]
struct Paper(Arc<Mutex<PoolSnapshot>>);

impl Paper {
    fn set(&self, change: impl FnOnce(&mut PoolSnapshot)) {
        let mut pool = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut pool);
        pool.parked = pool.live - pool.busy;
    }
}

impl Resizable for Paper {
    fn snapshot(&self) -> PoolSnapshot {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Workers come and go at once.
    fn resize(&self, staffing: Staffing) {
        self.set(|pool| {
            (pool.floor, pool.ceiling) = (staffing.floor, staffing.ceiling);
            pool.live = pool.live.clamp(staffing.floor, staffing.ceiling);
            pool.busy = pool.busy.min(pool.live);
        });
    }
}
