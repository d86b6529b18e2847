//! `bench`: runs a benchmark, or lists them.
//!
//! The benchmarks are a workspace of their own in `bench/`, so that the crates they compare us with
//! never meet ours. Each is a program that prints a report and, asked with `--json FILE`, writes it
//! to a file too. `policies` is not among them: it compares rules, not crates, and is what
//! `headcount sim bench` does.

use std::path::{self, Path};

use crate::metadata;
use crate::outcome::{Outcome, Stop, green_if, red};
use crate::process::{cargo, root, succeeds};

/// The benchmark of policies, which is a command of our own.
const POLICIES: &str = "policies";
/// Flags that are followed by a file or a folder.
const FILE_FLAGS: [&str; 3] = ["--json", "--traces", "--scatter"];

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let manifest = root().join("bench").join("Cargo.toml");
    let names = match binaries(&manifest) {
        Ok(names) => [vec![POLICIES.to_owned()], names].concat(),
        Err(why) => return red(&why),
    };
    match choose(&names, arguments)? {
        Choice::List => {
            println!("{}", list(&names));
            Ok(())
        }
        Choice::Run { name: POLICIES, rest } => {
            let mut command = cargo(&["run", "--release", "-q", "-p", "headcount-cli", "--"]);
            command.args(["sim", "bench"]).args(rest);
            green_if(succeeds(&mut command))
        }
        Choice::Run { name, rest } => {
            let manifest = manifest.display().to_string();
            let mut command = cargo(&["run", "--release", "--manifest-path", &manifest]);
            command.args(["--bin", name, "--"]).args(rest);
            green_if(succeeds(&mut command))
        }
    }
}

fn binaries(manifest: &Path) -> Result<Vec<String>, String> {
    if !manifest.is_file() {
        return Ok(Vec::new());
    }
    let packages = metadata::members(manifest)?;
    Ok(packages.into_iter().flat_map(|package| package.binaries).collect())
}

#[derive(Debug, PartialEq, Eq)]
enum Choice<'a> {
    List,
    Run { name: &'a str, rest: Vec<String> },
}

fn choose<'a>(names: &'a [String], arguments: &[String]) -> Result<Choice<'a>, Stop> {
    let Some((wanted, rest)) = arguments.split_first() else { return Ok(Choice::List) };
    let Some(name) = names.iter().find(|name| *name == wanted) else {
        let list = list(names);
        return Err(Stop::Misused(format!("there is no benchmark {wanted:?}; {list}")));
    };
    Ok(Choice::Run { name, rest: with_absolute_files(rest)? })
}

/// The benchmark starts in the root of the repository, its caller may be elsewhere.
fn with_absolute_files(arguments: &[String]) -> Result<Vec<String>, Stop> {
    let mut made = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let (flag, behind) = match word.split_once('=') {
            Some((flag, file)) => (flag, Some(file)),
            None => (word.as_str(), None),
        };
        if !FILE_FLAGS.contains(&flag) {
            made.push(word.clone());
            continue;
        }
        let Some(file) = behind.or_else(|| words.next().map(String::as_str)) else {
            return Err(Stop::Misused(format!("{flag} needs the name of a file after it")));
        };
        match path::absolute(file) {
            Ok(absolute) => made.extend([flag.to_owned(), absolute.display().to_string()]),
            Err(error) => return Err(Stop::Misused(format!("{flag} {file:?}: {error}"))),
        }
    }
    Ok(made)
}

fn list(names: &[String]) -> String {
    match names {
        [] => "there are no benchmarks yet".to_owned(),
        names => format!("there are: {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(names: &str, arguments: &str, expected: &str) {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let names = words(names);
        let told = match choose(&names, &words(arguments)) {
            Ok(Choice::List) => "list".to_owned(),
            Ok(Choice::Run { name, rest }) => format!("{name} with {}", rest.join(" ")),
            Err(Stop::Misused(why)) => why,
            Err(Stop::Red) => "red".to_owned(),
        };
        assert_eq!(told, expected);
    }

    #[test]
    fn without_a_name_they_are_listed() {
        check("spawn", "", "list");
        assert_eq!(list(&[]), "there are no benchmarks yet");
        assert_eq!(list(&["spawn".to_owned(), "burst".to_owned()]), "there are: spawn, burst");
    }

    #[test]
    fn the_rest_is_handed_on() {
        check("spawn burst", "burst --seconds 3", "burst with --seconds 3");
        check("spawn", "spawn --json /tmp/x --fast", "spawn with --json /tmp/x --fast");
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        check("spawn", "sprawn", "there is no benchmark \"sprawn\"; there are: spawn");
        check("", "spawn", "there is no benchmark \"spawn\"; there are no benchmarks yet");
    }

    #[test]
    fn json_without_a_file_is_refused() {
        check("spawn", "spawn --json", "--json needs the name of a file after it");
    }

    #[test]
    fn a_file_is_where_the_caller_is() {
        let arguments = ["--json", "out.json", "--seeds", "1", "--traces=dir"].map(str::to_owned);
        let absolute = with_absolute_files(&arguments).expect("the arguments are complete");
        assert!([1, 5].iter().all(|at| Path::new(&absolute[*at]).is_absolute()), "{absolute:?}");
        assert_eq!([&absolute[0], &absolute[3], &absolute[4]], ["--json", "1", "--traces"]);
    }
}
