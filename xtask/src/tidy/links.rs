//! Relative links in the documents lead somewhere.

use super::fault::Fault;
use super::house::{File, House};

pub(crate) fn faults(house: &House) -> Vec<Fault> {
    house.markdown().flat_map(|file| faults_in(house, file)).collect()
}

fn faults_in(house: &House, file: &File) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut fenced = false;
    for (number, line) in file.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        let line = without_code(line);
        for target in targets(&line).filter(|target| !leads_somewhere(house, file, target)) {
            let what = format!("link to {target:?}, allowed are files that exist");
            faults.push(Fault::new(&file.path, number, what));
        }
    }
    faults
}

/// What is between backticks is not a link.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// The targets of `[text](target)`, `[text](target "title")` and `[name]: target`.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let inline = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let definition = line.trim_start().strip_prefix('[').and_then(|rest| rest.split_once("]: "));
    let all = inline.chain(definition.map(|(_, target)| target));
    all.filter_map(|target| target.split_whitespace().next())
}

fn leads_somewhere(house: &House, file: &File, target: &str) -> bool {
    let target = target.trim_matches(['<', '>']);
    let path = target.split('#').next().unwrap_or_default();
    let is_elsewhere = target.contains("://") || target.starts_with("mailto:");
    if is_elsewhere || path.is_empty() {
        return true;
    }
    resolve(&file.path, path).is_some_and(|path| house.has(&path))
}

/// The path from the root; nothing when it leads out of the repository.
fn resolve(from: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop()?,
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let house = House::of(&[("docs/a.md", text), ("docs/adr/b.md", ""), ("README.md", "")]);
        let told: Vec<String> = faults(&house).iter().map(Fault::to_string).collect();
        assert_eq!(told.join("; "), expected, "{text}");
    }

    #[test]
    fn a_link_leads_to_a_file_or_a_directory() {
        check("[b](adr/b.md) [b](./adr/b.md#part) [d](adr/) [r](../README.md) [r](..)", "");
        check("[b](b.md)", "docs/a.md:1: link to \"b.md\", allowed are files that exist");
        check(
            "\n![b](x.png \"t\")",
            "docs/a.md:2: link to \"x.png\", allowed are files that exist",
        );
        check("[b]: c.md", "docs/a.md:1: link to \"c.md\", allowed are files that exist");
    }

    #[test]
    fn a_link_stays_in_the_repository() {
        let fault = "docs/a.md:1: link to \"../../x.md\", allowed are files that exist";
        check("[x](../../x.md)", fault);
    }

    #[test]
    fn what_is_elsewhere_or_code_is_left_alone() {
        check("[a](https://example.org/a) [a](#part) [m](mailto:a@example.org)", "");
        check("`[a](b.md)`", "");
        check("```text\n[a](b.md)\n```", "");
        check("```\n```\n[a](b.md)", "docs/a.md:3: link to \"b.md\", allowed are files that exist");
    }
}
