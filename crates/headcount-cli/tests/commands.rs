//! The binary as a user meets it: what it prints, what it refuses, how it exits.

use std::process::{Command, Output};

fn headcount(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_headcount")).args(arguments).output().expect("it starts")
}

fn check(arguments: &[&str], code: i32, expected: &str) {
    let output = headcount(arguments);
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8(text).expect("it speaks text");
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
    assert!(text.contains(expected), "{arguments:?} does not say {expected:?}: {text}");
}

#[test]
fn without_a_command_it_says_what_there_is() {
    check(&[], 2, "presets");
    check(&["--help"], 0, "How many workers should there be right now?");
    check(&["--version"], 0, "headcount ");
}

#[test]
fn presets_are_listed_and_shown_with_their_origins() {
    check(&["presets"], 0, "thread_system");
    check(&["presets", "gopipe"], 0, "gopipe: ScaleDownAfter");
}

#[test]
fn an_unknown_preset_is_refused_with_those_there_are() {
    let sentence = "no preset is called \"fast\"; there are slo, throughput, gopipe, spool";
    check(&["presets", "fast"], 2, sentence);
    check(&["demo", "fast"], 2, sentence);
}

#[test]
fn a_demo_of_a_policy_explains_what_it_does() {
    check(
        &["demo", "thread_system"],
        0,
        "grow 1 to 2: wants 2 (utilization 100 % > 80 %) -> bounds 2",
    );
    check(&["demo", "syshealth"], 0, "to 1: wants 1 (health) -> bounds 1");
    check(&["demo", "syshealth", "--full"], 0, "  cooldown: held at");
    check(&["demo", "--full"], 2, "<PRESET>");
}

#[test]
fn a_demo_of_a_policy_is_the_same_every_time() {
    for preset in ["slo", "threshold", "aimd", "pid", "target", "spool"] {
        let arguments = ["demo", preset];
        assert_eq!(headcount(&arguments).stdout, headcount(&arguments).stdout);
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let script = format!("{} demo slo | head -n 1", env!("CARGO_BIN_EXE_headcount"));
    let output = Command::new("sh")
        .args(["-c", &format!("set -o pipefail 2>/dev/null; {script}")])
        .output()
        .expect("a shell starts");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A file of the corpus of the library.
fn corpus(name: &str) -> String {
    format!("{}/../headcount/tests/config/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_file_is_checked_with_everything_that_is_wrong() {
    let (good, bad) = (corpus("good/seed.yaml"), corpus("bad/everything.yaml"));
    check(&["config", "check", &good], 0, "nothing is wrong; 1 pool: api");
    check(&["config", "check", &good], 0, ":13:5: hint: signals[1]: one or two samples");
    check(&["config", "check", &bad], 1, "everything.yaml:1:1: servic is unknown here");
    check(&["config", "check", &bad], 1, "13:13: pools.mail.preset is \"fastest\"");
    check(&["config", "check", "no-such-file.yaml"], 1, "it cannot be opened");
    check(&["config", "check", &corpus("bad/extension.ini")], 1, "its name must end in .yaml");
    check(&["config"], 2, "check");
    check(&["config", "check"], 2, "FILE");
}

#[test]
fn a_file_is_shown_with_where_everything_comes_from() {
    let file = corpus("good/seed.yaml");
    check(&["config", "show", &file], 0, "max: 128  # line 37");
    check(&["config", "show", &file, "--pool", "api"], 0, "tick: 1s  # default");
    check(&["config", "show", &file, "--format", "json"], 0, "\"overflow\": \"reject\"");
    check(&["config", "show", &file, "--format", "toml"], 0, "[pools.api.workers]");
    check(
        &["config", "show", &file, "--pool", "mail"],
        2,
        "no pool is called \"mail\"; there are api",
    );
}

#[test]
fn two_files_are_compared_in_words() {
    let (seed, list) = (corpus("good/seed.yaml"), corpus("good/list.yaml"));
    check(&["config", "diff", &seed, &seed], 0, "nothing would change");
    check(&["config", "diff", &seed, &list], 0, "api: the pool is gone\nb: the pool is new");
    check(&["config", "diff", &seed, &corpus("bad/empty.yaml")], 1, "the file is empty");
}

#[test]
fn the_schema_is_printed() {
    check(&["config", "schema"], 0, "https://json-schema.org/draft/2020-12/schema");
}
