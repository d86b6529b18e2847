//! The children that run now, so that they can be told to stop.
//!
//! Each child leads a process group of its own: a signal reaches all that it has started, and the
//! terminal's Ctrl-C does not. A child is taken out before it is reaped; until then its number is
//! its own and no signal can reach a stranger.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};

/// The children that run now.
#[derive(Debug, Default)]
pub(super) struct Family {
    members: Mutex<Members>,
}

#[derive(Debug, Default)]
struct Members {
    groups: BTreeSet<i32>,
    /// What newcomers are told at once, as everybody else was.
    told: Option<Signal>,
}

/// A child that is registered; dropping it takes it out.
#[derive(Debug)]
pub(super) struct Member<'a> {
    family: &'a Family,
    pub(super) group: Pid,
}

impl Family {
    pub(super) fn join(&self, group: Pid) -> Member<'_> {
        let mut members = self.lock();
        members.groups.insert(group.as_raw_nonzero().get());
        if let Some(signal) = members.told {
            tell(group, signal);
        }
        Member { family: self, group }
    }

    /// Tells everybody, and those who come later.
    pub(super) fn tell_all(&self, signal: Signal) {
        let mut members = self.lock();
        members.told = Some(signal);
        for group in members.groups.iter().filter_map(|group| Pid::from_raw(*group)) {
            tell(group, signal);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Members> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Member<'_> {
    pub(super) fn tell(&self, signal: Signal) {
        tell(self.group, signal);
    }
}

impl Drop for Member<'_> {
    fn drop(&mut self) {
        self.family.lock().groups.remove(&self.group.as_raw_nonzero().get());
    }
}

fn tell(group: Pid, signal: Signal) {
    // Whoever is gone already needs not be told.
    let _gone = kill_process_group(group, signal);
}
