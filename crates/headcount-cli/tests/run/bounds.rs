//! Which of the bounds counts that can be given, and what is refused.

use super::place::{Place, check_says};

/// Runs one job with a policy of two to four workers, and looks for what it should say.
fn check(words: &[&str], code: i32, expected: &str) {
    check_with("workers = { min = 2, max = 4 }", words, code, expected);
}

/// The same with this line in the pool of the file.
fn check_with(line: &str, words: &[&str], code: i32, expected: &str) {
    let place = Place::new();
    let policy = format!("[pools.run]\npreset = \"throughput\"\n{line}\n");
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
fn the_room_of_a_container_bounds_it_unless_the_command_line_does() {
    // No machine has room for two workers that take as many cores each.
    let room = "workers = { min = 2, max = 4 }\nceiling = { cpu_per_worker = 100000 }";
    check_with(room, &[], 0, r#""workers_min":1,"workers_max":1,"#);
    check_with(room, &["--max", "3"], 0, r#""workers_min":2,"workers_max":3,"#);
    check_with(room, &["--min", "2"], 255, "--min 2 is above the max of 1 in p.toml; give both");
}

#[test]
fn schedules_go_by_the_time_zone_of_the_file() {
    let second_of_day = |zone: &str| {
        let place = Place::new();
        let policy = format!("[pools.run]\npreset = \"throughput\"\ntimezone = {zone:?}\n");
        place.write("p.toml", policy.as_bytes());
        let outcome = place.run(&["--policy", "p.toml", "--trace", "t", "true", ":::", "a"]);
        assert_eq!(outcome.code, Some(0), "{zone}: {}", outcome.err);
        let trace = place.read("t");
        let (_, rest) = trace.split_once("\"second_of_day\":").expect("the time of day");
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u32>().expect("a number")
    };
    let (behind, ahead) = (second_of_day("-05:00"), second_of_day("+05:30"));
    let apart = (ahead + 86_400 - behind) % 86_400;
    // One after the other, on a machine that may be busy.
    assert!((37_800..38_400).contains(&apart), "{behind} and {ahead} are {apart} s apart");
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
