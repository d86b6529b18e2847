//! The one-liner of the README does what it says.

use std::env;
use std::path::Path;
use std::process::Command;

#[test]
fn the_one_liner_of_the_readme_runs() {
    let readme = include_str!("../../../README.md");
    let line = readme.lines().find(|line| line.contains("| headcount run")).expect("it has one");
    let binary = Path::new(env!("CARGO_BIN_EXE_headcount")).parent().expect("a directory");
    let path = env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-c", line])
        .env("PATH", format!("{}:{path}", binary.display()))
        .output()
        .expect("there is a shell");
    let expected: Vec<String> = (1..=20).map(|n| format!("item {n}")).collect();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim_end(), expected.join("\n"));
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}
