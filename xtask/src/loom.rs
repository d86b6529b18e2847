//! `loom`: runs the concurrency models of the crates that have them.
//!
//! A model is a test in a module named `loom`, compiled with `--cfg loom`, which tries every order
//! in which its threads can meet.

use std::env;

use crate::outcome::{Outcome, green_if, takes_nothing};
use crate::process::{cargo, succeeds};

/// The crates that have models.
const MODELLED: [&str; 1] = ["headcount-pool"];

pub(crate) fn run(arguments: &[String]) -> Outcome {
    takes_nothing("loom", arguments)?;
    // Every crate is run, so that one red model does not hide another.
    let red: Vec<&&str> = MODELLED.iter().filter(|name| !models_hold(name)).collect();
    green_if(red.is_empty())
}

fn models_hold(name: &str) -> bool {
    let flags = env::var("RUSTFLAGS").unwrap_or_default();
    let mut command = cargo(&["test", "--release", "--package", name, "--lib", "loom"]);
    succeeds(command.env("RUSTFLAGS", format!("{flags} --cfg loom").trim()))
}
