//! What submitters and workers share without a lock.

use std::time::Duration;

use crossbeam_utils::CachePadded;

use headcount_core::roster::{Spread, Turn};
use headcount_core::{Clock, Timestamp};

use super::aside::Aside;
use super::door::Door;
use super::line::Line;
use super::notice::{CALM, LATE, Notice, QUICK, REPORT, ROOM, SHARED, SUMMON, TINY};
use super::stamps::{SAMPLE, Stamps};
use crate::clock::Monotonic;
use crate::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
use crate::unhurt::drop_quietly;

/// A task in the line.
#[doc(hidden)]
#[derive(Debug)]
pub(crate) struct Entry<W> {
    pub(crate) work: W,
    pub(crate) stamp: Stamp,
}

/// When a task was submitted, if the clock was read for it.
///
/// One word: 0 is not known; the lowest bit says that it stands for those around it, too.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stamp(u64);

impl Stamp {
    fn new(at: Timestamp, sampled: bool) -> Self {
        Self((at.as_nanos().max(2) & !1) | u64::from(sampled))
    }

    /// Whether the clock was read for it.
    pub(crate) fn is_known(self) -> bool {
        self.0 != 0
    }

    /// When it was, and for how many tasks it stands.
    pub(crate) fn read(self) -> Option<(Timestamp, u32)> {
        let times = if self.0 & 1 == 0 { 1 } else { SAMPLE_TIMES };
        (self.0 != 0).then(|| (Timestamp::from_nanos(self.0 & !1), times))
    }
}

const SAMPLE_TIMES: u32 = 16;
const _: () = assert!(SAMPLE == SAMPLE_TIMES as u64, "a sample stands for those it was taken of");

/// The newest never go first.
const NEVER: u64 = u64::MAX;

/// Where as many as this wait, the clock is read for each of so many tasks, tiny or not.
const SAMPLE_FROM: u64 = 256;
/// So many tasks are gone through for each shell that is cleared out, at most.
const CLEARED_EACH_MAX: u64 = 64;
/// Where as many as this wait, their submitters let others run now and then.
const YIELD_FROM: u64 = 4096;
/// How often they do: once for each so many tasks.
const YIELD_EACH: u64 = 64;

#[derive(Debug)]
pub(crate) struct Floor<W> {
    pub(crate) door: Door,
    pub(crate) line: Line<Entry<W>>,
    pub(crate) notice: Notice,
    pub(crate) clock: Monotonic,
    stamps: Stamps,
    aside: Aside<W>,
    /// From which wait of the oldest on the newest go first, in nanoseconds.
    late_after: AtomicU64,
    /// Workers that were sent for a task and have not looked for one yet.
    pub(crate) en_route: CachePadded<AtomicU32>,
    /// Workers that are awake and whose tasks are short.
    pub(crate) short: CachePadded<AtomicU32>,
    /// How many of them have not come back, so that theirs are not short any more. The keeper
    /// counts them each time that it looks.
    stalled: AtomicU32,
    /// Workers that found nothing and look again, awake.
    looking: CachePadded<AtomicU32>,
    /// Whether a worker waits for the next task, awake.
    lingering: CachePadded<AtomicBool>,
    /// Tasks that somebody else than a worker took out of the line.
    taken_by_others: AtomicU64,
    /// What is left in the line of tasks that have ended there or were run from elsewhere.
    shells: AtomicU64,
    /// Tasks that run beside the workers.
    beside: AtomicU32,
}

impl<W: Send> Floor<W> {
    pub(crate) fn new(line: Line<Entry<W>>, len_max: u64) -> Self {
        Self {
            door: Door::new(len_max),
            line,
            notice: Notice::default(),
            clock: Monotonic::new(),
            stamps: Stamps::new(len_max),
            aside: Aside::default(),
            late_after: AtomicU64::new(NEVER),
            en_route: CachePadded::new(AtomicU32::new(0)),
            short: CachePadded::new(AtomicU32::new(0)),
            stalled: AtomicU32::new(0),
            looking: CachePadded::new(AtomicU32::new(0)),
            lingering: CachePadded::new(AtomicBool::new(false)),
            taken_by_others: AtomicU64::new(0),
            shells: AtomicU64::new(0),
            beside: AtomicU32::new(0),
        }
    }

    /// Puts a task into the line that the door has let in, and says whether somebody is wanted at
    /// the desk.
    #[must_use = "nobody may be awake to take it"]
    pub(crate) fn put(&self, number: u64, work: W) -> bool {
        let stamp = self.stamp(number);
        self.line.put(number, Entry { work, stamp });
        // Pairs with the one after `SUMMON` was raised: either we see the flag or they the task.
        fence(Ordering::SeqCst);
        let summoned = self.notice.read() & SUMMON != 0;
        if number.is_multiple_of(YIELD_EACH) && YIELD_FROM <= self.queued() {
            // A moment for those who take them, while the line is in cache.
            crate::sync::yield_now();
        }
        summoned
    }

    /// The time, unless it is not this one's turn to pay for the clock.
    fn stamp(&self, number: u64) -> Stamp {
        let sampled = self.is_sampled();
        if sampled && !number.is_multiple_of(SAMPLE) {
            return Stamp::default();
        }
        let now = self.clock.now();
        self.stamps.note(number, now);
        Stamp::new(now, sampled)
    }

    /// Whether the clock is read for few: tasks are tiny, or so many wait that those around it have
    /// waited as long.
    fn is_sampled(&self) -> bool {
        self.notice.read() & QUICK != 0 || SAMPLE_FROM <= self.queued()
    }

    /// Somebody queues for a place; from here on workers look. Count once more after this.
    pub(crate) fn room_wanted(&self) {
        self.notice.raise(ROOM);
        // Pairs with the one after a task was taken: either they see the flag or we the place.
        fence(Ordering::SeqCst);
    }

    /// Somebody waits for calm in a paused pool; from here on those who leave shells look. Count
    /// the shells once more after this.
    pub(crate) fn calm_wanted(&self) {
        self.notice.raise(CALM);
        // Pairs with the one after a shell was counted: either they see the flag or we the shell.
        fence(Ordering::SeqCst);
    }

    /// How many tasks run beside the workers.
    pub(crate) fn running_beside(&self) -> u32 {
        self.beside.load(Ordering::Acquire)
    }

    pub(crate) fn beside_changed(&self, by: i32) {
        match 0 < by {
            true => self.beside.fetch_add(by.unsigned_abs(), Ordering::AcqRel),
            false => self.beside.fetch_sub(by.unsigned_abs(), Ordering::AcqRel),
        };
    }

    /// How many workers short tasks are work for: one for each core, or one alone where they are so
    /// tiny that two would wait for each other at the head of the line.
    pub(crate) fn hands(&self, cores: u32) -> u32 {
        match self.notice.read() & (TINY | SHARED) == TINY {
            true => 1,
            false => cores,
        }
    }

    /// How many workers are at short tasks, as far as is known: they will be back in a moment.
    pub(crate) fn attentive(&self) -> u32 {
        let stalled = self.stalled.load(Ordering::Relaxed);
        self.short.load(Ordering::Relaxed).saturating_sub(stalled)
    }

    /// So many of those who were at short tasks are at something else.
    pub(crate) fn have_stalled(&self, workers: u32) {
        self.stalled.store(workers, Ordering::Relaxed);
    }

    /// Whether somebody who was at short tasks is at something else.
    pub(crate) fn has_stalled(&self) -> bool {
        0 < self.stalled.load(Ordering::Relaxed)
    }

    /// From which wait of the oldest on the newest go first. `None`: never.
    pub(crate) fn set_newest_first_after(&self, after: Option<Duration>) {
        let nanos = after.and_then(|after| u64::try_from(after.as_nanos()).ok());
        self.late_after.store(nanos.unwrap_or(NEVER), Ordering::Relaxed);
    }

    /// The oldest that waited was taken, and had waited for so long.
    pub(crate) fn oldest_waited(&self, waited: Duration) {
        let after = self.late_after.load(Ordering::Relaxed);
        let after = (after != NEVER).then(|| Duration::from_nanos(after));
        if Turn::of(after, waited) == Turn::Newest {
            self.notice.raise(LATE);
        }
    }

    /// Takes the next task for a worker, and says whether there was one. If not, one may wait all
    /// the same: it was let in and is not here yet. Then whoever brings it gets a moment.
    pub(crate) fn next(&self, hand: &mut Option<Entry<W>>) -> bool {
        let found = match self.notice.read() & LATE == 0 {
            true => self.line.pop(hand) || (self.line.is_held() && self.pop_aside(hand)),
            false => self.pop_aside(hand),
        };
        if !found && 0 < self.queued() {
            crate::sync::yield_now();
        }
        found
    }

    #[cold]
    fn pop_aside(&self, hand: &mut Option<Entry<W>>) -> bool {
        self.aside.pop(&self.line, self.in_line(), &self.notice, hand)
    }

    /// Looks for the next task a few times more, and says whether there may be one. So many workers
    /// at a time do: where a thousand run out of tasks at once, the others would only keep a core
    /// from whoever has something to do.
    pub(crate) fn look_again(&self, looks_max: u32, workers_max: u32) -> bool {
        let others = self.looking.fetch_add(1, Ordering::Relaxed);
        let looks = if others < workers_max { looks_max } else { 0 };
        let found = (0..looks).any(|_| {
            crate::sync::yield_now();
            0 < self.queued() || self.is_reported_for()
        });
        self.looking.fetch_sub(1, Ordering::Relaxed);
        found
    }

    /// Whether workers are to report, so that nobody has time to wait for a task.
    fn is_reported_for(&self) -> bool {
        self.notice.read() & REPORT != 0
    }

    /// Waits for the next task until then, and says whether there is one. One worker at a time
    /// does: another would only take it away from the first.
    pub(crate) fn linger(&self, until: Timestamp) -> bool {
        if self.lingering.swap(true, Ordering::Relaxed) {
            return false;
        }
        while self.queued() == 0 && !self.is_reported_for() && self.clock.now() < until {
            crate::sync::yield_now();
        }
        self.lingering.store(false, Ordering::Relaxed);
        0 < self.queued()
    }

    /// Takes the oldest task out of the line for somebody who is not a worker.
    pub(crate) fn take_out(&self) -> Option<Entry<W>> {
        let mut hand = None;
        while !self.aside.pop_oldest(&self.line, &self.notice, &mut hand)
            && !self.line.pop(&mut hand)
        {
            if self.queued() == 0 {
                return None;
            }
            // What was let in and is not here yet, its submitter is about to bring.
            crate::sync::yield_now();
        }
        self.taken_by_others.fetch_add(1, Ordering::AcqRel);
        hand
    }

    pub(crate) fn taken_by_others(&self) -> u64 {
        self.taken_by_others.load(Ordering::Acquire)
    }

    /// Takes out what `is_shell`, and says how many there were.
    pub(crate) fn clear_shells(&self, is_shell: impl FnMut(&W) -> bool) -> u64 {
        self.clear_where(|| true, is_shell)
    }

    /// The same where nothing else waits. Counted while nobody moves over, who would be counted
    /// twice: then whoever leaves the last shell would take it for another.
    pub(crate) fn clear_last_shells(&self, is_shell: impl FnMut(&W) -> bool) -> u64 {
        self.clear_where(|| self.queued() <= self.shells(), is_shell)
    }

    fn clear_where(&self, worth: impl FnOnce() -> bool, is_shell: impl FnMut(&W) -> bool) -> u64 {
        let waiting = || worth().then(|| self.in_line());
        let shells = self.aside.clear(&self.line, waiting, &self.notice, is_shell);
        let cleared = shells.len() as u64;
        self.taken_by_others.fetch_add(cleared, Ordering::AcqRel);
        // Of one that somebody else runs or has run this may be the last reference to its result.
        shells.into_iter().for_each(drop_quietly);
        cleared
    }

    /// How many shells are in the line.
    pub(crate) fn shells(&self) -> u64 {
        self.shells.load(Ordering::Acquire)
    }

    /// A task has ended in the line, or is run from elsewhere, and left its shell there.
    pub(crate) fn shell_left(&self) {
        self.shells.fetch_add(1, Ordering::AcqRel);
    }

    /// A shell was taken out of the line.
    pub(crate) fn shell_taken(&self) {
        self.shells.fetch_sub(1, Ordering::AcqRel);
    }

    /// Whether there may be so many shells that it is worth going through all that wait.
    pub(crate) fn has_many_shells(&self) -> bool {
        let shells = self.shells();
        0 < shells && self.door.len_max() / CLEARED_EACH_MAX <= shells
    }

    /// The tasks that wait, as an autoscaler sees them: without shells.
    pub(crate) fn waiting(&self, now: Timestamp) -> Spread {
        let (with_shells, shells) = (self.queued(), self.shells());
        let queued = with_shells.saturating_sub(shells);
        if shells == 0 || queued == 0 {
            return self.newest(queued, now);
        }
        // The oldest may be a shell, and who is one nobody knows. But of so many who are none one
        // came at least as early as the first of as many who came last.
        Spread { queued, oldest: self.in_order(queued).min(now), newest: now }
    }

    /// When the first of the `count` was submitted who came last.
    fn in_order(&self, count: u64) -> Timestamp {
        let admitted = self.door.admitted();
        self.stamps.submitted(admitted.saturating_sub(count), admitted)
    }

    /// The newest `count` tasks that wait, as the roster sees them.
    pub(crate) fn newest(&self, count: u64, now: Timestamp) -> Spread {
        let in_order = self.in_order(count);
        let oldest = self.aside.oldest().unwrap_or(in_order);
        Spread { queued: count, oldest: oldest.min(now), newest: now }
    }

    /// How many wait.
    pub(crate) fn queued(&self) -> u64 {
        // In this order: who goes from the line to those passed over meanwhile is counted twice.
        self.in_line() + self.aside.len()
    }

    fn in_line(&self) -> u64 {
        self.line.len(|| self.door.admitted())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn tiny_tasks_are_work_for_one_worker_and_others_for_every_core() {
        let floor: Floor<()> = Floor::new(Line::new(8, None), 8);
        assert_eq!(floor.hands(4), 4);
        floor.notice.raise(QUICK);
        assert_eq!(floor.hands(4), 4);
        floor.notice.raise(TINY);
        assert_eq!(floor.hands(4), 1);
        floor.notice.raise(SHARED);
        assert_eq!(floor.hands(4), 4);
    }

    /// With so many shells, whether it is worth going through all that may wait.
    fn check_worth(len_max: u64, shells: u64, worth: bool) {
        let floor: Floor<()> = Floor::new(Line::new(len_max, None), len_max);
        (0..shells).for_each(|_| floor.shell_left());
        assert_eq!(floor.has_many_shells(), worth, "{shells} of {len_max}");
    }

    #[test]
    fn to_clear_is_worth_it_where_one_in_so_many_is_a_shell() {
        check_worth(2, 0, false);
        check_worth(2, 1, true);
        check_worth(64, 1, true);
        check_worth(640, 9, false);
        check_worth(640, 10, true);
    }

    #[test]
    fn who_has_stalled_is_not_expected_back() {
        let floor: Floor<()> = Floor::new(Line::new(8, None), 8);
        floor.short.store(2, Ordering::Relaxed);
        floor.have_stalled(1);
        assert_eq!(floor.attentive(), 1);
        // It has come back and said so before the keeper looked.
        floor.short.store(0, Ordering::Relaxed);
        assert_eq!(floor.attentive(), 0);
    }
}
