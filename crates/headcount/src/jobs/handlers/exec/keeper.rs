//! Ends the programs of this process when it can no longer do so itself.
//!
//! A process that is killed with signal 9 tells nobody. So a keeper, a small process of its own, is
//! told of each group that begins and ends, and listens at a pipe that closes however this process
//! goes: then it kills whatever is left. One keeper serves all programs, begins with the first of
//! them, and is begun anew should it be lost. It needs `/bin/sh`; without one, programs outlive a
//! killed process as they always did.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::process::Pid;

/// Reads lines of a sign and a group: `+ 12` begins, `- 12` ends. Signals that a terminal or a
/// service manager sends to everybody are not meant for it.
const SCRIPT: &str = r#"trap '' HUP INT TERM
all=' '
while read -r sign group; do
  case $all in *" $group "*) all="${all%% $group *} ${all#* $group }" ;; esac
  case $sign in +) all="$all$group " ;; esac
done
for group in $all; do kill -s KILL -- "-$group"; done"#;

static KEEPER: Mutex<Keeper> = Mutex::new(Keeper { process: None, groups: BTreeSet::new() });

/// The groups of programs that run, and who is told of them.
struct Keeper {
    process: Option<Child>,
    groups: BTreeSet<i32>,
}

/// A group that does not outlive this process. Dropping this says that it is over.
#[derive(Debug)]
pub(super) struct Kept {
    group: i32,
}

/// Sees to it that there is a keeper before there is a program: to begin one takes milliseconds, in
/// which a program would have nobody.
pub(super) fn prepare() {
    with_keeper(|keeper| {
        if keeper.process.is_none() {
            keeper.process = begin().ok();
        }
    });
}

impl Kept {
    pub(super) fn new(group: Pid) -> Self {
        let group = group.as_raw_nonzero().get();
        with_keeper(|keeper| {
            keeper.groups.insert(group);
            keeper.tell('+', group);
        });
        Self { group }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        with_keeper(|keeper| {
            keeper.groups.remove(&self.group);
            keeper.tell('-', self.group);
        });
    }
}

fn with_keeper(act: impl FnOnce(&mut Keeper)) {
    act(&mut KEEPER.lock().unwrap_or_else(PoisonError::into_inner));
}

impl Keeper {
    fn tell(&mut self, sign: char, group: i32) {
        if self.process.as_mut().is_some_and(|process| write(process, sign, group).is_ok()) {
            return;
        }
        self.dismiss();
        if self.groups.is_empty() {
            return;
        }
        let begun = begin().and_then(|mut process| {
            for group in &self.groups {
                write(&mut process, '+', *group)?;
            }
            Ok(process)
        });
        self.process = begun.ok();
    }

    /// One that does not listen any more must not act on what it last heard.
    fn dismiss(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _gone = process.kill();
            let _reaped = process.wait();
        }
    }
}

fn begin() -> io::Result<Child> {
    use std::os::unix::process::CommandExt as _;
    let mut command = Command::new("/bin/sh");
    // In a group and a directory of its own, so that it is in nobody's way and ends with nobody.
    command.args(["-c", SCRIPT, "headcount-keeper"]).env_clear().current_dir("/").process_group(0);
    let process =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    if let Some(pipe) = &process.stdin {
        // A keeper that was stopped holds up no job.
        rustix::io::ioctl_fionbio(pipe, true)?;
    }
    Ok(process)
}

fn write(process: &mut Child, sign: char, group: i32) -> io::Result<()> {
    let pipe = process.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
    // A line is shorter than what a pipe takes at once, so it is written whole or not at all.
    pipe.write_all(format!("{sign} {group}\n").as_bytes())
}
