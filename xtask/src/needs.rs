//! What the tests need beyond the Rust toolchain, and how to get it.
//!
//! A test command that works on a fresh machine installs what it needs itself, or says in one line
//! what to type. Debian packages, because that is what CI runs on.

use std::process::Command;

use crate::process::{answer, find, succeeds_quietly};

/// A Debian package, and the program whose presence proves that it is there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need {
    pub(crate) package: &'static str,
    pub(crate) program: &'static str,
}

/// The store that machines share is tested on a server which the tests start themselves. The
/// service that the package starts is nobody's concern here.
pub(crate) const NEEDS: &[Need] = &[Need { package: "redis-server", program: "redis-server" }];

/// Installs what is missing when we may, and says how to get it when we may not.
///
/// It does not fail: a test that misses something says so better than a failed installation.
pub(crate) fn prepare(needs: &[Need]) {
    let missing: Vec<&str> =
        needs.iter().filter(|need| find(need.program).is_none()).map(|need| need.package).collect();
    match plan(&missing, may_install()) {
        Plan::Nothing => {}
        Plan::Ask(how) => eprintln!("{how}"),
        Plan::Install(calls) => {
            for call in calls {
                if !succeeds_quietly(Command::new(&call[0]).args(&call[1..])) {
                    eprintln!("could not be run: {}", call.join(" "));
                    return;
                }
            }
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Plan {
    Nothing,
    Install([Vec<String>; 2]),
    Ask(String),
}

fn plan(missing: &[&str], may_install: bool) -> Plan {
    if missing.is_empty() {
        return Plan::Nothing;
    }
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<String>>();
    let packages = missing.join(" ");
    if may_install {
        // A fresh image has no package lists.
        return Plan::Install([
            words("apt-get update"),
            words(&format!("apt-get install --yes --no-install-recommends {packages}")),
        ]);
    }
    Plan::Ask(format!("some tests need more than is here: sudo apt-get install {packages}"))
}

fn may_install() -> bool {
    find("apt-get").is_some()
        && answer(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_missing_is_nothing_to_do() {
        assert_eq!(plan(&[], true), Plan::Nothing);
        assert_eq!(plan(&[], false), Plan::Nothing);
    }

    #[test]
    fn root_installs_all_that_is_missing_at_once() {
        let Plan::Install([update, install]) = plan(&["redis-server", "jq"], true) else {
            panic!("root installs");
        };
        assert_eq!(update.join(" "), "apt-get update");
        assert_eq!(
            install.join(" "),
            "apt-get install --yes --no-install-recommends redis-server jq"
        );
    }

    #[test]
    fn others_are_told_what_to_type() {
        let Plan::Ask(how) = plan(&["redis-server"], false) else {
            panic!("others are asked");
        };
        assert!(how.ends_with("sudo apt-get install redis-server"), "{how}");
    }
}
