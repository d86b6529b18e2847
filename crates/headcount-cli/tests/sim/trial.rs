//! A few policies side by side on one load.

use crate::place::{Place, minute, numbers};

/// Half a minute of work for two workers.
const LOAD: &str = "--arrivals poisson:20/s --service exp:100ms --span 30s";

const POOLS: &[u8] = b"pools:\n  \
    api: {preset: slo, workers: {min: 2, max: 3}}\n  \
    mail: {preset: gopipe, workers: {min: 4, max: 4}}\n";

/// The words at the beginning of the rows of the table.
fn names(out: &str) -> Vec<&str> {
    let rows = out.lines().skip(2).take_while(|line| !line.is_empty());
    rows.filter_map(|line| line.split_whitespace().next()).collect()
}

#[test]
fn policies_stand_side_by_side_in_the_order_in_which_they_were_named() {
    let place = Place::new();
    let out = place.well(&format!("{LOAD} --policy hpa/15 --policy slo --policy fixed:1"));
    assert_eq!(names(&out), ["policy", "hpa/15", "slo", "fixed:1"], "{out}");
    assert!(out.contains("workers, promised to wait 100ms at most; seed 1; the bound J* is 1."));
    let flags = format!("{LOAD} --policy slo --policy fixed:1");
    let late = numbers(&place, &flags, "late_percent");
    assert!(late[0] < 1.0 && 50.0 < late[1], "one worker is too few for two: {late:?}");
    assert_eq!(names(&place.well(LOAD)), ["policy", "slo"], "ours where none is named");
}

/// Ten workers are busy; three would look perfect for as long as nobody's minute is over.
#[test]
fn who_leaves_work_undone_is_late_and_told_so() {
    let place = Place::new();
    let load = "--arrivals poisson:10/s --service exp:1s --slo 60s --span 1m";
    let flags = format!("{load} --policy fixed:3 --policy fixed:11");
    let late = numbers(&place, &flags, "late_percent");
    assert!(40.0 < late[0] && late[1] < 1.0, "{late:?}");
    let done = numbers(&place, &flags, "done");
    assert!((0.5..0.75).contains(&done[0]) && (done[1] - 1.0).abs() < 1e-9, "{done:?}");
    let out = place.well(&flags);
    let note = out.lines().last().expect("some lines");
    assert!(note.starts_with("fixed:3 did ") && note.contains(" % of the work"), "{out}");
    assert!(!out.contains("fixed:11 did"), "{out}");
}

#[test]
fn a_load_that_has_no_length_is_not_divided_by_it() {
    let place = Place::new();
    let head = |name: &str, lines: &str| {
        place.write(name, format!("t_seconds,service_seconds\n{lines}").as_bytes());
        let out = place.well(&format!("--jobs {name} --policy fixed:1"));
        out.lines().next().unwrap_or_default().to_owned()
    };
    let one = head("one.csv", "5,1\n");
    assert!(one.starts_with("1 job in no time, 1.00 s of work, promised"), "{one}");
    let three = head("three.csv", "5,1\n5,1\n5,0.5\n");
    assert!(three.starts_with("3 jobs in no time, 2.50 s of work, promised"), "{three}");
    let soon = head("soon.csv", "5,1\n5.1,1\n");
    assert!(soon.starts_with("2 jobs in less than a second, 2.00 s of work, promised"), "{soon}");
    let two = head("two.csv", "5,1\n7,1\n");
    assert!(two.starts_with("2 jobs in 2s, work for 1.0 workers, promised"), "{two}");
}

#[test]
fn a_tempo_makes_a_policy_quicker() {
    let flags = format!("{LOAD} --policy hpa --policy hpa/60");
    let late = numbers(&Place::new(), &flags, "late_percent");
    assert!(late[1] < late[0], "{late:?}");
}

#[test]
fn the_same_seed_makes_the_same_bytes() {
    let place = Place::new();
    let with = |seed: &str| place.well(&format!("{LOAD} --policy slo --policy keda {seed}"));
    assert_eq!(with("--seed 7"), with("--seed 7"));
    assert_ne!(with("--seed 7"), with("--seed 8"));
}

#[test]
fn a_load_comes_from_files() {
    let place = Place::new();
    place.write("web_1s.arrivals.csv", minute().as_bytes());
    place.write("web.jobs.csv", b"t_seconds,service_seconds\n100,0.5\n102,0.1\n109,0.1\n");
    let jobs = |flags: &str| numbers(&place, flags, "jobs")[0];
    let expected = 470.0;
    let drawn = jobs("--trace web_1s.arrivals.csv --service exp:50ms");
    assert!((expected - 100.0..expected + 100.0).contains(&drawn), "{drawn}");
    let half = jobs("--trace web_1s.arrivals.csv --jobs web.jobs.csv --span 30s");
    assert!(half < 0.6 * drawn, "{half} of {drawn} come in the first half minute");
    assert!((jobs("--jobs web.jobs.csv") - 3.0).abs() < 1e-9, "just as they are listed");
    assert!((jobs("--jobs web.jobs.csv --span 5s") - 2.0).abs() < 1e-9);
}

#[test]
fn a_policy_comes_from_a_file_with_its_bounds() {
    let place = Place::new();
    place.write("pools.yaml", POOLS);
    let crowd = "--arrivals poisson:100/s --service exp:100ms --span 10s";
    let both = format!("{crowd} --policy pools.yaml:api --policy pools.yaml:mail");
    assert_eq!(numbers(&place, &both, "peak"), [3.0, 4.0]);
    let chosen = format!("{crowd} --policy pools.yaml --pool api");
    assert_eq!(numbers(&place, &chosen, "peak"), [3.0]);
    assert_eq!(numbers(&place, &format!("{chosen} --max 2 --min 1"), "peak"), [2.0]);
    place.refused(&format!("{crowd} --policy pools.yaml"), {
        "pools.yaml: there are several pools (api, mail); say which with --pool"
    });
    place.refused(&format!("{crowd} --policy pools.yaml:web"), {
        "pools.yaml: no pool is called \"web\"; there are api, mail"
    });
    place.write("patient.yaml", b"pools: {a: {preset: on_demand, wait_budget: 2s}}\n");
    let waits = numbers(&place, &format!("{crowd} --policy patient.yaml"), "wait_p99_s");
    assert!(1.0 < waits[0], "a worker is hired after 2 s only: {waits:?}");
    let told = place.sim(&format!("{crowd} --policy none.yaml"));
    assert!(told.code == Some(2) && told.err.contains("none.yaml: it cannot be opened"));
}

#[test]
fn the_world_is_as_it_was_described() {
    let place = Place::new();
    let crowd = "--arrivals poisson:200/s --service exp:100ms --span 20s --policy on_demand";
    let late = |flags: &str| numbers(&place, &format!("{crowd} {flags}"), "late_percent")[0];
    let latency = "--latency 1s";
    let free = late(latency);
    let knee = late(&format!("{latency} --knee 15"));
    let browned = late(&format!("{latency} --knee 60 --knee-change 10s=10"));
    assert!(free < 1.0 && 50.0 < knee && 25.0 < browned, "{free} {knee} {browned}");

    let goodput = |flags: &str| numbers(&place, &format!("{crowd} {flags}"), "goodput")[0];
    let failing = goodput("--fail 50% --latency 30s");
    assert!((0.4..0.6).contains(&failing), "{failing}");
    let tried_again = goodput("--fail 50% --retries 5 --latency 300s");
    assert!(0.7 < tried_again, "{tried_again}");
    let few = "--max 5 --queue-limit 3";
    let wait = numbers(&place, &format!("{crowd} {few}"), "wait_p99_s")[0];
    assert!(wait < 1.0, "nobody waits long where only three may: {wait}");
    let expired = format!("{crowd} --max 5 --expire-after 50ms");
    let wait = numbers(&place, &expired, "wait_p99_s")[0];
    assert!(wait < 0.5, "nobody waits long where the others are dropped: {wait}");
    let slow = numbers(&place, &format!("{crowd} --spawn-delay 5s"), "wait_p99_s")[0];
    assert!(2.0 < slow, "workers that start late make jobs wait: {slow}");
    let j = |flags: &str| numbers(&place, &format!("{crowd} {flags}"), "j")[0];
    let (cheap, dear) = (j("--spawn-cost 0"), j("--spawn-cost 1m"));
    assert!(cheap + 1.0 < dear, "{cheap} {dear}");
}

#[test]
fn a_run_is_checked_with_all_that_goes_wrong() {
    let place = Place::new();
    let trouble = "--checked --fail 20% --retries 2 --knee 3 --queue-limit 50 --expire-after 2s";
    let out = place.well(&format!("{LOAD} {trouble} --policy slo --policy celery"));
    assert_eq!(names(&out), ["policy", "slo", "celery"]);
}

#[test]
fn decisions_are_told_and_drawn() {
    let place = Place::new();
    let flags = "--policy gopipe --policy slo --explain --svg out.svg --html out.html";
    let out = place.well(&format!("{LOAD} {flags}"));
    assert!(out.contains("gopipe: ") && out.contains("grow 1 to 2: wants 2 (all busy)"), "{out}");
    let (svg, html) = (place.read("out.svg"), place.read("out.html"));
    assert!(svg.starts_with("<svg") && svg.contains("gopipe") && svg.contains("demand"));
    assert!(html.starts_with("<!DOCTYPE html>") && html.contains("grow 1 to 2"), "{html}");
    assert!(html.contains("<td>slo</td>"), "the table is in it");
    for foreign in ["<script", "src=", "href=", "@import", "url("] {
        assert!(!html.contains(foreign), "a page that needs nothing else has no {foreign}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_in_a_sentence() {
    let place = Place::new();
    place.refused("", {
        "there is no load; give --arrivals, as in --arrivals poisson:50/s --service exp:100ms, or \
         --trace FILE, or --jobs FILE"
    });
    place.refused("--arrivals poisson:5/s", {
        "nobody says how long jobs take; give --service, as in --service exp:100ms, or --jobs FILE"
    });
    place.refused("--arrivals poisson:0/s --service exp:1s", {
        "no job comes at all; make the rate or --span larger"
    });
    place.refused("--arrivals poisson:1e8/s --service exp:1s", {
        "this is about 60000000000 jobs, more than 20000000; make the span or the rate smaller"
    });
    place.refused(&format!("{LOAD} --span 9000d").replace("--span 30s ", ""), {
        "--span is longer than a year; make it shorter"
    });
    place.refused(&format!("{LOAD} --min 9 --max 3"), {
        "--policy slo cannot be run: workers_max is 3; it must be at least workers_min, which is 9"
    });
    place.refused(&format!("{LOAD} --policy fixed:0"), {
        "\"fixed:0\" is no number of workers; write fixed:8"
    });
    place.refused(&format!("{LOAD} --policy hpa/fast"), {
        "\"fast\" is no tempo; write a number from 1 on, as in hpa/15"
    });
    place.refused(&format!("{LOAD} --svg nowhere/out.svg"), {
        "nowhere/out.svg: it cannot be written: No such file or directory (os error 2)"
    });
    for (flags, sentence) in [
        ("--policy fast", "no preset is called \"fast\"; there are slo, throughput"),
        ("--arrivals often", "\"often\" is no way for jobs to come; write poisson:50/s"),
        ("--service soon", "\"soon\" is no size of jobs; write lognormal:100ms,scv=2"),
        ("--knee 0", "\"0\" is no knee; write a number of workers, as in 40"),
        ("--knee-change 5s=3", "--knee <N>"),
        ("--fail 200%", "\"200%\" is no share; write 1% or 0.01"),
        ("--slo soon", "\"soon\" is no span of time"),
        ("--slo 1s --latency 1s", "cannot be used with"),
    ] {
        let load = if flags.starts_with("--arr") || flags.starts_with("--ser") { "" } else { LOAD };
        let told = place.sim(&format!("{load} {flags}"));
        assert_eq!(told.code, Some(2), "{flags}: {told:?}");
        assert!(told.err.contains(sentence), "{flags}: {told:?}");
    }
}

/// Of the bound, with these policies.
fn bounds(place: &Place, flags: &str, policies: &[&str]) -> Vec<f64> {
    let policies = policies.join(" --policy ");
    let mut bounds = numbers(place, &format!("{flags} --policy {policies}"), "j_bound");
    bounds.dedup();
    bounds
}

#[test]
fn the_bound_does_not_depend_on_who_is_compared() {
    let place = Place::new();
    place.write("pools.yaml", POOLS);
    let alone = bounds(&place, LOAD, &["slo"]);
    assert_eq!(bounds(&place, LOAD, &["fixed:9"]), alone);
    assert_eq!(bounds(&place, LOAD, &["pools.yaml:mail"]), alone);
    assert_eq!(bounds(&place, LOAD, &["slo", "fixed:1", "fixed:9"]), alone);
    let flags = format!("{LOAD} --min 9");
    assert!(alone[0] < bounds(&place, &flags, &["slo"])[0], "nine are paid for by everybody");
}

#[test]
fn jobs_that_take_for_ever_are_refused() {
    let place = Place::new();
    let refusal = "jobs take 720h00m on average, and up to a day is simulated; make them shorter, \
                   or leave out the longest";
    let flags = "--arrivals poisson:1/s --span 10s --service const:30d";
    place.refused(flags, refusal);
    place.write("out.csv", b"t_seconds,service_seconds\n0,1\n1,1\n2,1000000000\n3,1\n");
    let told = place.sim("--jobs out.csv");
    assert_eq!(told.code, Some(2), "{told:?}");
    assert!(told.err.starts_with("headcount: out.csv: jobs take 69444h26m on average"), "{told:?}");
}

/// One job of a month among many of a second: the run ends, and the picture is no larger.
#[test]
fn one_job_that_takes_for_ever_does_not_hold_up_the_run() {
    let place = Place::new();
    let lines: Vec<String> = (0..3_000).map(|second| format!("{second},1")).collect();
    let jobs = format!("t_seconds,service_seconds\n0,2592000\n{}\n", lines.join("\n"));
    place.write("out.csv", jobs.as_bytes());
    let out = place.well("--jobs out.csv --policy keda --policy fixed:3 --svg out.svg");
    assert_eq!(names(&out), ["policy", "keda", "fixed:3"], "{out}");
    assert!(place.read("out.svg").len() < 500_000, "{}", place.read("out.svg").len());
}

#[test]
fn more_than_a_year_is_not_cut_without_a_word() {
    let place = Place::new();
    place.write("years.csv", b"t_seconds,service_seconds\n0,1\n40000000,1\n");
    let flags = "--jobs years.csv --policy fixed:1";
    let told = place.sim(flags);
    assert_eq!(told.code, Some(2), "{told:?}");
    let sentence = "headcount: jobs come for 462d, and a run is of 366d at most; give --span 366d \
                    for the first of them\n";
    assert_eq!(told.err, sentence);
    place.refused(&format!("{flags} --span 400d"), "--span is longer than a year; make it shorter");
}

#[test]
fn a_trace_brings_the_jobs_beside_it() {
    let place = Place::new();
    place.write("web_1s.arrivals.csv", minute().as_bytes());
    place.write("web.jobs.csv", b"t_seconds,service_seconds\n0,0.5\n");
    let beside = place.well("--trace web_1s.arrivals.csv");
    assert_eq!(beside, place.well("--trace web_1s.arrivals.csv --jobs web.jobs.csv"));
    let service = place.well("--trace web_1s.arrivals.csv --service const:1s");
    assert_ne!(beside, service, "what is said counts before what lies there");
}
