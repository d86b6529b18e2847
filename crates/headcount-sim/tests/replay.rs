//! Recorded runs once more: the same policy decides the same, another one is told apart, and the
//! simulation of a recording comes out as the recording did.

use std::time::Duration;

use headcount_core::decide::{DeciderConfig, Target};
use headcount_core::{
    Decision, ExtraParts, ManualTarget, Observation, Policy, PolicyConfig, PoolSnapshot, Preset,
    Staffing, Timestamp,
};
use headcount_sim::load::{Arrivals, Load, Sizes};
use headcount_sim::replay::{Again, Another, Caveat, Rehearsal, Same};
use headcount_sim::run::{PoolSetup, Setup, Simulation};

const SLO: Duration = Duration::from_millis(100);

/// No parts beside those of the policy itself.
fn none() -> ExtraParts {
    ExtraParts::default()
}

/// A preset for two to forty workers.
fn written(preset: &Preset) -> PolicyConfig {
    let bounds = (Some(2), Some(40));
    PolicyConfig { workers_min: bounds.0, workers_max: bounds.1, ..preset.config() }
}

fn known(written: &PolicyConfig) -> Policy {
    Policy::check(written, 1).expect("no fault")
}

type Rows = Vec<(Observation, Decision)>;

/// Two minutes of a load that steps up and down, under a policy.
fn record(policy: &Policy) -> Rows {
    let load = Load {
        arrivals: Arrivals::Sine { mean: 60.0, swing: 50.0, period: Duration::from_secs(40) },
        sizes: Sizes::Exponential { mean: Duration::from_millis(150) },
        span: Duration::from_secs(120),
    };
    let pool = PoolSetup::new("web", policy.clone(), load.jobs(7).expect("a load").into());
    let mut rows = Rows::new();
    let mut watch = |_: usize, observation: &Observation, decision: &Decision| {
        rows.push((observation.clone(), *decision));
    };
    Simulation::new(Setup::of(pool)).watched(&mut watch).run().expect("no rule is broken");
    rows
}

/// How many rows of each kind: identical, differing, unknown.
fn count(same: &mut Same, rows: &[(Observation, Decision)]) -> (u32, u32, u32) {
    let mut counts = (0, 0, 0);
    for (observation, decision) in rows {
        match same.tick(observation, decision) {
            Again::Identical => counts.0 += 1,
            Again::Differs(_) => counts.1 += 1,
            Again::Unknown => counts.2 += 1,
        }
    }
    counts
}

fn begun(written: &PolicyConfig) -> Same {
    let mut same = Same::default();
    same.policy(written, &none(), known(written).build().save().words()).expect("its own notes");
    same
}

#[test]
fn every_preset_decides_again_as_it_did() {
    for preset in Preset::all() {
        let written = written(&preset);
        let rows = record(&known(&written));
        assert!(2 < rows.len(), "{}", preset.name());
        let (identical, differing, unknown) = count(&mut begun(&written), &rows);
        assert_eq!((differing, unknown), (0, 0), "{}", preset.name());
        assert_eq!(identical as usize, rows.len());
    }
}

#[test]
fn a_trace_that_begins_in_the_middle_goes_on_from_its_notes() {
    let written = written(&Preset::thread_system());
    let rows = record(&known(&written));
    let (before, after) = rows.split_at(rows.len() / 2);
    let mut live = known(&written).build();
    for (observation, _) in before {
        let decision = live.tick(observation);
        if decision.resize().is_some() {
            live.applied(&decision);
        }
    }
    let mut same = Same::default();
    assert_eq!(count(&mut same, &after[..3]), (0, 0, 3), "by which policy is not known yet");
    same.policy(&written, &none(), live.save().words()).expect("its own notes");
    assert_eq!(count(&mut same, after).1, 0);
    let forgetful = count(&mut begun(&written), after).1;
    assert!(0 < forgetful, "without the notes it is another story");
}

#[test]
fn the_one_row_that_was_changed_is_found() {
    let written = written(&Preset::gopipe());
    let mut rows = record(&known(&written));
    let row = rows.len() / 2;
    rows[row].1.bounds.max += 1;
    assert_eq!(count(&mut begun(&written), &rows).1, 1);
    let again = {
        let mut same = begun(&written);
        count(&mut same, &rows[..row]);
        same.tick(&rows[row].0, &rows[row].1)
    };
    let Again::Differs(again) = again else { panic!("{again:?}") };
    assert_eq!(again.bounds.max, 40);
}

#[test]
fn not_even_the_sign_of_a_zero_may_differ() {
    let decider = Some(DeciderConfig::Target(Target::default()));
    let plain = PolicyConfig { decider, ..PolicyConfig::default() };
    let mut same = begun(&plain);
    let idle = Observation::new(Timestamp::from_secs(1), PoolSnapshot::of(Staffing::exactly(2)));
    let mut decision = known(&plain).build().tick(&idle);
    assert_eq!(same.clone().tick(&idle, &decision), Again::Identical);
    let flipped = decision.readings.iter().map(|reading| {
        let mut reading = *reading;
        reading.value = reading.value.map(|value| if value == 0.0 { -value } else { value });
        reading
    });
    let flipped: Vec<_> = flipped.collect();
    decision.readings = headcount_core::List::new();
    for reading in flipped {
        assert!(decision.readings.push(reading));
    }
    assert!(matches!(same.tick(&idle, &decision), Again::Differs(_)));
}

#[test]
fn what_a_person_asked_for_is_no_difference() {
    let written = written(&Preset::gopipe());
    let mut live = known(&written).build();
    let mut same = begun(&written);
    let pool = PoolSnapshot::at_work(Staffing::exactly(4), 4);
    let at = |second| Observation::new(Timestamp::from_secs(second), pool);

    let by_hand = live.tick_by_hand(&at(1), 9);
    live.applied(&by_hand);
    assert_eq!(same.tick(&at(1), &by_hand), Again::Identical);
    let next = live.tick(&at(2));
    assert_eq!(same.tick(&at(2), &next), Again::Identical);

    live.set_manual(Some(ManualTarget { workers: 7, until: None }));
    same.policy(&written, &none(), live.save().words()).expect("its own notes");
    let held = live.tick(&at(3));
    assert_eq!(same.tick(&at(3), &held), Again::Identical);
    let mut another = held;
    another.to = Staffing::exactly(30);
    assert!(matches!(same.tick(&at(3), &another), Again::Differs(_)));
}

#[test]
fn notes_of_parts_that_are_not_ours_are_refused() {
    let notes = known(&written(&Preset::spool())).build().save();
    let mut same = begun(&written(&Preset::gopipe()));
    let error =
        same.policy(&written(&Preset::gopipe()), &none(), notes.words()).expect_err("others");
    assert!(error.to_string().contains("parts of one's own are not in a trace"), "{error}");
    let rows = record(&known(&written(&Preset::gopipe())));
    assert_eq!(count(&mut same, &rows[..2]), (0, 0, 2), "what follows is not known");
    let crossed = PolicyConfig { workers_max: Some(1), ..written(&Preset::gopipe()) };
    let error = same.policy(&crossed, &none(), &[]).expect_err("no policy");
    assert!(error.to_string().starts_with("the recorded policy is refused: workers_max is 1"));
}

/// `other` beside `preset`: the share of time for which the sizes differ.
fn apart(preset: &Preset, other: &Preset) -> (Another, f64) {
    let (recorded, other) = (written(preset), known(&written(other)));
    let notes = known(&recorded).build().save();
    let mut another =
        Another::new(&other, &recorded, &none(), notes.words()).expect("its own notes");
    for (observation, decision) in record(&known(&recorded)) {
        another.tick(&observation, &decision);
    }
    let (seconds, apart) = another.seconds();
    (another, apart / seconds)
}

#[test]
fn a_policy_beside_itself_is_the_same_all_the_time() {
    for preset in Preset::all() {
        let (another, apart) = apart(&preset, &preset);
        assert!(apart <= 0.0, "{}: {apart}", preset.name());
        let [recorded, other] = another.totals();
        assert_eq!(recorded, other, "{}", preset.name());
    }
}

#[test]
fn another_policy_has_sizes_and_totals_of_its_own() {
    let (another, apart) = apart(&Preset::target(), &Preset::slo(SLO));
    let [target, slo] = another.totals();
    assert!(0.5 < apart, "{apart}: {target:?} {slo:?}");
    assert!((target.ceiling_seconds - target.floor_seconds).abs() < 1e-9, "one number");
    assert!(slo.floor_seconds < slo.ceiling_seconds, "a band to hire in: {slo:?}");
    assert!(0 < target.reversals && target.reversals < target.changes, "{target:?}");
}

fn rehearsal(rows: &Rows) -> Rehearsal {
    let mut rehearsal = Rehearsal::default();
    for (observation, decision) in rows {
        rehearsal.tick(observation, decision);
    }
    rehearsal
}

#[test]
fn a_recorded_run_is_simulated_as_it_went() {
    for preset in [Preset::slo(SLO), Preset::gopipe(), Preset::aimd(), Preset::target()] {
        let policy = known(&written(&preset));
        let rehearsal = rehearsal(&record(&policy));
        let again = rehearsal.simulate(&policy, SLO).expect("few").expect("tasks ended");
        let agreement = rehearsal.agreement(&again);
        assert!(agreement.worst() < 0.1, "{}: {agreement:?}", preset.name());
        assert_eq!(again.score.jobs, rehearsal.tasks());
        let twice = rehearsal.simulate(&policy, SLO).expect("few");
        assert_eq!(twice, Some(again), "the same at every replay");
    }
}

#[test]
fn of_two_policies_the_better_one_is_known_from_a_recording() {
    let (slow, quick) = (known(&written(&Preset::gopipe())), known(&written(&Preset::slo(SLO))));
    let rehearsal = rehearsal(&record(&slow));
    let late = |policy| {
        let simulated = rehearsal.simulate(policy, SLO).expect("few").expect("tasks ended");
        simulated.score.late_percent()
    };
    assert!(late(&quick) < 1.0, "{}", late(&quick));
    assert!(5.0 < late(&slow), "{}", late(&slow));
}

#[test]
fn a_recording_in_which_nothing_ended_is_not_simulated() {
    let policy = known(&written(&Preset::gopipe()));
    let busy = PoolSnapshot::at_work(Staffing::exactly(2), 2);
    let seen = Observation::new(Timestamp::from_secs(1), busy);
    let decision = policy.build().tick(&seen);
    assert_eq!(rehearsal(&vec![(seen, decision)]).simulate(&policy, SLO), Ok(None));
}

#[test]
fn what_is_left_out_is_said() {
    let policy = known(&written(&Preset::gopipe()));
    let mut rehearsal = Rehearsal::default();
    rehearsal.policy(&written(&Preset::gopipe()));
    rehearsal.policy(&written(&Preset::gopipe()));
    rehearsal.policy(&written(&Preset::aimd()));
    let pool = PoolSnapshot {
        queued: 5,
        queue_len_max: Some(5),
        ..PoolSnapshot::at_work(Staffing::exactly(2), 2)
    };
    let seen = Observation { pool, allowance: Some(3), ..Observation::default() };
    let mut autoscaler = policy.build();
    rehearsal.tick(&seen, &autoscaler.tick(&seen));
    rehearsal.tick(&seen, &autoscaler.tick_by_hand(&seen, 3));
    let expected = [Caveat::LineFull(2), Caveat::Shared(2), Caveat::ByHand(1), Caveat::Changed(1)];
    assert_eq!(rehearsal.caveats(), expected);
}
