//! Every public type and trait shows in its documentation what it is for.
//!
//! An example that is compiled and run cannot lie for long; a type without one is learnt from its
//! source. Only items that stand at the beginning of a line are looked at: an indented one is made
//! by a macro or hidden in a function, and has no page of its own.

use super::fault::Fault;
use super::house::{File, House, numbered};
use super::source::{Source, is_of_word};

const ITEMS: [&str; 4] = ["pub struct ", "pub enum ", "pub union ", "pub trait "];

/// What may stand behind the opening fence of an example that runs.
const RUNNING: [&str; 2] = ["", "rust"];

pub(crate) fn faults(house: &House) -> Vec<Fault> {
    let published = house.rust().filter(|(file, _)| is_published(file));
    published.flat_map(|(file, source)| without_example(file, source)).collect()
}

/// `crates/<name>/src/...`: what other people read the documentation of.
fn is_published(file: &File) -> bool {
    let mut parts = file.path.split('/');
    parts.next() == Some("crates") && parts.nth(1) == Some("src")
}

fn without_example(file: &File, source: &Source) -> Vec<Fault> {
    let lines: Vec<(&str, &str)> = source.code.lines().zip(source.comments.lines()).collect();
    numbered(&source.code)
        .filter(|(number, _)| !source.is_test(*number))
        .filter_map(|(number, line)| Some((number, item(line)?)))
        .filter(|(number, _)| !is_hidden(&lines[..number - 1]))
        .filter(|(number, _)| !has_example(&documentation(&lines[..number - 1])))
        .map(|(number, item)| {
            let what = format!("{item} without an example, allowed is a doc comment with one");
            Fault::new(&file.path, number, what)
        })
        .collect()
}

/// `pub struct Name`, when the line begins one.
fn item(line: &str) -> Option<&str> {
    let kind = ITEMS.iter().find(|kind| line.starts_with(**kind))?;
    let name_end = line[kind.len()..].find(|c| !is_of_word(c));
    Some(&line[..name_end.map_or(line.len(), |end| kind.len() + end)])
}

/// Whether the item that follows has no page: what a sealed trait speaks of, for one.
fn is_hidden(lines_before: &[(&str, &str)]) -> bool {
    let code_above = lines_before.iter().rev().map(|(code, _)| code.trim());
    let mut attributes = code_above.take_while(|code| code.is_empty() || code.starts_with("#["));
    attributes.any(|code| code == "#[doc(hidden)]")
}

/// The lines of the doc comment that ends a text, attributes between them and behind them left out.
fn documentation<'a>(lines_before: &[(&str, &'a str)]) -> Vec<&'a str> {
    let belongs = |(code, comment): &&(&str, &str)| {
        let is_blank = code.trim().is_empty() && comment.trim().is_empty();
        let ends_another = code.trim_end().ends_with(['}', '{', ';']);
        !is_blank && !ends_another
    };
    let above = lines_before.iter().rev().take_while(belongs);
    let mut doc: Vec<&str> = above.filter_map(|(_, comment)| comment.strip_prefix("///")).collect();
    doc.reverse();
    doc
}

/// Whether one of its blocks of code is run. A block of text ends in a fence that looks like the
/// beginning of an example, so the fences are taken in pairs.
fn has_example(documentation: &[&str]) -> bool {
    let fences = documentation.iter().filter_map(|line| line.trim().strip_prefix("```"));
    fences.step_by(2).any(|language| RUNNING.contains(&language))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = "/// Does.\n///\n/// ```\n/// assert!(true);\n/// ```\n";

    fn check(path: &str, text: &str, expected: &str) {
        let told: Vec<String> =
            faults(&House::of(&[(path, text)])).iter().map(Fault::to_string).collect();
        assert_eq!(told.join("; "), expected, "{text}");
    }

    #[test]
    fn what_has_no_page_needs_none() {
        check_core("/// Does.\n#[doc(hidden)]\npub struct A;\n", "");
        check_core("/// Does.\n#[doc(hidden)]\n#[derive(Debug)]\npub struct A;\n", "");
        let told = "crates/a/src/b/c.rs:4: pub struct B without an example, \
                    allowed is a doc comment with one";
        check_core("#[doc(hidden)]\npub struct A;\n/// Does.\npub struct B;\n", told);
    }

    fn check_core(text: &str, expected: &str) {
        check("crates/a/src/b/c.rs", text, expected);
    }

    fn missing(line: usize, item: &str) -> String {
        let what = "without an example, allowed is a doc comment with one";
        format!("crates/a/src/b/c.rs:{line}: {item} {what}")
    }

    #[test]
    fn a_public_type_or_trait_has_an_example() {
        check_core("/// Does.\npub struct A;\n", &missing(2, "pub struct A"));
        check_core("pub enum A<T> {\n}\n", &missing(1, "pub enum A"));
        check_core("\n\npub trait A: B {\n}\n", &missing(3, "pub trait A"));
        check_core("pub union A {\n}\n", &missing(1, "pub union A"));
        for item in ["struct A;", "enum A {}", "trait A {}"] {
            check_core(&format!("{EXAMPLE}pub {item}\n"), "");
        }
    }

    #[test]
    fn attributes_stand_between_the_example_and_the_item() {
        let attributes = "#[derive(Clone)]\n#[cfg_attr(\n    feature = \"x\",\n    y(z),\n)]\n";
        check_core(&format!("{EXAMPLE}{attributes}pub struct A;\n"), "");
        check_core(&format!("{EXAMPLE}// Small.\n#[repr(u8)] // Why.\npub enum A {{}}\n"), "");
    }

    #[test]
    fn the_example_of_a_neighbour_does_not_count() {
        let check_after = |before: &str, line| {
            let text = format!("{EXAMPLE}{before}pub struct B;\n");
            check_core(&text, &missing(line, "pub struct B"));
        };
        check_after("pub struct A;\n", 7);
        check_after("fn a() {\n}\n", 8);
        check_after("\n", 7);
    }

    #[test]
    fn what_is_not_run_is_no_example() {
        for language in ["text", "ignore", "no_run", "compile_fail"] {
            let doc = EXAMPLE.replacen("```", &format!("```{language}"), 1);
            check_core(&format!("{doc}pub struct A;\n"), &missing(6, "pub struct A"));
        }
        let text_first = EXAMPLE.replacen("```", "```text\n/// a -> b\n/// ```\n///\n/// ```", 1);
        check_core(&format!("{text_first}pub struct A;\n"), "");
        let in_comment = EXAMPLE.replace("///", "//");
        check_core(&format!("{in_comment}pub struct A;\n"), &missing(6, "pub struct A"));
    }

    #[test]
    fn what_nobody_outside_sees_needs_none() {
        check_core("pub(crate) struct A;\npub(super) enum B {}\nstruct C;\ntrait D {}\n", "");
        check_core("pub fn a() {}\npub type B = u8;\npub mod c {\n    pub struct D;\n}\n", "");
        check_core("#[cfg(test)]\nmod tests {\npub struct A;\n}\n", "");
        check_core("const A: &str = \"\npub struct B;\n\";\n", "");
        for path in ["xtask/src/a.rs", "crates/a/tests/src/b.rs", "crates/a/build.rs", "src/a.rs"] {
            check(path, "pub struct A;\n", "");
        }
    }
}
