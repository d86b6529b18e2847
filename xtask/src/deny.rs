//! `deny`: judges every package that a build can contain, by licence, name and origin.
//!
//! From `cargo metadata` alone, so it works without the network and without another tool. The
//! benchmarks in `bench/` are a workspace of their own: what they compare us with is not judged.

use crate::licence;
use crate::metadata::{self, Package};
use crate::outcome::{Outcome, green_if, red, takes_nothing};
use crate::tidy::core_needs;

/// Crates we do not build on, and why.
const BANNED: [(&str, &str); 9] = [
    ("bincode", "its last release is a tombstone that does not compile; use postcard"),
    ("serde_yaml", "no longer maintained; use serde-saphyr"),
    ("serde_yml", "no longer maintained; use serde-saphyr"),
    ("fred", "stalled; use redis"),
    ("figment", "stalled; read the layers of the configuration ourselves"),
    ("sled", "stalled at an alpha since 2021; use redb"),
    ("threadpool", "no release since 2020; pools are what we make"),
    ("celery", "no release since 2023; queues are what we make"),
    ("iai-callgrind", "goes on under the name gungraun"),
];

pub(crate) fn run(arguments: &[String]) -> Outcome {
    takes_nothing("deny", arguments)?;
    let packages = match metadata::everything() {
        Ok(packages) => packages,
        Err(why) => return red(&why),
    };
    let faults = faults(&packages);
    for fault in &faults {
        println!("{fault}");
    }
    println!("deny: {} packages, {} faults", packages.len(), faults.len());
    green_if(faults.is_empty())
}

fn faults(packages: &[Package]) -> Vec<String> {
    let mut faults = Vec::new();
    for package in packages {
        let wrong = [wrong_licence(package), wrong_name(package), wrong_origin(package)];
        for what in wrong.into_iter().flatten() {
            faults.push(format!("{} {}: {what}", package.name, package.version));
        }
        faults.extend(core_needs(package));
    }
    faults
}

fn wrong_licence(package: &Package) -> Option<String> {
    let Some(licence) = &package.licence else {
        return Some("it states no licence".to_owned());
    };
    match licence::is_acceptable(licence) {
        Ok(true) => None,
        Ok(false) => {
            let accepted = licence::ACCEPTED.join(", ");
            Some(format!("licence {licence:?} is not acceptable, these are: {accepted}"))
        }
        Err(why) => Some(format!("licence {licence:?} cannot be read: {why}")),
    }
}

fn wrong_name(package: &Package) -> Option<String> {
    let (_, why) = BANNED.iter().find(|(name, _)| *name == package.name)?;
    Some(format!("it is banned: {why}"))
}

/// What comes from a repository can change or vanish, and cannot be published with us.
fn wrong_origin(package: &Package) -> Option<String> {
    let source = package.source.as_ref()?;
    let published = source.starts_with("registry+") || source.starts_with("sparse+");
    (!published).then(|| format!("it comes from {source:?}, not from a registry"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Dependency;

    fn package(name: &str, licence: Option<&str>, source: Option<&str>) -> Package {
        Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            licence: licence.map(str::to_owned),
            source: source.map(str::to_owned),
            manifest: "Cargo.toml".into(),
            dependencies: Vec::new(),
            binaries: Vec::new(),
        }
    }

    fn check(package: Package, expected: &str) {
        let told = faults(&[package]).join("; ");
        match expected {
            "" => assert_eq!(told, ""),
            _ => assert!(told.starts_with(expected), "{told:?} should begin {expected:?}"),
        }
    }

    #[test]
    fn a_good_package_has_no_fault() {
        check(package("serde", Some("MIT OR Apache-2.0"), Some("registry+https://r")), "");
        check(package("headcount-core", Some("MIT"), None), "");
    }

    #[test]
    fn a_licence_must_be_stated_known_and_acceptable() {
        check(package("spade", None, None), "spade 1.0.0: it states no licence");
        check(
            package("spade", Some("GPL-3.0-only"), None),
            "spade 1.0.0: licence \"GPL-3.0-only\" is not acceptable, these are: 0BSD, ",
        );
        check(package("spade", Some("MIT OR"), None), "spade 1.0.0: licence \"MIT OR\" cannot be");
    }

    #[test]
    fn a_banned_crate_is_refused_with_the_reason() {
        check(package("sled", Some("MIT"), None), "sled 1.0.0: it is banned: stalled at an alpha");
    }

    #[test]
    fn a_repository_is_not_an_origin() {
        check(
            package("spade", Some("MIT"), Some("git+https://example.org/s#1234")),
            "spade 1.0.0: it comes from \"git+https://example.org/s#1234\", not from a registry",
        );
    }

    #[test]
    fn the_core_needs_nothing() {
        let mut core = package("headcount-core", Some("MIT"), None);
        let dependency = Dependency { name: "libc".to_owned(), optional: false, dev: false };
        core.dependencies = vec![dependency];
        check(core, "headcount-core: it needs libc");
    }
}
