//! The format, the lints and the features, as cargo calls.

use std::process::Command;

use crate::process::{answer, cargo};

/// Something that cargo can say yes or no to.
pub(crate) struct Check {
    pub(crate) name: &'static str,
    arguments: &'static [&'static str],
    /// What the toolchain must have for it: the cargo command, and the component it is in.
    component: Option<(&'static str, &'static str)>,
}

pub(crate) const FORMAT: Check = Check {
    name: "fmt",
    arguments: &["fmt", "--all", "--check"],
    component: Some(("fmt", "rustfmt")),
};

pub(crate) const CLIPPY: Check = Check {
    name: "clippy",
    arguments: &[
        "clippy",
        "--workspace",
        "--all-targets",
        "--all-features",
        "--",
        "--deny",
        "warnings",
    ],
    component: Some(("clippy", "clippy")),
};

/// The core as those have it who take nothing else.
///
/// Built together, crates share the features of what they depend on: what one crate forgot to ask
/// for, another may have asked for. Only a crate built alone shows what it lacks.
pub(crate) const BARE_CORE: Check = Check {
    name: "core alone",
    arguments: &["check", "--package", "headcount-core", "--no-default-features"],
    component: None,
};

pub(crate) const FULL_CORE: Check = Check {
    name: "core alone, all features",
    arguments: &["check", "--package", "headcount-core", "--all-features"],
    component: None,
};

impl Check {
    pub(crate) fn command(&self) -> Command {
        cargo(self.arguments)
    }

    /// What is missing, and how to get it, on a toolchain without the component.
    pub(crate) fn missing(&self) -> Option<String> {
        let (command, component) = self.component?;
        let here = answer(&mut cargo(&[command, "--version"])).is_ok();
        (!here).then(|| format!("the toolchain lacks it: rustup component add {component}"))
    }
}
