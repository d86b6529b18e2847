//! Architecture decisions: every one that is mentioned exists, and each has the same four parts.

use std::collections::BTreeMap;

use super::fault::Fault;
use super::house::{File, House, numbered};

const PARTS: [&str; 4] = ["Context", "Decision", "Consequences", "Alternatives"];
const DIRECTORY: &str = "docs/adr/";

pub(crate) fn faults(house: &House) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut known: BTreeMap<&str, &str> = BTreeMap::new();
    for file in decisions(house) {
        faults.extend(missing_parts(file));
        match number(file) {
            None => {
                let what = format!("decision named {:?}, allowed is NNNN-title.md", file.name());
                faults.push(Fault::new(&file.path, 1, what));
            }
            Some(number) => {
                if let Some(other) = known.insert(number, &file.path) {
                    let what = format!("number {number} is taken by {other}, allowed is a new one");
                    faults.push(Fault::new(&file.path, 1, what));
                }
            }
        }
    }
    for file in &house.files {
        faults.extend(unknown_mentions(file, &known));
    }
    faults
}

fn decisions(house: &House) -> impl Iterator<Item = &File> {
    let is_decision = |file: &&File| file.path.starts_with(DIRECTORY) && file.name() != "README.md";
    house.markdown().filter(is_decision)
}

fn number(file: &File) -> Option<&str> {
    let (number, _) = file.name().split_once('-')?;
    let is_number = number.len() == 4 && number.chars().all(|c| c.is_ascii_digit());
    is_number.then_some(number)
}

fn missing_parts(file: &File) -> Vec<Fault> {
    let has = |part: &str| {
        let mut headings = file.text.lines().filter_map(|line| line.strip_prefix("##"));
        headings.any(|heading| heading.trim_start_matches('#').trim().starts_with(part))
    };
    let allowed = PARTS.join(", ");
    let missing = PARTS.iter().filter(|part| !has(part));
    let fault = |part: &&str| {
        let what = format!("decision without the heading {part:?}, each has {allowed}");
        Fault::new(&file.path, 1, what)
    };
    missing.map(fault).collect()
}

fn unknown_mentions(file: &File, known: &BTreeMap<&str, &str>) -> Vec<Fault> {
    // In code a number may stand in a string for the sake of an example.
    let text = file.source.as_ref().map_or(&file.text, |source| &source.comments);
    let mut faults = Vec::new();
    for (line, words) in numbered(text) {
        for number in mentions(words).filter(|number| !known.contains_key(number.as_str())) {
            let what =
                format!("decision {number} does not exist, allowed are those in {DIRECTORY}");
            faults.push(Fault::new(&file.path, line, what));
        }
    }
    faults
}

/// The numbers after `adr-`, `adr/` and `ADR `.
fn mentions(line: &str) -> impl Iterator<Item = String> {
    let line = line.to_ascii_lowercase();
    let begins: Vec<usize> = line.match_indices("adr").map(|(at, _)| at + 3).collect();
    begins.into_iter().filter_map(move |begin| {
        let number = line[begin..].strip_prefix(['-', '/', ' '])?;
        let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
        (digits.len() == 4).then_some(digits)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "# T\n## Context\n## Decision\n## Consequences\n## Alternatives\n";

    fn check(files: &[(&str, &str)], expected: &str) {
        let told: Vec<String> = faults(&House::of(files)).iter().map(Fault::to_string).collect();
        assert_eq!(told.join("; "), expected);
    }

    #[test]
    fn a_decision_that_is_mentioned_exists() {
        let decision = ("docs/adr/0001-pure-core.md", WHOLE);
        check(&[decision, ("a.md", "ADR 0001, [adr-0001], docs/adr/0001-pure-core.md")], "");
        for mention in ["ADR 0002", "[adr-0002]", "docs/adr/0002-x.md", "ADR-0002"] {
            check(
                &[decision, ("a.md", mention)],
                "a.md:1: decision 0002 does not exist, allowed are those in docs/adr/",
            );
        }
    }

    #[test]
    fn code_mentions_decisions_in_comments() {
        check(&[("a.rs", "let a = \"ADR 0002\";")], "");
        check(
            &[("a.rs", "\n// As in ADR 0002.")],
            "a.rs:2: decision 0002 does not exist, allowed are those in docs/adr/",
        );
    }

    #[test]
    fn a_decision_has_four_parts() {
        let text = WHOLE.replace("## Alternatives", "Alternatives");
        check(
            &[("docs/adr/0001-a.md", &text), ("docs/adr/README.md", "")],
            "docs/adr/0001-a.md:1: decision without the heading \"Alternatives\", \
             each has Context, Decision, Consequences, Alternatives",
        );
    }

    #[test]
    fn a_decision_has_a_number_of_its_own() {
        check(
            &[("docs/adr/0001-a.md", WHOLE), ("docs/adr/0001-b.md", WHOLE)],
            "docs/adr/0001-b.md:1: number 0001 is taken by docs/adr/0001-a.md, \
             allowed is a new one",
        );
        check(
            &[("docs/adr/first.md", WHOLE)],
            "docs/adr/first.md:1: decision named \"first.md\", allowed is NNNN-title.md",
        );
    }
}
