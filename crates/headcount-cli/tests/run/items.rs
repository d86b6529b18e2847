//! Items come through as they are, wherever they come from.

use std::process::Command;

use super::place::{Place, check, check_says};

#[test]
fn items_come_from_stdin_a_file_or_the_command_line() {
    check(&["-k", "echo", "x"], "1\n2\n", 0, "x 1\nx 2\n");
    check(&["-k", "echo", "{}-{#}", ":::", "a", "b c"], "", 0, "a-1\nb c-2\n");
    let place = Place::new();
    place.write("list", b"1\n2");
    for words in [["-k", "-a", "list", "echo"].as_slice(), &["-k", "echo", "::::", "list"]] {
        assert_eq!(place.run(words).text(), "1\n2\n", "{words:?}");
    }
}

#[test]
fn items_may_hold_anything() {
    let items = ["a b", "it's", "\"q\"", "$HOME `x` \\", "two\nlines", "*", "-n"];
    let mut words = vec!["-k", "printf", "%s|", ":::"];
    words.extend(items);
    check(&words, "", 0, &format!("{}|", items.join("|")));
}

#[test]
fn items_are_bytes() {
    let outcome = Place::new().run_with(&["-0", "-k", "printf", "[%s]"], b"a\xff\nb\0\xc3(\0");
    assert_eq!(outcome.out, b"[a\xff\nb][\xc3(]", "{}", outcome.err);
}

#[test]
fn several_items_can_share_a_job() {
    check(&["-k", "-n", "2", "echo"], "1\n2\n3\n", 0, "1 2\n3\n");
    check(&["-k", "-N2", "-d", ",", "echo", "{2}", "{1}"], "1,2,3", 0, "2 1\n 3\n");
    check(&["-k", "-I", "%", "echo", "<%>", "{}"], "a\n", 0, "<a> {}\n");
}

#[test]
fn a_shell_sees_the_command_and_not_the_items() {
    let words = ["-c", "echo {} | tr a-z A-Z", ":::", "a; echo 'b' $(c)"];
    check(&words, "", 0, "A; ECHO 'B' $(C)\n");
}

#[test]
fn no_items_are_no_jobs() {
    check(&["-r", "echo"], "", 0, "");
    check(&["echo", ":::"], "", 0, "");
}

#[test]
fn a_million_items_need_little_memory() {
    let binary = env!("CARGO_BIN_EXE_headcount");
    let script = format!("ulimit -v 300000; seq 1000000 | {binary} run --dry-run echo | tail -n 1");
    let output = Command::new("sh").args(["-c", &script]).output().expect("a shell starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "echo 1000000\n", "{output:?}");
}

#[test]
fn an_endless_input_is_streamed() {
    let binary = env!("CARGO_BIN_EXE_headcount");
    let script = format!("ulimit -v 3000000; yes | {binary} run -j2 echo | head -n 100 | wc -l");
    let output = Command::new("sh").args(["-c", &script]).output().expect("a shell starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "100");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn what_cannot_be_read_is_named() {
    check_says(&["-a", "nowhere", "echo"], "", 255, "nowhere cannot be read: No such file");
    check_says(&["-a", "/", "echo"], "", 255, "/ cannot be read");
    check_says(&["echo", ":::", "a", ":::", "b"], "", 255, "::: stands a second time");
    check_says(&[], "", 255, "there is no command to run");
    check_says(&["--retries", "x", "echo"], "", 255, "invalid value 'x'");
    check_says(&["--policy", "p.toml", "echo"], "", 255, "p.toml: it cannot be opened");
    check_says(
        &["--trace", "no/where", "echo"],
        "a",
        255,
        "--trace no/where: it cannot be written",
    );
}

#[test]
fn an_item_too_long_for_a_command_line_is_a_failed_job() {
    let long = format!("{}\nshort\n", "x".repeat(300_000));
    let outcome = Place::new().run_with(&["-k", "echo"], long.as_bytes());
    assert_eq!((outcome.code, outcome.text().as_str()), (Some(1), "short\n"));
    assert!(outcome.err.contains("job 1 has items of 300000 bytes"), "{}", outcome.err);
}
