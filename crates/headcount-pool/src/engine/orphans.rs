//! Tasks that nobody will come for, as those who submitted them counted on a start that failed.
//!
//! Where there is no worker and none can be started, submitters run what they hand over. They know
//! of it from the notice; whoever came before that was posted went away and counts on a worker.
//! This notes up to which task that may be so, for the keeper to have them run. Pure.

use super::errands::Visitor;

/// Which tasks the keeper sees to.
#[derive(Debug, Default)]
pub(super) struct Orphans {
    /// Whether submitters are called to run what they hand over.
    called: bool,
    /// Tasks with a smaller number may have submitters that are gone.
    below: u64,
    /// Whether a submitter runs them one after the other, and the keeper only those that would wait
    /// for another one to end.
    led: bool,
    /// How many run one that left others waiting.
    running: u32,
    /// Whether the keeper has one of them run.
    in_care: bool,
}

impl Orphans {
    /// This visitor has posted the notice, and so many were let in before: from here on submitters
    /// are called, or are not.
    pub(super) fn posted(&mut self, called: bool, admitted: u64, visitor: Visitor) {
        if called != self.called {
            self.called = called;
            self.below = if called { admitted } else { 0 };
            self.led = visitor == Visitor::Submitter;
        }
    }

    /// Whether the keeper is to have one run, where so many workers may be and so many tasks were
    /// taken out of the line. Asked only for that where it matters.
    pub(super) fn wait(&self, ceiling: u32, taken: impl FnOnce() -> u64) -> bool {
        let is_wanted = !self.led || (0 < self.running && self.running < ceiling);
        0 < self.below && is_wanted && !self.in_care && taken() < self.below
    }

    /// Somebody runs one, and others wait behind it.
    pub(super) fn one_begins(&mut self) {
        self.running += 1;
    }

    /// It has run.
    pub(super) fn one_ended(&mut self) {
        self.running -= 1;
    }

    /// The keeper has one run. It hears when that is done, and not before has another one run.
    pub(super) fn take_care(&mut self) {
        self.in_care = true;
    }

    /// It is done.
    pub(super) fn cared(&mut self) {
        self.in_care = false;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// So many were let in when it came to be that submitters are called.
    fn noted_by(visitor: Visitor, admitted: u64) -> Orphans {
        let mut orphans = Orphans::default();
        orphans.posted(false, 1, visitor);
        assert!(!orphans.wait(1, || 0), "a worker may come");
        orphans.posted(true, admitted, visitor);
        orphans.posted(true, admitted + 4, visitor);
        orphans
    }

    #[test]
    fn whoever_came_before_submitters_were_called_is_seen_to() {
        let mut orphans = noted_by(Visitor::Keeper, 5);
        assert!(orphans.wait(1, || 4));
        assert!(!orphans.wait(1, || 5), "later ones have a submitter that knows");
        orphans.posted(false, 9, Visitor::Other);
        assert!(!orphans.wait(1, || 4), "a worker has come");
    }

    #[test]
    fn the_keeper_has_one_run_at_a_time() {
        let mut orphans = noted_by(Visitor::Other, 2);
        orphans.take_care();
        assert!(!orphans.wait(1, || 1));
        orphans.cared();
        assert!(orphans.wait(1, || 1));
    }

    #[test]
    fn a_submitter_that_sees_to_all_is_helped_where_it_is_kept_by_one() {
        let mut orphans = noted_by(Visitor::Submitter, 2);
        assert!(!orphans.wait(2, || 0), "it is about to");
        orphans.one_begins();
        assert!(orphans.wait(2, || 1));
        assert!(!orphans.wait(1, || 1), "no more may run at once");
        orphans.one_ended();
        assert!(!orphans.wait(2, || 1));
    }
}
