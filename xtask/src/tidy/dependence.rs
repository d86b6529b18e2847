//! Which crate may know which, and the lints that all of them keep.
//!
//! The crates of the workspace are layers. What a crate's tests use is its own affair; what it
//! ships with is not.

use crate::metadata::{Dependency, Package};
use crate::process::root;

use super::fault::Fault;
use super::house::{House, numbered};

/// What a crate may depend on.
struct Place {
    name: &'static str,
    /// Crates of this workspace.
    inside: &'static [&'static str],
    outside: Outside,
}

/// What a crate may take from elsewhere.
#[derive(Clone, Copy)]
enum Outside {
    Any,
    /// These only, and only as options: the crate is pure and builds without them.
    Options(&'static [&'static str]),
    /// These only: the crate is pure, and so are they.
    Pure(&'static [&'static str]),
}

const CORE: &str = "headcount-core";

const PLACES: [Place; 9] = [
    Place { name: CORE, inside: &[], outside: Outside::Options(&["serde"]) },
    Place {
        name: "headcount-sim",
        inside: &[CORE],
        outside: Outside::Pure(&["clarabel", "flate2", "rand", "rand_chacha", "rand_distr"]),
    },
    Place { name: "headcount-pool", inside: &[CORE], outside: Outside::Any },
    Place { name: "headcount-queue", inside: &[CORE], outside: Outside::Any },
    Place { name: "headcount-fleet", inside: &[CORE], outside: Outside::Any },
    Place { name: "headcount-ops", inside: &[CORE], outside: Outside::Any },
    Place {
        name: "headcount",
        inside: &[CORE, "headcount-pool", "headcount-queue", "headcount-fleet", "headcount-ops"],
        outside: Outside::Any,
    },
    Place {
        name: "headcount-cli",
        inside: &["headcount", CORE, "headcount-sim"],
        outside: Outside::Any,
    },
    Place { name: "xtask", inside: &[], outside: Outside::Any },
];

pub(crate) fn faults(house: &House, members: &[Package]) -> Vec<Fault> {
    let mut faults: Vec<Fault> = unsafe_allowed(house, members);
    for member in members {
        let path = manifest_path(member);
        faults.extend(missing_lints(house, &path));
        let Some(place) = PLACES.iter().find(|place| place.name == member.name) else {
            let what = format!("crate {:?} has no place in the table of dependence", member.name);
            faults.push(Fault::new(&path, 1, format!("{what}, allowed are those that have one")));
            continue;
        };
        faults.extend(missing_bans(house, place, &path));
        let wrong = |dependency| Some((dependency, wrong_dependency(place, members, dependency)?));
        for (dependency, what) in member.dependencies.iter().filter_map(wrong) {
            faults.push(Fault::new(&path, line_of(house, &path, &dependency.name), what));
        }
    }
    faults
}

/// What the core cannot be built without. Nothing, if all is well.
pub(crate) fn core_needs(package: &Package) -> Vec<String> {
    if package.name != CORE {
        return Vec::new();
    }
    let needed = package.dependencies.iter().filter(|needed| !needed.dev && !needed.optional);
    needed.map(|needed| format!("{CORE}: it needs {}, allowed is nothing", needed.name)).collect()
}

fn wrong_dependency(place: &Place, members: &[Package], dependency: &Dependency) -> Option<String> {
    let name = dependency.name.as_str();
    if dependency.dev {
        return None;
    }
    let is_inside = members.iter().any(|member| member.name == name);
    let allowed = match place.outside {
        _ if is_inside => place.inside.contains(&name),
        Outside::Any => true,
        Outside::Options(options) => options.contains(&name) && dependency.optional,
        Outside::Pure(pure) => pure.contains(&name),
    };
    (!allowed).then(|| {
        let kind = if dependency.optional { "optionally on" } else { "on" };
        format!("{} depends {kind} {name}, allowed are {}", place.name, allowed_list(place))
    })
}

fn allowed_list(place: &Place) -> String {
    let mut list: Vec<String> = place.inside.iter().map(ToString::to_string).collect();
    match place.outside {
        Outside::Any => list.push("crates from elsewhere".to_owned()),
        Outside::Options(options) => {
            list.extend(options.iter().map(|name| format!("{name} as an option")));
        }
        Outside::Pure(pure) => list.extend(pure.iter().map(ToString::to_string)),
    }
    list.join(", ")
}

/// From the root when the package lies below it.
fn manifest_path(member: &Package) -> String {
    let manifest = member.manifest.strip_prefix(root()).unwrap_or(&member.manifest);
    manifest.display().to_string()
}

fn line_of(house: &House, path: &str, dependency: &str) -> usize {
    let begins = |line: &str| {
        let rest = line.trim_start().strip_prefix(dependency);
        rest.is_some_and(|rest| rest.starts_with([' ', '.', '=']))
    };
    let file = house.file(path);
    file.and_then(|file| file.lines().find(|(_, line)| begins(line))).map_or(1, |(line, _)| line)
}

fn missing_lints(house: &House, path: &str) -> Option<Fault> {
    let text = house.file(path).map_or("", |file| file.text.as_str());
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let kept = lines.any(|line| line == "[lints]") && lines.next() == Some("workspace = true");
    (!kept).then(|| {
        Fault::new(path, 1, "crate with lints of its own, allowed is [lints] workspace = true")
    })
}

/// Files that may hold unsafe code, each with its reasons at its head.
const AUDITED: [&str; 2] =
    ["crates/headcount-pool/src/engine/ring.rs", "crates/headcount-pool/src/scope/erase.rs"];
/// Crates with such a file; all others forbid it, which nothing below can allow again.
const WITH_AUDITED: [&str; 1] = ["headcount-pool"];

fn unsafe_allowed(house: &House, members: &[Package]) -> Vec<Fault> {
    let manifest = house.file("Cargo.toml");
    let denied =
        manifest.is_none_or(|file| file.lines().any(|(_, l)| l == "unsafe_code = \"deny\""));
    let undenied = (!denied).then(|| {
        Fault::new("Cargo.toml", 1, "unsafe code is not denied, allowed is unsafe_code = \"deny\"")
    });
    let roots = members.iter().filter(|member| !WITH_AUDITED.contains(&member.name.as_str()));
    let unforbidden = roots.filter_map(|member| {
        let (lib, main) = (root_file(member, "lib.rs"), root_file(member, "main.rs"));
        let root = house.file(&lib).or_else(|| house.file(&main))?;
        let forbids = root.lines().any(|(_, line)| line == "#![forbid(unsafe_code)]");
        let what = "crate that does not forbid unsafe code, allowed is #![forbid(unsafe_code)]";
        (!forbids).then(|| Fault::new(&root.path, 1, what))
    });
    let allowing = house.rust().filter(|(file, _)| !AUDITED.contains(&file.path.as_str()));
    let unaudited = allowing.filter_map(|(file, source)| {
        let allows = |(_, line): &(usize, &str)| line.contains("allow(unsafe_code)");
        let (number, _) = numbered(&source.code).find(allows)?;
        Some(Fault::new(&file.path, number, "unsafe code, allowed is where it was audited"))
    });
    undenied.into_iter().chain(unforbidden).chain(unaudited).collect()
}

fn root_file(member: &Package, name: &str) -> String {
    let manifest = manifest_path(member);
    format!("{}/src/{name}", manifest.trim_end_matches("/Cargo.toml"))
}

/// Pure crates tell clippy to keep them so.
fn missing_bans(house: &House, place: &Place, path: &str) -> Option<Fault> {
    if matches!(place.outside, Outside::Any) {
        return None;
    }
    let path = path.replace("Cargo.toml", "clippy.toml");
    let banned = |name: &str| house.file(&path).is_some_and(|file| file.text.contains(name));
    let all = ["std::time::Instant::now", "std::thread::spawn", "std::collections::HashMap"];
    let missing = all.into_iter().find(|name| !banned(name))?;
    Some(Fault::new(&path, 1, format!("{missing} is not banned, allowed is a crate that is pure")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINTS: &str = "\n[lints]\nworkspace = true\n";
    const BANS: &str = "std::time::Instant::now std::thread::spawn std::collections::HashMap";

    /// Dependencies are `name`, `name?` when optional, `name*` when for tests.
    fn package(name: &str, dependencies: &str) -> Package {
        let dependency = |word: &str| Dependency {
            name: word.trim_end_matches(['?', '*']).to_owned(),
            optional: word.ends_with('?'),
            dev: word.ends_with('*'),
        };
        Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            licence: None,
            source: None,
            manifest: format!("crates/{name}/Cargo.toml").into(),
            dependencies: dependencies.split_whitespace().map(dependency).collect(),
            binaries: Vec::new(),
        }
    }

    fn told(house: &House, members: &[Package]) -> String {
        let told: Vec<String> = faults(house, members).iter().map(Fault::to_string).collect();
        told.join("; ")
    }

    fn check(name: &str, dependencies: &str, expected: &str) {
        let path = format!("crates/{name}/Cargo.toml");
        let house = House::of(&[
            (&path, &format!("[dependencies]{LINTS}")),
            (&format!("crates/{name}/clippy.toml"), BANS),
        ]);
        let members = [
            package(name, dependencies),
            package("headcount-core", ""),
            package("headcount-sim", ""),
            package("headcount-pool", ""),
            package("headcount-queue", ""),
        ];
        let faults = faults(&house, &members);
        let here: Vec<String> =
            faults.iter().map(Fault::to_string).filter(|fault| fault.starts_with(&path)).collect();
        let expected =
            if expected.is_empty() { String::new() } else { format!("{path}:1: {expected}") };
        assert_eq!(here.join("; "), expected, "{name}: {dependencies}");
    }

    #[test]
    fn the_core_depends_on_nothing() {
        let allowed = "allowed are serde as an option";
        check("headcount-core", "serde? proptest*", "");
        check("headcount-core", "serde", &format!("headcount-core depends on serde, {allowed}"));
        check(
            "headcount-core",
            "rand?",
            &format!("headcount-core depends optionally on rand, {allowed}"),
        );
        check(
            "headcount-core",
            "headcount-sim",
            &format!("headcount-core depends on headcount-sim, {allowed}"),
        );
    }

    #[test]
    fn the_simulator_knows_only_the_core() {
        check("headcount-sim", "headcount-core rand clarabel", "");
        check(
            "headcount-sim",
            "headcount-core tokio",
            "headcount-sim depends on tokio, allowed are headcount-core, clarabel, flate2, rand, \
             rand_chacha, rand_distr",
        );
    }

    #[test]
    fn siblings_do_not_know_each_other() {
        check("headcount-ops", "headcount-core hyper headcount-pool*", "");
        check(
            "headcount-ops",
            "headcount-core headcount-pool",
            "headcount-ops depends on headcount-pool, \
             allowed are headcount-core, crates from elsewhere",
        );
    }

    #[test]
    fn the_top_knows_those_below_it() {
        check("headcount", "headcount-core headcount-pool headcount-queue tokio", "");
        check("headcount-cli", "headcount headcount-core headcount-sim clap", "");
        check(
            "headcount-cli",
            "headcount-pool",
            "headcount-cli depends on headcount-pool, \
             allowed are headcount, headcount-core, headcount-sim, crates from elsewhere",
        );
        check(
            "xtask",
            "headcount-core",
            "xtask depends on headcount-core, allowed are crates from elsewhere",
        );
    }

    #[test]
    fn a_new_crate_needs_a_place() {
        check(
            "headcount-new",
            "",
            "crate \"headcount-new\" has no place in the table of dependence, \
             allowed are those that have one",
        );
    }

    #[test]
    fn a_fault_is_where_the_dependency_is() {
        let manifest = format!("[dependencies]\nrand_core = 1\nrand = \"1\"{LINTS}");
        let house = House::of(&[("crates/xtask/Cargo.toml", &manifest)]);
        assert_eq!(line_of(&house, "crates/xtask/Cargo.toml", "rand"), 3);
        assert_eq!(line_of(&house, "crates/xtask/Cargo.toml", "serde"), 1);
    }

    #[test]
    fn a_crate_keeps_the_lints_of_all() {
        let house = House::of(&[("crates/xtask/Cargo.toml", "[lints]\nrust.a = \"warn\"\n")]);
        assert_eq!(
            told(&house, &[package("xtask", "")]),
            "crates/xtask/Cargo.toml:1: crate with lints of its own, \
             allowed is [lints] workspace = true"
        );
    }

    #[test]
    fn unsafe_code_stays_denied() {
        let house = House::of(&[("Cargo.toml", "unsafe_code = \"allow\"")]);
        let fault = "Cargo.toml:1: unsafe code is not denied, allowed is unsafe_code = \"deny\"";
        assert_eq!(told(&house, &[]), fault);
    }

    #[test]
    fn unsafe_code_stays_where_it_was_audited() {
        let allows = "#![allow(unsafe_code)]\n";
        let house = House::of(&[
            ("crates/headcount-pool/src/scope/erase.rs", allows),
            ("crates/headcount-pool/src/lib.rs", allows),
        ]);
        let fault = "crates/headcount-pool/src/lib.rs:1: unsafe code, \
                     allowed is where it was audited";
        assert_eq!(told(&house, &[]), fault);
    }

    #[test]
    fn crates_without_unsafe_code_forbid_it() {
        let house = House::of(&[
            ("crates/xtask/Cargo.toml", LINTS),
            ("crates/xtask/src/main.rs", "//! A\n"),
        ]);
        let fault = "crates/xtask/src/main.rs:1: crate that does not forbid unsafe code, \
                     allowed is #![forbid(unsafe_code)]";
        assert_eq!(told(&house, &[package("xtask", "")]), fault);
    }

    #[test]
    fn a_pure_crate_bans_what_is_not() {
        let house = House::of(&[
            ("crates/headcount-sim/Cargo.toml", LINTS),
            ("crates/headcount-sim/clippy.toml", "std::time::Instant::now"),
        ]);
        assert_eq!(
            told(&house, &[package("headcount-sim", "")]),
            "crates/headcount-sim/clippy.toml:1: std::thread::spawn is not banned, \
             allowed is a crate that is pure"
        );
    }
}
