//! The benchmark of policies, on loads of a minute.

use crate::place::{Place, minute};

const AZURE: &[u8] =
    include_bytes!("../../../headcount-sim/data/azure_llm_code_1s.arrivals.csv.gz");

fn with_web() -> Place {
    let place = Place::new();
    place.write("traces/web_1s.arrivals.csv", minute().as_bytes());
    place
}

#[test]
fn policies_are_compared_and_judged() {
    let place = with_web();
    let flags = "--traces traces --load web --policy slo,static,hpa --regime A --seeds 2";
    let out = place.well(&format!("bench {flags} --json out.json --scatter out.svg"));
    let names = out.lines().filter_map(|line| line.split_whitespace().next());
    let names: Vec<&str> = names.take(5).collect();
    assert_eq!(names[..4], ["A,", "policy", "slo", "static"], "{out}");
    assert!(names[4].starts_with("hpa"), "the best tempo of a peer comes last: {out}");
    assert!(out.contains("Goals of slo, held: A 1 of 1\n  held    A, web: J 1.0"), "{out}");
    assert!(out.contains("Score: geometric mean"), "{out}");
    assert!(place.read("out.svg").starts_with("<svg"));

    let json = place.read("out.json");
    let cells: Vec<&str> = json.lines().filter(|line| line.starts_with('{')).collect();
    assert_eq!(cells.len(), 6, "slo, static and four tempos of hpa: {json}");
    let keys = "regime load policy late_percent wait_p50_s wait_p99_s worker_seconds spawns j \
                j_bound reversals_per_hour goodput seeds";
    for key in keys.split_whitespace() {
        assert!(cells.iter().all(|cell| cell.contains(&format!("\"{key}\":"))), "{key}: {json}");
    }
    assert!(cells.iter().all(|cell| !cell.contains("\"j_bound\":null")), "{json}");
}

#[test]
fn every_tempo_is_shown_when_asked_for() {
    let place = with_web();
    let flags = "--traces traces --load web --policy hpa --regime A --seeds 1 --tempos 1,5";
    let shown = |all: &str| {
        let out = place.well(&format!("bench {flags} {all}"));
        let scores = out.split("Score").next().unwrap_or_default().to_owned();
        scores.lines().filter(|line| line.trim_start().starts_with("hpa")).count()
    };
    assert_eq!((shown(""), shown("--all")), (1, 2));
}

#[test]
fn the_number_of_threads_makes_no_difference() {
    let place = with_web();
    let on = |threads: u8| {
        let flags =
            "--traces traces --load web --policy slo,told,static,keda --regime A,B --seeds 2";
        let out = place.well(&format!("bench {flags} --json out.json --threads {threads}"));
        (out, place.read("out.json"))
    };
    assert_eq!(on(1), on(5));
}

#[test]
fn a_trace_of_the_folder_takes_the_place_of_the_one_built_in() {
    let loads = |place: &Place| {
        let told = place.sim("bench --traces traces --load none").err;
        told.trim_end().split("there are ").nth(1).unwrap_or_default().to_owned()
    };
    let made_up = "step, ramp, sine, on_off, self_similar, bimodal";
    let place = with_web();
    assert_eq!(loads(&place), format!("azure_llm_code, web, web scv 1, web scv 4, {made_up}"));
    place.write("traces/web.jobs.csv", b"t_seconds,service_seconds\n0,0.5\n");
    assert_eq!(loads(&place), format!("azure_llm_code, web, {made_up}"), "its jobs have sizes");
    place.write("traces/azure_llm_code_1s.arrivals.csv.gz", AZURE);
    let replaced = "azure_llm_code, azure_llm_code scv 1, azure_llm_code scv 4, web";
    assert_eq!(loads(&place), format!("{replaced}, {made_up}"));

    place.write("traces/azure_llm_code_1s.arrivals.csv", minute().as_bytes());
    let flags = "--load azure_llm_code --policy on_demand --tempos 1 --regime A --seeds 1";
    place.well(&format!("bench --traces traces {flags} --json out.json"));
    let json = place.read("out.json");
    assert_eq!(json.matches("\"load\":\"azure_llm_code\"").count(), 1, "{json}");
}

#[test]
fn a_trace_takes_the_place_of_a_load_that_is_made_up() {
    let place = Place::new();
    place.write("traces/step_1s.arrivals.csv", minute().as_bytes());
    let flags = "--load step --policy on_demand --tempos 1 --regime A --seeds 1";
    place.well(&format!("bench --traces traces {flags} --json out.json"));
    let json = place.read("out.json");
    assert_eq!(json.matches("\"load\":\"step\"").count(), 1, "{json}");
    let told = place.sim("bench --traces traces --load none").err;
    let loads = "azure_llm_code, step, step scv 1, step scv 4, ramp, sine, on_off, self_similar";
    assert!(told.contains(loads), "{told}");
}

const QUICK: &str = "--policy on_demand --tempos 1 --regime A --seeds 1";

/// A file beside a good one: it is skipped with a sentence, and the good one is played.
#[track_caller]
fn check_bad(name: &str, bytes: &[u8], sentence: &str) {
    let place = with_web();
    place.write(&format!("traces/{name}"), bytes);
    let told = place.sim(&format!("bench --traces traces {QUICK} --load web --json out.json"));
    let skipped = format!("headcount: traces/{name}: {sentence}; it is skipped\n");
    assert_eq!((told.code, told.err.as_str()), (Some(0), skipped.as_str()), "web was asked for");
    assert!(place.read("out.json").contains("\"load\":\"web\""));
    let bad = place.sim(&format!("bench --traces traces {QUICK} --load bad"));
    let cannot = format!("headcount: --load bad cannot be played: traces/{name}: {sentence}\n");
    assert_eq!((bad.code, bad.err.as_str()), (Some(2), cannot.as_str()));
    assert_eq!(bad.text(), "", "nothing was run");
}

#[test]
fn a_bad_file_is_skipped_aloud() {
    let columns = "t_seconds,arrivals";
    let bad = "bad_1s.arrivals.csv";
    let empty = format!("the file is empty; its first line names the columns: {columns}");
    check_bad(bad, b"", &empty);
    let unsorted = "line 3: t_seconds is 4 after 5; sort the lines by t_seconds";
    check_bad(bad, format!("{columns}\n5,1\n4,1\n").as_bytes(), unsorted);
    let number = "write a number from 0 to 1000000000";
    let negative = format!("line 2: arrivals is \"-3\"; {number}");
    check_bad(bad, format!("{columns}\n0,-3\n").as_bytes(), &negative);
    let nan = format!("line 2: arrivals is \"NaN\"; {number}");
    check_bad(bad, format!("{columns}\n0,NaN\n").as_bytes(), &nan);
    let silent = "nothing arrives in it; is it the right file?";
    check_bad(bad, format!("{columns}\n0,0\n1,0\n").as_bytes(), silent);
}

#[test]
fn all_loads_but_the_skipped_one_are_played_and_the_exit_code_says_so() {
    let place = with_web();
    place.write("traces/bad.jobs.csv", b"t_seconds,service_seconds\n0,0\n");
    place.write("traces/bad_1s.arrivals.csv", minute().as_bytes());
    place.write("traces/huge.jobs.csv", b"t_seconds,service_seconds\n0,1\n");
    place.write("traces/huge_1s.arrivals.csv", b"t_seconds,arrivals\n0,1000000000\n");
    let told = place.sim(&format!("bench --traces traces {QUICK} --json out.json"));
    assert_eq!(told.code, Some(1), "{told:?}");
    for sentence in [
        "headcount: traces/bad.jobs.csv: no job in it takes any time; is it the right file?; it is \
         skipped\n",
        "headcount: traces/huge_1s.arrivals.csv: this is about 1000000000 jobs",
        "\nheadcount: 2 traces were skipped: bad, huge\n",
    ] {
        assert!(told.err.contains(sentence), "{sentence:?}: {}", told.err);
    }
    let json = place.read("out.json");
    for load in ["azure_llm_code", "web", "web scv 4", "step", "bimodal"] {
        assert!(json.contains(&format!("\"load\":\"{load}\"")), "{load}: {json}");
    }
    assert!(told.text().contains("A, web: the bound J* is "), "{told:?}");
}

#[test]
fn a_packed_file_that_was_cut_short_is_named() {
    let place = with_web();
    place.write("traces/bad_1s.arrivals.csv.gz", &AZURE[..4000]);
    let told = place.sim(&format!("bench --traces traces {QUICK} --load web"));
    assert!(told.err.starts_with("headcount: traces/bad_1s.arrivals.csv.gz: line "), "{told:?}");
    assert!(told.err.contains("the file was cut short, fetch it again"), "{told:?}");
}

/// Sixty hours of short jobs are more slots than the bound is worked out in.
#[test]
fn a_long_trace_with_sizes_has_a_bound() {
    let place = Place::new();
    let lines = (0..3_600).map(|minute| format!("{},{}\n", 60 * minute, 5 + minute % 7));
    let minutes = format!("t_seconds,arrivals\n{}", lines.collect::<String>());
    place.write("traces/web_60s.arrivals.csv", minutes.as_bytes());
    place.write("traces/web.jobs.csv", b"t_seconds,service_seconds\n0,0.1\n0,0.3\n");
    let out = place.well(&format!("bench --traces traces {QUICK} --load web"));
    assert!(out.starts_with("A, web: the bound J* is "), "{out}");
}

#[test]
fn each_regime_without_a_bound_says_why() {
    let place = with_web();
    let flags = "--traces traces --load web --policy on_demand --tempos 1 --seeds 1";
    let told = |regime: &str| place.well(&format!("bench {flags} --regime {regime}"));
    let too_few = "D, web: there is no bound: there may be fewer workers than the peak needs";
    assert!(told("D").starts_with(too_few), "{}", told("D"));
    let sick = "E, web: there is no bound: it knows of no machine that is sick";
    assert!(told("E").starts_with(sick), "{}", told("E"));
}

#[test]
fn what_is_not_there_is_refused_with_what_there_is() {
    let place = Place::new();
    place.refused("bench --load web", {
        "no load is called \"web\" here; there are azure_llm_code, step, ramp, sine, on_off, \
         self_similar, bimodal"
    });
    let told = place.sim("bench --policy hpa/7").err;
    assert!(told.contains("\"hpa/7\" here; there are slo, static, on_demand, pond, hpa"), "{told}");
    let no_folder = "it cannot be read: No such file or directory (os error 2)";
    place.refused("bench --traces nowhere", &format!("nowhere: {no_folder}"));
    let no_place = "it cannot be written: No such file or directory (os error 2)";
    place.refused("bench --json nowhere/out.json", &format!("nowhere/out.json: {no_place}"));
    for (flags, sentence) in [
        ("--regime F", "no regime is called \"F\"; there are A, B-knee"),
        ("--tempos 0", "\"0\" is no tempo"),
        ("--seeds 0", "0 is not in 1..=1000"),
        ("--threads 0", "0 is not in 1..=1024"),
    ] {
        let told = place.sim(&format!("bench {flags}"));
        assert_eq!(told.code, Some(2), "{flags}: {told:?}");
        assert!(told.err.contains(sentence), "{flags}: {told:?}");
    }
}

#[test]
fn a_table_that_belongs_to_nothing_is_passed_over_aloud() {
    let place = with_web();
    place.write("traces/notes.csv", b"a,b\n");
    place.write("traces/x_1m.arrivals.csv", b"a,b\n");
    let flags = "--traces traces --load web --policy on_demand --tempos 1 --regime A --seeds 1";
    let outcome = place.sim(&format!("bench {flags}"));
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    for sentence in [
        "headcount: notes.csv: it is passed over: its name is not that of a trace",
        "headcount: x_1m.arrivals.csv: it is passed over: its name must say the step in seconds; \
         call it x_60s.arrivals.csv\n",
    ] {
        assert!(outcome.err.contains(sentence), "{sentence:?}: {outcome:?}");
    }
}

#[test]
fn what_a_terminal_would_obey_is_spelt_out() {
    let place = with_web();
    place.write("traces/r\u{1b}[31med_1s.arrivals.csv", minute().as_bytes());
    place.write("traces/b\u{1b}[31mad_1s.arrivals.csv", b"");
    place.write("traces/x\u{1b}[31m.csv", b"");
    let told = place.sim(&format!("bench --traces traces {QUICK}"));
    assert!(told.text().contains("A, r\\u{1b}[31med: the bound"), "{told:?}");
    assert!(told.err.contains("b\\u{1b}[31mad_1s.arrivals.csv: the file is empty"), "{told:?}");
    assert!(told.err.contains("headcount: x\\u{1b}[31m.csv: it is passed over"), "{told:?}");
    assert!(!told.text().contains('\u{1b}') && !told.err.contains('\u{1b}'), "{told:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_trace_whose_name_is_no_text_is_passed_over_aloud() {
    use std::os::unix::ffi::OsStrExt;

    let place = with_web();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9_1s.arrivals.csv");
    std::fs::write(place.path("traces").join(name), minute()).expect("a file is written");
    let outcome = place.sim(&format!("bench --traces traces {QUICK} --load web"));
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let sentence = "_1s.arrivals.csv: it is passed over: its name is not UTF-8; rename it\n";
    assert!(outcome.err.contains(sentence), "{outcome:?}");
}
