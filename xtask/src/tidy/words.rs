//! Words that must not stay in a source, and the one it must begin with.

use super::fault::Fault;
use super::house::{File, House, numbered};
use super::source::{Source, is_of_word};

/// Unfinished work, which belongs into an issue.
const UNFINISHED_CODE: [&str; 3] = ["todo!", "unimplemented!", "dbg!"];
const UNFINISHED_COMMENTS: [&str; 2] = ["FIXME", "XXX"];

/// Waiting in tests is slow when it works and wrong when the machine is busy.
const SLEEPS: [&str; 2] = ["thread::sleep", "time::sleep"];

pub(crate) fn faults(house: &House) -> Vec<Fault> {
    house
        .rust()
        .flat_map(|(file, source)| {
            let mut faults = unfinished(file, source);
            faults.extend(sleeping_tests(file, source));
            faults.extend(silent_ignores(file, source));
            faults.extend(missing_head(file));
            faults
        })
        .collect()
}

fn unfinished(file: &File, source: &Source) -> Vec<Fault> {
    let in_code = found(&source.code, &UNFINISHED_CODE);
    let in_comments = found(&source.comments, &UNFINISHED_COMMENTS);
    let fault = |(line, word): (usize, &str)| {
        Fault::new(&file.path, line, format!("{word} is unfinished work, allowed is an issue"))
    };
    in_code.into_iter().chain(in_comments).map(fault).collect()
}

fn sleeping_tests(file: &File, source: &Source) -> Vec<Fault> {
    let in_tests = |line: usize| is_test_file(file) || source.is_test(line);
    found(&source.code, &SLEEPS)
        .into_iter()
        .filter(|(line, _)| in_tests(*line))
        .map(|(line, word)| {
            let what = format!("{word} in a test, allowed are virtual time and real events");
            Fault::new(&file.path, line, what)
        })
        .collect()
}

fn is_test_file(file: &File) -> bool {
    let in_tests = file.path.starts_with("tests/") || file.path.contains("/tests/");
    in_tests || file.name() == "tests.rs" || file.name().ends_with("_tests.rs")
}

fn silent_ignores(file: &File, source: &Source) -> Vec<Fault> {
    let is_silent = |line: &str| {
        let line: String = line.split_whitespace().collect();
        line.contains("#[ignore]") || line.contains("#[ignore=\"\"]")
    };
    // The code shows the attribute and not the reason, so the source is asked for the reason.
    numbered(&source.code)
        .zip(file.text.lines())
        .filter(|((_, code), line)| code.contains("#[ignore") && is_silent(line))
        .map(|((number, _), _)| {
            let what = "test ignored without a reason, allowed is #[ignore = \"why\"]";
            Fault::new(&file.path, number, what)
        })
        .collect()
}

fn missing_head(file: &File) -> Option<Fault> {
    let first = file.text.lines().next().unwrap_or_default();
    (!first.starts_with("//! ")).then(|| {
        let what = format!("file begins {first:?}, allowed is a //! that says what it is for");
        Fault::new(&file.path, 1, what)
    })
}

/// Where these stand as words of their own, with their lines.
fn found<'a>(text: &str, words: &[&'a str]) -> Vec<(usize, &'a str)> {
    let mut found = Vec::new();
    for (number, line) in numbered(text) {
        found.extend(words.iter().filter(|word| stands_in(line, word)).map(|word| (number, *word)));
    }
    found
}

fn stands_in(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back().is_some_and(is_of_word);
        let after = line[at + word.len()..].chars().next().is_some_and(is_of_word);
        !before && !after
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str, expected: &str) {
        let text = format!("//! Head.\n{text}");
        let faults = faults(&House::of(&[(path, &text)]));
        let told: Vec<String> = faults.iter().map(Fault::to_string).collect();
        assert_eq!(told.join("; "), expected);
    }

    #[test]
    fn unfinished_work_is_found_where_it_counts() {
        check("a.rs", "todo!()", "a.rs:2: todo! is unfinished work, allowed is an issue");
        check("a.rs", "\n  x(dbg!(y))", "a.rs:3: dbg! is unfinished work, allowed is an issue");
        check("a.rs", "unimplemented!(\"\")", &say("unimplemented!"));
        check("a.rs", "/* FIXME */", &say("FIXME"));
        check("a.rs", "a(); // XXX: later", &say("XXX"));
        check("a.rs", "not_todo!(); a(\"FIXME\"); // todo! XXXL", "");
    }

    fn say(word: &str) -> String {
        format!("a.rs:2: {word} is unfinished work, allowed is an issue")
    }

    #[test]
    fn tests_do_not_sleep() {
        let sleep = "thread::sleep in a test, allowed are virtual time and real events";
        check("src/a.rs", "fn a() { thread::sleep(b) }", "");
        check("tests/a.rs", "fn a() { thread::sleep(b) }", &format!("tests/a.rs:2: {sleep}"));
        check("c/tests/a.rs", "use std::thread::sleep;", &format!("c/tests/a.rs:2: {sleep}"));
        check("a_tests.rs", "thread::sleep(b)", &format!("a_tests.rs:2: {sleep}"));
        check(
            "src/a.rs",
            "#[cfg(test)]\nmod tests {\n  tokio::time::sleep(b).await;\n}",
            "src/a.rs:4: time::sleep in a test, allowed are virtual time and real events",
        );
    }

    #[test]
    fn an_ignored_test_says_why() {
        let fault = "a.rs:2: test ignored without a reason, allowed is #[ignore = \"why\"]";
        check("a.rs", "#[ignore]", fault);
        check("a.rs", "    #[ignore = \"\"]", fault);
        check("a.rs", "#[ignore = \"takes an hour\"]", "");
        check("a.rs", "a(\"#[ignore]\");", "");
    }

    #[test]
    fn a_file_says_what_it_is_for() {
        let faults = faults(&House::of(&[("a.rs", "use b;"), ("b.rs", "")]));
        let told: Vec<String> = faults.iter().map(Fault::to_string).collect();
        assert_eq!(
            told,
            [
                "a.rs:1: file begins \"use b;\", allowed is a //! that says what it is for",
                "b.rs:1: file begins \"\", allowed is a //! that says what it is for",
            ]
        );
    }
}
