//! Parts of one's own, and what they are told.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use headcount::config::{Config, Registry};
use headcount::probes::{HostSample, Scripted};
use headcount::{Clock, Driver, ManualClock, System};
use headcount_core::guard::{Because, Guard, Ruling};
use headcount_core::{Name, Situation, Staffing};

/// No more workers than this.
#[derive(Debug)]
pub(crate) struct Licences(pub(crate) u32);

impl Guard for Licences {
    fn name(&self) -> &'static str {
        "licences"
    }

    fn is_limit(&self) -> bool {
        true
    }

    fn review(&self, situation: &Situation<'_>, wanted: Staffing) -> Ruling {
        let because = Because::Said(Name::new("all_taken").expect("a name"));
        Ruling::of(situation.from(), wanted, wanted.at_most(self.0), because)
    }
}

#[test]
fn a_maker_that_fails_later_leaves_nothing_out() {
    let fails = Arc::new(AtomicBool::new(false));
    let failing = Arc::clone(&fails);
    let registry =
        Registry::new().guard("licences", move |_| match failing.load(Ordering::SeqCst) {
            true => Err("the server of licences is away".to_owned()),
            false => Ok(Licences(2)),
        });
    let text = "pools: {a: {workers: {max: 8}, guards: {registered: [{type: licences}]}}}";
    let config = Config::parse("a.yaml", text, &registry).expect("no fault");
    let system = System::of(config).registry(&registry).start().expect("no fault");
    let scaler = system.scaler("a").expect("it is there");
    fails.store(true, Ordering::SeqCst);
    scaler.set_policy(scaler.policy()).expect("no fault");
    let decision = scaler.evaluate_now();
    let asked = decision.rulings.iter().any(|review| review.guard.as_str() == "licences");
    assert!(asked, "{}", decision.explain());
}

#[test]
fn the_machine_is_measured_by_the_clock_of_the_driver() {
    let clock = ManualClock::default();
    clock.advance(Duration::from_secs(1_000_000));
    let driver = Driver::by_hand(Arc::new(clock.clone()));
    let well = Scripted::always(HostSample { io_wait: Some(0.0), ..HostSample::default() });
    let config = Config::parse("a.yaml", "pools: {a: {}}", &Registry::new()).expect("no fault");
    let system = System::of(config).driver(&driver).sensor(move || well.clone()).start();
    let system = system.expect("no fault");
    let latest = system.sampler().latest().expect("it was measured");
    assert_eq!(latest.measured_at, clock.now());
}
