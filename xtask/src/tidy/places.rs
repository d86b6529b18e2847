//! Names of places that mean nothing to a reader elsewhere: directories of one machine, and the
//! hosts of package registries, which each builder chooses for himself.
//!
//! The names are kept in parts, so that this file keeps its own rule.

use super::fault::Fault;
use super::house::{File, House};
use super::source::is_of_word;

/// Directories that only one machine has, without the slash before them.
const DIRECTORIES: [&str; 4] = ["work", "root", "home", "Users"];

/// The hosts of registries, around their dot.
const REGISTRIES: [(&str, &str); 4] =
    [("crates", "io"), ("npmjs", "org"), ("pypi", "org"), ("pythonhosted", "org")];

pub(crate) fn faults(house: &House) -> Vec<Fault> {
    // Cargo writes the registry into its lock file; nobody else reads it.
    let written = house.files.iter().filter(|file| file.name() != "Cargo.lock");
    written.flat_map(faults_in).collect()
}

fn faults_in(file: &File) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (number, line) in file.lines() {
        for name in DIRECTORIES.iter().filter(|name| names_directory(line, name)) {
            let what = format!("path /{name} of one machine, allowed are paths from the root here");
            faults.push(Fault::new(&file.path, number, what));
        }
        for (host, end) in REGISTRIES {
            let host = format!("{host}.{end}");
            if line.contains(&host) {
                let what = format!("registry {host} by its host, allowed is \"the registry\"");
                faults.push(Fault::new(&file.path, number, what));
            }
        }
    }
    faults
}

/// An absolute path: `docs/work` and `https://example.org/work` are none, `/workers` is another.
fn names_directory(line: &str, name: &str) -> bool {
    let path = format!("/{name}");
    line.match_indices(&path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + path.len()..].chars().next();
        let begins = !before.is_some_and(|c| is_of_word(c) || ".-/})".contains(c));
        let ends = !after.is_some_and(|c| is_of_word(c) || c == '-');
        begins && ends
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str, faults_expected: usize) {
        assert_eq!(faults(&House::of(&[(path, text)])).len(), faults_expected, "{text}");
    }

    #[test]
    fn a_directory_of_one_machine_is_found() {
        for name in DIRECTORIES {
            check("a.md", &format!("see `/{name}/x`"), 1);
            check("a.rs", &format!("\"/{name}\""), 1);
        }
    }

    #[test]
    fn other_paths_are_not() {
        for text in ["docs/work", "/workers", "https://example.org/work", "./root", "/work-items"] {
            check("a.md", text, 0);
        }
    }

    #[test]
    fn a_registry_is_found_by_its_host() {
        let host = REGISTRIES.map(|(host, end)| format!("https://index.{host}.{end}/x"));
        for text in &host {
            check("README.md", text, 1);
            check("Cargo.lock", text, 0);
        }
    }

    #[test]
    fn a_fault_tells_the_line_and_the_name() {
        let told = faults(&House::of(&[("a.md", &format!("\n/{}/", DIRECTORIES[0]))]));
        let name = DIRECTORIES[0];
        let expected =
            format!("a.md:2: path /{name} of one machine, allowed are paths from the root here");
        assert_eq!(told[0].to_string(), expected);
    }
}
