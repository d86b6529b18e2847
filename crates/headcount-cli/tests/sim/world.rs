//! Several nodes, machines that are sick, and everything else that goes wrong.

use crate::place::{Place, numbers};

/// Half a minute of work for ten workers.
const LOAD: &str = "--arrivals poisson:100/s --service exp:100ms --span 30s --latency 1s";

/// A number of each policy.
#[track_caller]
fn told<const N: usize>(flags: &str, key: &str) -> [f64; N] {
    let numbers = numbers(&Place::new(), &format!("{LOAD} {flags} --checked"), key);
    numbers.try_into().expect("a number for each policy")
}

#[test]
fn nodes_meet_a_knee_together_and_no_job_is_lost() {
    let fixed = "--policy fixed:8 --nodes 3";
    let [jobs] = told("--policy fixed:24", "jobs");
    let [dealt] = told(fixed, "jobs");
    assert!((jobs - dealt).abs() < 1e-9, "{jobs} {dealt}");
    let [peak] = told(fixed, "peak");
    assert!((peak - 24.0).abs() < 1e-9, "{peak}");
    let late = |flags: &str| told::<1>(&format!("--policy on_demand {flags}"), "late_percent")[0];
    let (free, knee) = (late("--nodes 3"), late("--nodes 3 --knee 8"));
    assert!(free < 1.0 && 50.0 < knee, "no node has 8 of its own: {free} {knee}");
}

#[test]
fn nodes_stay_within_their_budget() {
    let flags = "--policy slo --policy on_demand --nodes 3";
    let free: [f64; 2] = told(flags, "peak");
    let within: [f64; 2] = told(&format!("{flags} --budget 12"), "peak");
    assert!(free.iter().all(|peak| 12.0 < *peak), "{free:?}");
    assert!(within.iter().all(|peak| *peak <= 12.0), "{within:?}");
    Place::new().refused(&format!("{LOAD} --nodes 3 --min 2 --budget 5"), {
        "--budget is 5, and the minimum of slo is 2 on each of 3 nodes; make it 6 at least, or \
         the minimum smaller"
    });
}

#[test]
fn decisions_are_told_node_by_node() {
    let flags = format!("{LOAD} --nodes 2,dealt=chance --policy gopipe --explain --svg out.svg");
    let (place, other) = (Place::new(), Place::new());
    let out = place.well(&flags);
    assert!(out.contains(" workers on 2 nodes, promised "), "{out}");
    assert!(out.contains("  node 1: grow ") && out.contains("  node 2: grow "), "{out}");
    assert_eq!(out, other.well(&flags), "the same seed, the same bytes");
    assert_eq!(place.read("out.svg"), other.read("out.svg"));
}

#[test]
fn a_sick_machine_is_heeded_while_its_sensors_can_be_trusted() {
    let both = "--policy on_demand --policy on_demand+health";
    let well: [f64; 2] = told(both, "worker_seconds");
    assert!((well[0] - well[1]).abs() < 1e-9, "nothing to heed: {well:?}");
    let sick = format!("{both} --sick 10s..20s,score=10,knee=4");
    let heeded: [f64; 2] = told(&sick, "worker_seconds");
    assert!(heeded[1] < 0.7 * heeded[0], "{heeded:?}");
    let [late, _] = told(&sick, "late_percent");
    assert!(10.0 < late, "a machine that runs four at full speed: {late}");
    let stuck: [f64; 2] = told(&format!("{sick} --sensors-stuck 5s"), "worker_seconds");
    assert!((stuck[0] - stuck[1]).abs() < 1e-9, "nobody knows: {stuck:?}");
}

#[test]
fn one_node_is_sick_and_the_others_are_not() {
    let late = |flags: &str| told::<1>(&format!("--policy on_demand {flags}"), "late_percent")[0];
    let one = late("--nodes 3 --sick 5s..30s,knee=1,node=2");
    let all = late("--nodes 3 --sick 5s..30s,knee=1");
    assert!((15.0..35.0).contains(&one) && 2.5 * one < all, "a third of them: {one} {all}");
    let place = Place::new();
    place.refused(&format!("{LOAD} --nodes 2 --sick 1s..2s,knee=1,node=3"), {
        "--sick is for node 3 of 2; make --nodes larger"
    });
    place.refused(&format!("{LOAD} --sick 1s..9s,knee=1 --sick 5s..12s,score=10"), {
        "--sick until 9s and from 5s on are the same machine twice at once; make one end before \
         the other begins"
    });
}

#[test]
fn hires_fail_and_workers_die() {
    let [spawns] = told("--policy on_demand", "spawns");
    let failing = "--policy on_demand --hire-fails 50%";
    let [failed] = told(failing, "wait_p99_s");
    assert!(0.005 < failed, "a job waits until somebody comes: {failed}");
    let [dying] = told("--policy on_demand --worker-dies 10%", "spawns");
    assert!(spawns + 200.0 < dying, "each that died is followed by another: {spawns} {dying}");
}

#[test]
fn a_downstream_refuses_and_drifts() {
    let goodput = |flags: &str| told::<1>(&format!("--policy on_demand {flags}"), "goodput")[0];
    let (free, refusing) = (goodput(""), goodput("--refuse 5,share=30%"));
    assert!(0.99 < free && (0.65..0.8).contains(&refusing), "{free} {refusing}");
    let (few, within) = (goodput("--max 5"), goodput("--max 5 --refuse 5,share=30%"));
    assert!((few - within).abs() < 1e-9, "five are not more than five: {few} {within}");
    let late = |flags: &str| told::<1>(&format!("--policy on_demand {flags}"), "late_percent")[0];
    let (falls, rises) = (late("--knee-drift 30..4"), late("--knee-drift 30..40"));
    assert!(10.0 < falls && rises < 1.0, "{falls} {rises}");
}

#[test]
fn classes_come_by_their_weight() {
    let flags = "--arrivals poisson:50/s --span 60s --policy fixed:99 --service";
    let work =
        |service: &str| numbers(&Place::new(), &format!("{flags} {service}"), "work_seconds")[0];
    let share = work("classes:3=const:10ms+1=const:1010ms") / work("const:260ms");
    assert!((0.9..1.1).contains(&share), "{share}");
}

#[test]
fn what_makes_no_sense_is_refused_in_a_sentence() {
    for (flags, sentence) in [
        ("--nodes 0", "\"0\" is no number of nodes; write 1 to 64, as in 3 or 3,dealt=chance"),
        ("--sick 9s..5s,knee=3", "\"9s..5s,knee=3\" is no sickness; write 60s..120s,score=20"),
        ("--seed -1", "\"-1\" is no seed; write a whole number from 0 on"),
        ("--sensors-stuck soon", "\"soon\" is no span of time"),
        ("--hire-fails 5x", "\"5x\" is no share; write 1% or 0.01"),
        ("--worker-dies 200%", "\"200%\" is no share; write 1% or 0.01"),
        ("--worker-dies 100%", "\"100%\" leaves too few workers alive; write 90% or less"),
        ("--refuse 50", "\"50\" is no refusal; write 50,share=30%"),
        ("--knee-drift 60", "\"60\" is no drift of the knee; write 60..40"),
        ("--knee-drift 60..40 --knee 9", "cannot be used with"),
        ("--knee-drift 60..40 --knee-change 9s=9", "cannot be used with"),
        ("--policy fixed:8+health", "\"fixed:8+health\" is no number of workers; write fixed:8"),
        ("--policy fast+health", "no preset is called \"fast\"; there are slo"),
    ] {
        let told = Place::new().sim(&format!("{LOAD} {flags}"));
        assert_eq!(told.code, Some(2), "{flags}: {told:?}");
        assert!(told.err.contains(sentence), "{flags}: {told:?}");
    }
}
