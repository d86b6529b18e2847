//! `headcount plan` as a user meets it: what it answers, what it refuses, how it exits.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use headcount::trace::Row;
use headcount_core::{Counters, Observation, Policy, PoolSnapshot, Preset, Statistics, Timestamp};
use tempfile::TempDir;

fn plan(folder: &Path, arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_headcount"))
        .arg("plan")
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .output()
        .expect("it starts")
}

#[track_caller]
fn check_in(folder: &TempDir, arguments: &str, code: i32, expected: &[&str]) {
    let output = plan(folder.path(), arguments);
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8(text).expect("it speaks text");
    assert_eq!(output.status.code(), Some(code), "{arguments}: {text}");
    for line in expected {
        assert!(text.contains(line), "{arguments} does not say {line:?}: {text}");
    }
}

#[track_caller]
fn check(arguments: &str, code: i32, expected: &[&str]) {
    check_in(&folder(&[]), arguments, code, expected);
}

/// A folder with these files in it.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("a file is written");
    }
    folder
}

const SERVICE: &str = "--service-p50 50ms --service-p99 200ms";

#[test]
fn a_load_is_answered_with_bounds_and_arithmetic() {
    check(
        &format!("--rate 1000/s {SERVICE} --wait 50ms --late 1% --bytes-per-worker 64MiB"),
        0,
        &[
            "64 workers keep the wait within 50 ms for all but 0.313 % of the jobs",
            "floor       1       others start in 1 ms, in time for a wait of 50 ms",
            "initial     64 ",
            "ceiling     123 ",
            "4 GiB with 64 workers",
            "up to 1014/s, 1.43 % more",
            "2000/s needs 123 workers, 1.92 times as many",
            "service 20 % longer     76 workers (+12)",
            "R = 1000/s x 59.7 ms = 59.7 workers busy",
            "Erlang C(64, 59.7) = 48 %",
            "63 workers: 1.22 % late",
        ],
    );
    check(&format!("--rate 1000/s {SERVICE} --wait 10ms"), 0, &["71 workers keep"]);
    check("--rate 1000/s --service 59.7ms --scv 0.43 --wait 0", 0, &["80 workers keep"]);
    check("--rate 1/d --service 1s --wait 1s", 0, &["1 worker keeps", "0 workers would not"]);
}

/// By simulation 18 workers are 4.2 % late in these bursts and 21 are 0.7.
#[test]
fn bursts_make_more_jobs_wait_and_the_arithmetic_says_how_many() {
    let bursty = "--rate 100/s --service 100ms --scv 0.5 --wait 20ms --arrivals-scv";
    check(
        &format!("{bursty} 4 --workers 18"),
        0,
        &[
            "21 workers keep the wait within 20 ms for all but 0.977 % of the jobs",
            "today       18 workers: 5.17 % late, too many",
            "v = (arrivals 1 + 0.476 x (4 - 1) + service 0.5) / 2 = 1.46",
            "z = (4 + 0.5) / (1 + 0.5) = 3; x = (1 - 0.476) x sqrt(21) = 2.4",
            "Erlang C(21, 10) = 1.7e-3, x Q(x / z) / Q(x) = 4.39 % of the jobs wait at all",
            "rough guide, off by more than a factor of two at times",
        ],
    );
    let caution = |scv: &str| {
        let output = plan(folder(&[]).path(), &format!("{bursty} {scv} --json"));
        let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        value["caution"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(["0.5", "1", "3"].map(caution), ["", "", ""]);
    assert!(caution("0.4").contains("safe side") && caution("3.1").contains("try it"));
    let stages = "--rate 10/s --wait 1s --arrivals-scv 4 --stage name=a,service=1s";
    check(stages, 0, &["Erlang C(17, R) x Q(x / z) / Q(x)", "a: So much variation"]);
}

#[test]
fn the_workers_of_today_are_judged() {
    let today = |workers| format!("--rate 1000/s {SERVICE} --wait 50ms --workers {workers}");
    check(&today(70), 0, &["today       70 workers: ", "enough; good for 1114/s"]);
    check(&today(63), 0, &["63 workers: 1.22 % late, too many"]);
    check(&today(59), 0, &["59 workers do not keep up"]);
    check(&today(1), 0, &["1 worker does not keep up"]);
}

#[test]
fn slow_starts_and_quiet_hours_move_the_floor() {
    let with = |more| format!("--rate 1000/s {SERVICE} --wait 50ms {more}");
    check(&with("--spawn 10s"), 0, &["floor       64      a worker takes 10 s to start"]);
    check(&with("--quiet-rate 100/s"), 0, &["floor       9       what the quietest load needs"]);
}

#[test]
fn what_no_number_of_workers_can_do_is_said() {
    let arguments = format!("--rate 1000/s {SERVICE} --latency 100ms");
    let sentence = "no number of workers can keep this: the service alone takes longer than 100 ms \
                    for 12.2 % of the jobs, and 1 % may be late; ask for more than 200 ms";
    check(&arguments, 1, &[sentence]);
    check(
        &format!("{arguments} --json"),
        1,
        &["\"workers\": null", "\"limit_least_s\": 0.2", sentence],
    );
    check("--rate 1e9 --service 1s --wait 1s", 1, &["at most 10000000 are looked for"]);
}

#[test]
fn a_promise_on_the_whole_counts_wait_and_service() {
    check(
        &format!("--rate 1000/s {SERVICE} --latency 210ms"),
        0,
        &["workers keep the latency within 210 ms", "by the service alone + "],
    );
}

#[test]
fn the_bottleneck_of_several_stages_is_named() {
    let fetch = "--stage name=fetch,service=200ms,workers=40";
    let thumb = "--stage name=thumb,service=30ms,scv=0.5,calls=1.5";
    check(
        &format!("--rate 100/s --wait 100ms {fetch} {thumb},workers=4 --bytes-per-worker 1GiB"),
        0,
        &[
            "39 workers in 2 stages keep the wait within 100 ms",
            "The bottleneck is thumb: its 4 workers at 45 ms a job carry 88.9/s, less than comes.",
            "39 GiB of memory",
            "40, enough",
            "4, does not keep up",
        ],
    );
    let narrow = "--rate 1/m --wait 1s --stage name=a,service=1s,workers=1";
    check(
        narrow,
        0,
        &["1 worker in 1 stage keeps the wait", "its 1 worker at 1 s a job carries 1/s"],
    );
    let unknown = format!("--rate 100/s --wait 100ms --stage name=fetch,service=200ms {thumb}");
    check(&unknown, 0, &["The bottleneck is fetch: each job takes 200 ms of its workers"]);
    check(&format!("{unknown} --json"), 0, &["\"bottleneck\"", "\"stage\": \"fetch\""]);
}

#[test]
fn no_promise_is_made_that_the_service_of_one_stage_breaks() {
    let stages = "--stage name=a,service=0.6s --stage name=b,service=500ms,scv=0";
    let sentence = "1 % may be late; ask for more than 3.44 s";
    for latency in ["1s", "3.3s"] {
        check(&format!("--rate 10/s --latency {latency} {stages}"), 1, &[sentence]);
    }
    check(&format!("--rate 10/s --latency 3.6s {stages}"), 0, &["keep the latency within 3.6 s"]);
}

#[test]
fn the_answer_can_be_read_by_programs() {
    let folder = folder(&[]);
    let output = plan(folder.path(), &format!("--rate 1000/s {SERVICE} --wait 50ms --json"));
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(value["workers"], 64);
    assert_eq!(value["bounds"]["ceiling"], 123);
    assert_eq!(value["what_ifs"][0]["workers"], 76);
    assert_eq!(value["slo"]["measured"], "wait");
    assert!(value["present"].is_null() && value["record"].is_null());
}

/// Ten minutes at 4 a second, one of which has 40.
fn arrivals() -> String {
    let count = |second: u32| if second / 60 == 5 { 40 } else { 4 };
    let lines = (0..600).map(|second| format!("{second},{}\n", count(second)));
    format!("t_seconds,arrivals\n{}", lines.collect::<String>())
}

#[test]
fn a_record_of_arrivals_is_planned_for_at_its_busiest() {
    let jobs = "t_seconds,service_seconds\n0,0.5\n1,1.5\n";
    let folder = folder(&[("day_1s.arrivals.csv", &arrivals()), ("day.jobs.csv", jobs)]);
    check_in(
        &folder,
        "--trace day_1s.arrivals.csv --wait 1s",
        0,
        &[
            "4560 in 10 min, 7.6/s on average",
            "of 2 s: 4/s in the quietest, 40/s in the busiest, from 5 min on",
            "service     mean 1 s, scv 0.25",
            "what the quietest load needs, 4/s",
        ],
    );
    check_in(&folder, "--trace day_1s.arrivals.csv --wait 1s --service 20ms", 0, &["mean 20 ms"]);
    let llm = "t_seconds,size_in_tokens,size_out_tokens\n0,100,10\n1,100,10\n";
    fs::write(folder.path().join("llm.csv"), llm).expect("a file is written");
    let with_jobs = "--trace day_1s.arrivals.csv --wait 1s --jobs llm.csv";
    check_in(&folder, with_jobs, 0, &["service     mean 240 ms, scv 0"]);
}

#[test]
fn sizes_from_a_file_go_with_a_rate_too() {
    let folder = folder(&[("web.csv", "t_seconds,service_seconds\n0,0.5\n1,1.5\n")]);
    let with = |more: &str| format!("--rate 1/s --wait 1s --jobs {more}");
    check_in(&folder, &with("web.csv"), 0, &["service     mean 1 s, scv 0.25"]);
    check_in(&folder, &with("none.csv"), 1, &["none.csv: No such file"]);
    check_in(&folder, &with("web.csv --service 1s"), 2, &["cannot be used with"]);
    check_in(&folder, &with("web.csv --scv 2"), 2, &["cannot be used with"]);
    check_in(&folder, &with("web.csv --stage name=a,service=1s"), 2, &["cannot be used with"]);
    check_in(&folder, "--wait 1s --jobs web.csv", 2, &["how much comes is not said"]);
}

/// A flag that needs another one is refused where something else stands in its place.
#[test]
fn no_flag_is_passed_over_in_silence() {
    let pool = "--trace a.csv --pool web --service 1s --wait 1s";
    let slowest = "--rate 1 --service 1s --service-p99 2s --wait 1s";
    for flags in [pool, slowest] {
        check(flags, 2, &["cannot be used with"]);
    }
}

/// On/off bursts of a language model: 40 workers of a simulated pool keep this promise, 30 do not.
#[test]
fn a_packed_record_is_read_with_the_jobs_beside_it() {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../headcount-sim/data");
    check(
        &format!("--trace {data}/azure_llm_code_1s.arrivals.csv.gz --wait 1s"),
        0,
        &["67 workers keep the wait within 1 s", "8819 in 57.3 min", "mean 987 ms, scv 1.63"],
    );
}

#[test]
fn a_bad_record_says_where_and_what_to_do() {
    let refused = |text: &str, expected: &str| {
        let folder = folder(&[("a.csv", text)]);
        check_in(&folder, "--trace a.csv --service 1s --wait 1s", 1, &[expected]);
    };
    refused("", "a.csv: the file is empty; its first line names the columns");
    refused("t_seconds,arrivals\n0,1\n", "a.csv: line 2 is the only bucket");
    refused("t_seconds,arrivals\n0,1\n", "or say the step in the name of the file, as in web_60s");
    refused("t_seconds,arrivals\n0,1\n1,x\n", "a.csv: line 3: arrivals is \"x\"; write a number");
    refused("t_seconds,arrivals\n0,1\n1,1\n3,1\n", "a.csv: line 4: t_seconds is 3 where 2 should");
    let zeros = "t_seconds,arrivals\n0,0\n1,0\n2,0\n";
    refused(
        zeros,
        "a.csv: no job comes in any of its 3 buckets; give a file in which some do, or --rate",
    );
    check("--trace none.csv --service 1s --wait 1s", 1, &["none.csv: No such file"]);
    check("--trace . --service 1s --wait 1s", 1, &[".: it is a directory; give a file"]);
    check("--recorded . --service 1s --wait 1s", 1, &[".: it is a directory; give a file"]);
}

/// A minute of a pool to which 10 tasks come every second, as the recorder writes it.
fn recorded(pools: &[&str]) -> String {
    let mut lines = vec![r#"{"headcount_trace":1}"#.to_owned()];
    let mut autoscaler = Policy::check(&Preset::gopipe().config(), 8).expect("no fault").build();
    for second in 0..60 {
        let mean = Duration::from_millis(100);
        let service = Some(Statistics { count: 10, mean, scv: 0.5, ..Statistics::default() });
        let counters = Counters { submitted: 10 * second, ..Counters::default() };
        let spawn_delay = Some(Duration::from_secs(2));
        let pool = PoolSnapshot { service, counters, spawn_delay, ..PoolSnapshot::default() };
        let observation = Observation::new(Timestamp::from_secs(second), pool);
        for pool in pools {
            let decision = Box::new(autoscaler.tick(&observation));
            let observation = Box::new(observation.clone());
            let row = Row::Tick { pool: (*pool).to_owned(), observation, decision };
            lines.push(serde_json::to_string(&row).expect("a row is written"));
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn a_recorded_run_is_planned_for() {
    let folder = folder(&[("one.jsonl", &recorded(&["a"])), ("two.jsonl", &recorded(&["a", "b"]))]);
    let expected = [
        "590 in 59 s, 10/s on average",
        "service     mean 100 ms, scv 0.5",
        "a worker takes 2 s to start, too long for a wait of 50 ms",
    ];
    check_in(&folder, "--recorded one.jsonl --wait 50ms", 0, &expected);
    check_in(&folder, "--recorded two.jsonl --wait 50ms --pool b", 0, &expected);
    let several = ["it tells of several pools; choose one with --pool: a, b"];
    check_in(&folder, "--recorded two.jsonl --wait 50ms", 1, &several);
    let unknown = ["no pool is called \"c\"; there are a, b"];
    check_in(&folder, "--recorded two.jsonl --wait 50ms --pool c", 1, &unknown);
}

/// What a batch looks like: all of it is there at the first look.
fn batch() -> String {
    let mut lines = vec![r#"{"headcount_trace":1}"#.to_owned()];
    let mut autoscaler = Policy::check(&Preset::gopipe().config(), 8).expect("no fault").build();
    for second in 0..=60 {
        let mean = Duration::from_millis(100);
        let service = Some(Statistics { count: 10, mean, scv: 0.5, ..Statistics::default() });
        let counters = Counters { submitted: 600, completed: 10 * second, ..Counters::default() };
        let pool = PoolSnapshot { service, counters, ..PoolSnapshot::default() };
        let observation = Observation::new(Timestamp::from_secs(second), pool);
        let decision = Box::new(autoscaler.tick(&observation));
        let row =
            Row::Tick { pool: "run".to_owned(), observation: Box::new(observation), decision };
        lines.push(serde_json::to_string(&row).expect("a row is written"));
    }
    lines.join("\n") + "\n"
}

#[test]
fn a_batch_has_no_rate() {
    let folder = folder(&[("run.jsonl", &batch())]);
    let sentence = "run.jsonl: no task came while it was recorded, so that there is no rate: a \
                    batch is there from the beginning; give --rate, as in --rate 10/s, which is \
                    how fast 600 tasks were done";
    check_in(&folder, "--recorded run.jsonl --wait 1s", 1, &[sentence]);
    let expected = ["keep the wait within 1 s", "service     mean 100 ms, scv 0.5"];
    check_in(&folder, "--recorded run.jsonl --wait 1s --rate 10/s", 0, &expected);
}

#[test]
fn a_doubling_that_is_too_large_is_no_reason_to_say_nothing() {
    let expected = ["5000", "10000000/s needs more workers than are looked for"];
    check("--rate 5e6/s --service 1s --wait 1s", 0, &expected);
    let longer = ["service 20 % longer     more than 10000000 workers"];
    check("--rate 9e7/s --service 100ms --wait 1ms", 0, &longer);
}

#[test]
fn a_promise_that_leaves_no_time_to_wait_is_told_as_such() {
    let sentence = "the service alone takes longer than 200 ms for 1 % of the jobs, and 1 % may be \
                    late; ask for more than 200 ms";
    check(&format!("--rate 10/s {SERVICE} --latency 200ms --late 1%"), 1, &[sentence]);
}

#[test]
fn a_step_that_is_not_that_of_the_name_is_told() {
    let folder = folder(&[("day_60s.arrivals.csv", &arrivals())]);
    let sentence = "day_60s.arrivals.csv: line 3: t_seconds is 1 where 60 should follow";
    check_in(&folder, "--trace day_60s.arrivals.csv --service 1s --wait 1s", 1, &[sentence]);
}

#[test]
fn what_is_missing_or_wrong_is_said_in_a_sentence() {
    check("--wait 1s", 2, &["how much comes is not said; give --rate 1000/s"]);
    check("--rate 1 --wait 1s", 2, &["how long a job takes is not said; give --service 60ms"]);
    check("--rate 1 --service 1s", 2, &["what must hold is not said; give --wait 50ms"]);
    check("--rate 0 --service 1s --wait 1s", 2, &["the rate of arrivals is 0; it must be above 0"]);
    check("--rate 1 --service 0 --wait 1s", 2, &["the mean of the service time is 0"]);
    check("--rate fast --service 1s --wait 1s", 2, &["\"fast\" is no rate; write 1000/s"]);
    check("--rate 1 --service 1s --wait 1s --late 2", 2, &["\"2\" is no share; write 1%"]);
    check("--rate 1 --service 1s --wait 1s --latency 1s", 2, &["cannot be used with"]);
    check("--rate 1 --wait 1s --stage name=a", 2, &["stage a has no service"]);
    check("--rate -1/s --service 1s --wait 1s", 2, &["\"-1/s\" is no rate; write 1000/s"]);
    let below = "--rate 1 --quiet-rate -1/s --service 1s --wait 1s";
    check(below, 2, &["\"-1/s\" is no rate; write 1000/s"]);
    let quiet = "--quiet-rate is 1000/s, above the 10/s of the busiest time; make it smaller";
    check("--rate 10/s --quiet-rate 1000/s --service 1s --wait 1s", 2, &[quiet]);
    let twice = "--rate 1 --wait 1s --stage name=a,service=1s --stage name=a,service=2s";
    check(twice, 2, &["two stages are called \"a\"; rename one of them"]);
}

/// The commands of docs/plan.md, each with the output that is printed below it.
#[test]
fn the_documentation_shows_what_is_printed() {
    let page = include_str!("../../../docs/plan.md");
    let blocks: Vec<&str> = page.split("```").skip(1).step_by(2).collect();
    let shown = |pair: &[&str]| match (pair[0].strip_prefix("sh\n"), pair[1].strip_prefix("text\n"))
    {
        (Some(command), Some(output)) => Some((command.replace('\\', ""), output.to_owned())),
        _ => None,
    };
    let examples: Vec<(String, String)> = blocks.windows(2).filter_map(shown).collect();
    assert_eq!(examples.len(), 2);
    for (command, output) in examples {
        let arguments = command.trim().strip_prefix("headcount plan").expect("our command");
        let printed = plan(folder(&[]).path(), arguments).stdout;
        assert_eq!(String::from_utf8_lossy(&printed), output, "{command}");
    }
}
