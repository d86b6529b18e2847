//! What cargo knows about packages, reduced to what the rules ask.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::process::{answer, cargo};

/// A package of the workspace, or one that it depends on.
#[derive(Clone, Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) licence: Option<String>,
    /// Where it was fetched from; nothing for a package of this workspace.
    pub(crate) source: Option<String>,
    pub(crate) manifest: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) binaries: Vec<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) optional: bool,
    /// Only its tests, examples and benchmarks need it.
    pub(crate) dev: bool,
}

/// The packages of one workspace, without what they depend on. Never needs the network.
pub(crate) fn members(manifest: &Path) -> Result<Vec<Package>, String> {
    let manifest = manifest.display().to_string();
    ask(&["--no-deps", "--manifest-path", &manifest])
}

/// All packages that a build on some platform with some features can contain.
///
/// Without the network cargo knows only the packages of this machine's platform, so those are
/// asked for next.
pub(crate) fn everything() -> Result<Vec<Package>, String> {
    ask(&["--all-features"]).or_else(|_| {
        let platform = platform()?;
        println!("the registry cannot be reached: only what {platform} needs is checked");
        ask(&["--all-features", "--offline", "--filter-platform", &platform])
    })
}

fn platform() -> Result<String, String> {
    let version = answer(Command::new("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc does not say what its host is".to_owned())
}

fn ask(arguments: &[&str]) -> Result<Vec<Package>, String> {
    let mut command = cargo(&["metadata", "--format-version", "1"]);
    read(&answer(command.args(arguments))?)
}

fn read(json: &str) -> Result<Vec<Package>, String> {
    let metadata: Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata lists no packages")?;
    Ok(packages.iter().map(package).collect())
}

fn package(value: &Value) -> Package {
    Package {
        name: text(&value["name"]).unwrap_or_default(),
        version: text(&value["version"]).unwrap_or_default(),
        licence: text(&value["license"]),
        source: text(&value["source"]),
        manifest: text(&value["manifest_path"]).unwrap_or_default().into(),
        dependencies: list(&value["dependencies"]).map(dependency).collect(),
        binaries: list(&value["targets"]).filter_map(binary).collect(),
    }
}

fn dependency(value: &Value) -> Dependency {
    Dependency {
        name: text(&value["name"]).unwrap_or_default(),
        optional: value["optional"].as_bool().unwrap_or(false),
        dev: value["kind"] == "dev",
    }
}

fn binary(target: &Value) -> Option<String> {
    let is_binary = list(&target["kind"]).any(|kind| kind == "bin");
    if is_binary { text(&target["name"]) } else { None }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_read() {
        let packages = read(
            r#"{"packages": [{
                "name": "spade", "version": "1.2.3", "license": "MIT", "source": null,
                "manifest_path": "/s/Cargo.toml",
                "dependencies": [
                    {"name": "a", "kind": null, "optional": true},
                    {"name": "b", "kind": "dev", "optional": false}
                ],
                "targets": [{"name": "dig", "kind": ["bin"]}, {"name": "spade", "kind": ["lib"]}]
            }]}"#,
        );
        let packages = packages.expect("the JSON is what cargo writes");
        let [spade] = packages.as_slice() else { panic!("one package, not {}", packages.len()) };
        assert_eq!((spade.name.as_str(), spade.version.as_str()), ("spade", "1.2.3"));
        assert_eq!((spade.licence.as_deref(), spade.source.as_deref()), (Some("MIT"), None));
        assert_eq!(spade.binaries, ["dig"]);
        let told: Vec<_> =
            spade.dependencies.iter().map(|d| (d.name.as_str(), d.optional, d.dev)).collect();
        assert_eq!(told, [("a", true, false), ("b", false, true)]);
    }

    #[test]
    fn what_is_not_metadata_is_refused() {
        assert!(read("{}").is_err());
        assert!(read("error: no manifest").is_err());
    }
}
