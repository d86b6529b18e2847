//! Parts of one's own, and what they are told.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use headcount::config::{Config, Registry};
use headcount::probes::{HostSample, Scripted};
use headcount::{
    Clock, Driver, ManualClock, Name, Observation, PoolSnapshot, Preset, Reason, Staffing, System,
    Timestamp,
};
use headcount_core::decide::Decider;
use headcount_core::guard::{Because, Guard, Ruling};
use headcount_core::{Proposal, Situation};

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

/// Wants as many workers as the file says.
#[derive(Clone, Debug)]
struct Just(u32);

impl Decider for Just {
    fn decide(&mut self, _: &Situation<'_>) -> Proposal {
        Proposal::want(Staffing::exactly(self.0), Reason::External)
    }
}

#[test]
fn a_registered_decider_is_a_part_of_composites() {
    let registry = Registry::new().decider("just", |options| {
        Ok(Just(u32::try_from(options.count("workers")?).map_err(|error| error.to_string())?))
    });
    let check = |decider: &str, wanted: u32| {
        let text = format!("pools: {{a: {{workers: {{max: 64}}, decider: {decider}}}}}");
        let config = Config::parse("a.yaml", &text, &registry);
        let config = config.unwrap_or_else(|report| panic!("{report}"));
        let mut autoscaler = config.pools[0].autoscaler(&registry).expect("it can be made");
        let idle = PoolSnapshot::at_work(Staffing::exactly(4), 0);
        let decision = autoscaler.tick(&Observation::new(Timestamp::from_secs(60), idle));
        let proposed = decision.proposal.wanted.map(|wanted| wanted.ceiling);
        assert_eq!(proposed, Some(wanted), "{decider}: {}", decision.explain());
    };
    let of = |combine: &str, parts: &str| {
        format!("{{type: composite, combine: {combine}, parts: [{parts}]}}")
    };
    let (three, nine) = ("{type: just, workers: 3}", "{type: just, workers: 9, weight: 2}");
    check(&of("max", &format!("{three}, {nine}")), 9);
    check(&of("min", &format!("{three}, {nine}")), 3);
    check(&of("weighted", &format!("{three}, {nine}")), 7);
    check(&of("max", &format!("{{type: all_busy}}, {three}")), 4);
    check(&of("max", &format!("{three}, {}", of("min", &format!("{nine}, {three}, {nine}")))), 3);

    let system = of("max", &format!("{{type: all_busy}}, {nine}"));
    let text = format!("pools: {{a: {{workers: {{max: 64}}, decider: {system}}}}}");
    let config = Config::parse("a.yaml", &text, &registry).expect("no fault");
    let system = System::of(config).registry(&registry).start().expect("no fault");
    let scaler = system.scaler("a").expect("it is there");
    assert_eq!(scaler.evaluate_now().proposal.wanted, Some(Staffing::exactly(9)));
    let error = scaler.set_policy(Preset::gopipe()).expect_err("it has no parts");
    assert!(error.to_string().starts_with("decider.parts[1] is all_busy; "), "{error}");
}

#[test]
fn a_pool_goes_by_the_clock_that_its_file_names() {
    let read = |timezone: &str| {
        let text = format!("pools: {{here: {{}}, there: {{timezone: \"{timezone}\"}}}}");
        Config::parse("a.yaml", &text, &Registry::new()).expect("no fault")
    };
    let driver = Driver::by_hand(Arc::new(ManualClock::default()));
    let system = System::of(read("+02:00")).driver(&driver);
    let system = system.sensor(|| Scripted::always(HostSample::default()));
    let system = system.start().expect("no fault");
    let seconds_ahead = || {
        driver.run_due();
        let second_of_week = |name: &str| {
            let scaler = system.scaler(name).expect("it is there");
            let calendar = scaler.observation().expect("it looked").calendar.expect("after 1970");
            calendar.weekday() as i64 * 86_400 + i64::from(calendar.second_of_day())
        };
        (second_of_week("there") - second_of_week("here")).rem_euclid(7 * 86_400)
    };
    // They do not look in the same second.
    let near = |seconds: i64| seconds - 20..seconds + 20;
    assert!(near(7_200).contains(&seconds_ahead()), "{}", seconds_ahead());
    system.reload(read("-03:30")).expect("no fault");
    let ahead = 7 * 86_400 - 12_600;
    assert!(near(ahead).contains(&seconds_ahead()), "{}", seconds_ahead());
}
