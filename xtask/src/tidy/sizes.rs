//! Lengths: of lines, functions, files, parameter lists.

use super::fault::Fault;
use super::house::{File, House, numbered};
use super::source::Source;

const LINE_CHARS_MAX: usize = 100;
const FUNCTION_LINES_MAX: usize = 70;
const PARAMETERS_MAX: usize = 5;
const FILE_LINES_MAX: usize = 600;
const FILE_LINES_WARN: usize = 400;
const MOD_LINES_MAX: usize = 120;

pub(crate) fn faults(house: &House) -> Vec<Fault> {
    house
        .rust()
        .flat_map(|(file, source)| {
            let mut faults = long_lines(file);
            faults.extend(large_functions(file, source));
            faults.extend(long_file(file, source));
            faults.extend(long_mod(file, source));
            faults
        })
        .collect()
}

/// What is allowed and still worth a look.
pub(crate) fn warnings(house: &House) -> Vec<Fault> {
    let long = |(file, source)| {
        let lines = lines_without_tests(file, source);
        let is_long = FILE_LINES_WARN < lines && lines <= FILE_LINES_MAX;
        is_long.then(|| {
            let what = format!("file of {lines} lines without tests, a split is near");
            Fault::new(&file.path, 1, what)
        })
    };
    house.rust().filter_map(long).collect()
}

fn long_lines(file: &File) -> Vec<Fault> {
    let long = |(number, line): (usize, &str)| {
        let chars = line.chars().count();
        let is_long = LINE_CHARS_MAX < chars && !is_address(line);
        is_long.then(|| {
            let what = format!("line of {chars} characters, allowed are {LINE_CHARS_MAX}");
            Fault::new(&file.path, number, what)
        })
    };
    file.lines().filter_map(long).collect()
}

/// A comment that ends in a web address: it cannot be broken.
fn is_address(line: &str) -> bool {
    let ends_in_address = line.split_whitespace().next_back().is_some_and(|w| w.contains("://"));
    line.trim_start().starts_with("//") && ends_in_address
}

fn large_functions(file: &File, source: &Source) -> Vec<Fault> {
    let mut faults = Vec::new();
    for function in &source.functions {
        let (name, lines, parameters) = (&function.name, function.lines, function.parameters);
        if FUNCTION_LINES_MAX < lines {
            let what =
                format!("function {name} of {lines} lines, allowed are {FUNCTION_LINES_MAX}");
            faults.push(Fault::new(&file.path, function.line, what));
        }
        if PARAMETERS_MAX < parameters {
            let what = format!(
                "function {name} with {parameters} parameters, allowed are {PARAMETERS_MAX}"
            );
            faults.push(Fault::new(&file.path, function.line, what));
        }
    }
    faults
}

fn long_file(file: &File, source: &Source) -> Option<Fault> {
    let lines = lines_without_tests(file, source);
    (FILE_LINES_MAX < lines).then(|| {
        let what = format!("file of {lines} lines without tests, allowed are {FILE_LINES_MAX}");
        Fault::new(&file.path, 1, what)
    })
}

/// A `mod.rs` may explain itself at any length; only what is code counts.
fn long_mod(file: &File, source: &Source) -> Option<Fault> {
    if file.name() != "mod.rs" {
        return None;
    }
    let is_code =
        |(number, line): &(usize, &str)| !line.trim().is_empty() && !source.is_test(*number);
    let lines = numbered(&source.code).filter(is_code).count();
    (MOD_LINES_MAX < lines).then(|| {
        let what = format!("mod.rs with {lines} lines of code, allowed are {MOD_LINES_MAX}");
        Fault::new(&file.path, 1, what)
    })
}

fn lines_without_tests(file: &File, source: &Source) -> usize {
    file.lines().filter(|(number, _)| !source.is_test(*number)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str, expected: &str) {
        let faults = faults(&House::of(&[(path, text)]));
        let told: Vec<String> = faults.iter().map(Fault::to_string).collect();
        assert_eq!(told.join("; "), expected);
    }

    #[test]
    fn a_line_has_an_end() {
        check("a.rs", &"x".repeat(100), "");
        check("a.rs", &"ä".repeat(101), "a.rs:1: line of 101 characters, allowed are 100");
        check("a.md", &"x".repeat(101), "");
    }

    #[test]
    fn an_address_in_a_comment_may_be_longer() {
        let address = format!("https://example.org/{}", "x".repeat(100));
        check("a.rs", &format!("/// See {address}"), "");
        check(
            "a.rs",
            &format!("let a = \"{address}\";"),
            "a.rs:1: line of 131 characters, allowed are 100",
        );
    }

    #[test]
    fn a_function_has_an_end() {
        let function = |lines: usize| format!("\nfn a() {{\n{}}}\n", "b();\n".repeat(lines - 2));
        check("a.rs", &function(70), "");
        check("a.rs", &function(71), "a.rs:2: function a of 71 lines, allowed are 70");
    }

    #[test]
    fn five_parameters_are_enough() {
        check("a.rs", "fn a(&self, b: A, c: A, d: A, e: A, f: A) {}", "");
        check(
            "a.rs",
            "fn a(b: A, c: A, d: A, e: A, f: A, g: A) {}",
            "a.rs:1: function a with 6 parameters, allowed are 5",
        );
    }

    #[test]
    fn a_file_is_measured_without_its_tests() {
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "use a;\n".repeat(900));
        check("a.rs", &format!("{}{tests}", "use a;\n".repeat(600)), "");
        check(
            "a.rs",
            &format!("{}{tests}", "use a;\n".repeat(601)),
            "a.rs:1: file of 601 lines without tests, allowed are 600",
        );
    }

    #[test]
    fn a_long_file_is_a_warning_first() {
        let count = |lines: usize| {
            let text = "use a;\n".repeat(lines);
            warnings(&House::of(&[("a.rs", text.as_str())])).len()
        };
        assert_eq!([count(400), count(401), count(600), count(601)], [0, 1, 1, 0]);
    }

    #[test]
    fn a_mod_is_a_table_of_contents() {
        let text =
            |lines: usize| format!("{}{}", "/// why\n\n".repeat(90), "mod a;\n".repeat(lines));
        check("a/mod.rs", &text(120), "");
        check("a/mod.rs", &text(121), "a/mod.rs:1: mod.rs with 121 lines of code, allowed are 120");
        check("a/other.rs", &text(121), "");
    }
}
