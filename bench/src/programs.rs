//! Programs that a benchmark needs and that are not crates.

use std::process::{Command, Stdio};

/// Whether this program can be run here.
pub(crate) fn answers(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Installs a package of Debian and its kin; elsewhere it stays away.
pub(crate) fn install(package: &str) -> bool {
    let mut command = Command::new("apt-get");
    command.args(["install", "--yes", "--no-install-recommends", package]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
