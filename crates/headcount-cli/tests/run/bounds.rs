//! Which of the bounds counts that can be given, and what is refused.

use super::place::{Place, check_says};

/// Runs one job with a policy of two to four workers, and returns what it said.
fn check(words: &[&str], code: i32, expected: &str) {
    let place = Place::new();
    let policy = "[pools.run]\npreset = \"throughput\"\nworkers = { min = 2, max = 4 }\n";
    place.write("p.toml", policy.as_bytes());
    let rest = ["--policy", "p.toml", "--trace", "t.jsonl", "true", ":::", "a"];
    let outcome = place.run(&[words, &rest].concat());
    assert_eq!(outcome.code, Some(code), "{words:?}: {}", outcome.err);
    let told = outcome.err + &place.read("t.jsonl");
    assert!(told.contains(expected), "{words:?} do not say {expected:?}: {told}");
}

#[test]
fn bounds_of_the_command_line_count_before_those_of_the_file() {
    check(&[], 0, r#""workers_min":2,"workers_max":4,"#);
    check(&["--min", "1"], 0, r#""workers_min":1,"workers_max":4,"#);
    check(&["--max", "3"], 0, r#""workers_min":2,"workers_max":3,"#);
    check(&["--min", "5", "--max", "9"], 0, r#""workers_min":5,"workers_max":9,"#);
}

#[test]
fn bounds_that_cross_are_refused() {
    check(&["--min", "9"], 255, "--min 9 is above the max of 4 in p.toml; give both");
    check(&["--max", "1"], 255, "--max 1 is below the min of 2 in p.toml; give both");
    check(&["--min", "9", "--max", "8"], 255, "--max 8 is below --min 9");
}

#[test]
fn a_fixed_number_has_nothing_to_explain_or_record() {
    let refused = |words: &[&str], other| {
        let sentence = format!("'--jobs <N>' cannot be used with '{other}'");
        check_says(words, "", 255, &sentence);
    };
    refused(&["-j4", "--explain", "echo"], "--explain");
    refused(&["-P", "4", "--trace", "t.jsonl", "echo"], "--trace <FILE>");
}
