//! Writes files beside the loop, so that a slow disk delays no tick.
//!
//! **Terms.** A *job* is something to be written. Who has one *hands it over* and goes on; the
//! *writer*, a thread of its own for each file, takes the jobs in their order and writes them. What
//! was handed over and not taken yet *waits*.
//!
//! **Steps.** To hand over takes the lock of the line for as long as a push takes, never while
//! something is written. The thread is started with the first job, and rests while none waits. It
//! takes a job under the lock, writes it without, and says under the lock that it is written. To
//! *flush* is to remember how many were handed over so far and to wait until as many are written
//! or lost. When the last handle goes, what waits is flushed, and the thread ends.
//!
//! **Limits.** What waits is bounded by its weight. Where a job finds no room, the line says who
//! gives way: the oldest that waits, where a newer one says the same and more (a state), or the
//! job itself, where each says something of its own and a gap at the end is better than one in the
//! middle (a trace). Either way it is counted. A flush waits for [`FLUSH_WAIT_MAX`] and no longer:
//! who stops is not to hang with the disk.
//!
//! **Races.** A job that is being written neither waits nor is written; a flush counts it as handed
//! over, so it waits for it too. A job that is handed over while somebody flushes is none of that
//! flush. Jobs of one file are taken by one thread, so they keep their order. Where no thread is to
//! be had, who hands over writes, all that waits first, under a lock that keeps others from
//! writing at the same time. A job whose writing panics is lost and counted; the next one is taken.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::sync::lock;

/// A flush waits for so long.
pub(crate) const FLUSH_WAIT_MAX: Duration = Duration::from_secs(10);

/// Who gives way where there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GivesWay {
    /// What has waited longest.
    Oldest,
    /// What comes.
    #[cfg_attr(not(feature = "trace"), expect(dead_code, reason = "only traces refuse"))]
    Newest,
}

/// How much may wait, and who gives way beyond that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub(crate) weight_max: usize,
    pub(crate) gives_way: GivesWay,
}

/// Hands jobs over to a thread that writes them. When it is dropped, what waits is written first.
pub(crate) struct Writer<J: Send + 'static> {
    shared: Arc<Shared<J>>,
}

struct Shared<J> {
    line: Mutex<Line<J>>,
    /// Rings when there is a job, when one was written, and when all is over.
    bell: Condvar,
    write: Mutex<Write<J>>,
    room: Room,
}

type Write<J> = Box<dyn FnMut(J) + Send>;

struct Line<J> {
    waiting: VecDeque<(usize, J)>,
    weight: usize,
    /// How many were handed over, and of how many nothing is to be done any more.
    handed: u64,
    done: u64,
    lost: u64,
    has_thread: bool,
    is_closed: bool,
}

impl<J: Send + 'static> Writer<J> {
    /// A writer that has `write` do each job.
    pub(crate) fn new(room: Room, write: impl FnMut(J) + Send + 'static) -> Self {
        let line = Line {
            waiting: VecDeque::new(),
            weight: 0,
            handed: 0,
            done: 0,
            lost: 0,
            has_thread: false,
            is_closed: false,
        };
        let write: Write<J> = Box::new(write);
        let shared =
            Shared { line: Mutex::new(line), bell: Condvar::new(), write: Mutex::new(write), room };
        Self { shared: Arc::new(shared) }
    }

    /// Hands a job over, and returns at once.
    pub(crate) fn hand(&self, weight: usize, job: J) {
        let mut line = lock(&self.shared.line);
        line.add(self.shared.room, weight, job);
        if !line.has_thread {
            line.has_thread = self.shared.start();
        }
        let has_thread = line.has_thread;
        drop(line);
        match has_thread {
            true => self.shared.bell.notify_all(),
            false => while self.shared.write_next() {},
        }
    }

    /// Waits until everything that was handed over is written, and says whether it is: after
    /// [`FLUSH_WAIT_MAX`] it is not.
    pub(crate) fn flush(&self) -> bool {
        let line = lock(&self.shared.line);
        let handed = line.handed;
        let is_under_way = |line: &mut Line<J>| line.done < handed;
        let waited = self.shared.bell.wait_timeout_while(line, FLUSH_WAIT_MAX, is_under_way);
        let (line, _) = waited.unwrap_or_else(PoisonError::into_inner);
        handed <= line.done
    }

    /// How many gave way, or could not be written for a panic.
    #[cfg_attr(not(feature = "trace"), expect(dead_code, reason = "only traces count"))]
    pub(crate) fn lost(&self) -> u64 {
        lock(&self.shared.line).lost
    }
}

impl<J> Line<J> {
    fn add(&mut self, room: Room, weight: usize, job: J) {
        self.handed += 1;
        while room.weight_max < self.weight.saturating_add(weight) && !self.waiting.is_empty() {
            self.lost += 1;
            self.done += 1;
            match room.gives_way {
                GivesWay::Newest => return,
                GivesWay::Oldest => {
                    let oldest = self.waiting.pop_front();
                    self.weight -= oldest.map_or(0, |(weight, _)| weight);
                }
            }
        }
        self.weight += weight;
        self.waiting.push_back((weight, job));
    }

    fn take(&mut self) -> Option<J> {
        let (weight, job) = self.waiting.pop_front()?;
        self.weight -= weight;
        Some(job)
    }
}

impl<J: Send + 'static> Shared<J> {
    /// Starts the thread, and says whether there is one now.
    fn start(self: &Arc<Self>) -> bool {
        let shared = Arc::clone(self);
        let thread = thread::Builder::new().name("headcount-writer".to_owned());
        thread
            .spawn(move || {
                while shared.wait_for_job() {
                    shared.write_next();
                }
            })
            .is_ok()
    }

    /// Waits for a job. `false`: there will be none.
    fn wait_for_job(&self) -> bool {
        let idle = |line: &mut Line<J>| line.waiting.is_empty() && !line.is_closed;
        let waited = self.bell.wait_while(lock(&self.line), idle);
        !waited.unwrap_or_else(PoisonError::into_inner).waiting.is_empty()
    }

    /// Writes what has waited longest, and says whether there was anything.
    fn write_next(&self) -> bool {
        // Held from before the job is taken, so that jobs are written in the order of the line.
        let mut write = lock(&self.write);
        let Some(job) = lock(&self.line).take() else { return false };
        // The thread goes on, and who flushes waits for nothing that is not to come.
        let is_written = catch_unwind(AssertUnwindSafe(|| write(job))).is_ok();
        drop(write);
        let mut line = lock(&self.line);
        line.done += 1;
        line.lost += u64::from(!is_written);
        drop(line);
        self.bell.notify_all();
        true
    }
}

impl<J: Send + 'static> Drop for Writer<J> {
    fn drop(&mut self) {
        self.flush();
        lock(&self.shared.line).is_closed = true;
        self.shared.bell.notify_all();
    }
}

impl<J: Send + 'static> fmt::Debug for Writer<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = lock(&self.shared.line);
        f.debug_struct("Writer")
            .field("waiting", &line.waiting.len())
            .field("lost", &line.lost)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// A writer that says when it has begun a job and waits to be let go on.
    struct Held {
        writer: Writer<u32>,
        begun: Receiver<u32>,
        go_on: Sender<()>,
        written: Arc<Mutex<Vec<u32>>>,
    }

    fn held(weight_max: usize, gives_way: GivesWay) -> Held {
        let ((told, begun), (go_on, told_to)) = (channel(), channel::<()>());
        let written = Arc::new(Mutex::new(Vec::new()));
        let disk = Arc::clone(&written);
        let writer = Writer::new(Room { weight_max, gives_way }, move |job| {
            told.send(job).ok();
            // Whoever lets go of the sender lets everything go on.
            told_to.recv().ok();
            lock(&disk).push(job);
        });
        Held { writer, begun, go_on, written }
    }

    /// Hands five jobs over, each of weight 1 but the last, while the first is being written.
    fn check(gives_way: GivesWay, last: usize, written: &[u32], lost: u64) {
        let held = held(3, gives_way);
        held.writer.hand(1, 0);
        assert_eq!(held.begun.recv(), Ok(0));
        for job in 1..5 {
            held.writer.hand(if job == 4 { last } else { 1 }, job);
        }
        drop(held.go_on);
        assert!(held.writer.flush());
        assert_eq!((&*lock(&held.written), held.writer.lost()), (&written.to_vec(), lost));
    }

    #[test]
    fn where_there_is_no_room_somebody_gives_way_and_is_counted() {
        check(GivesWay::Oldest, 1, &[0, 2, 3, 4], 1);
        check(GivesWay::Newest, 1, &[0, 1, 2, 3], 1);
        check(GivesWay::Oldest, 3, &[0, 4], 3);
        check(GivesWay::Oldest, 9, &[0, 4], 3);
        check(GivesWay::Newest, 9, &[0, 1, 2, 3], 1);
    }

    #[test]
    fn a_job_that_panics_is_lost_and_the_others_are_written() {
        let written = Arc::new(Mutex::new(Vec::new()));
        let disk = Arc::clone(&written);
        let room = Room { weight_max: 100, gives_way: GivesWay::Newest };
        let writer = Writer::new(room, move |job| {
            assert_ne!(job, 1, "this one cannot be written");
            lock(&disk).push(job);
        });
        (0..4).for_each(|job| writer.hand(1, job));
        assert!(writer.flush());
        assert_eq!((&*lock(&written), writer.lost()), (&vec![0, 2, 3], 1));
    }

    #[test]
    fn a_job_that_hangs_holds_up_nobody_who_hands_over_and_is_waited_for_at_the_end() {
        let held = held(100, GivesWay::Newest);
        (0..50).for_each(|job| held.writer.hand(1, job));
        assert_eq!(held.begun.recv(), Ok(0));
        assert!(lock(&held.written).is_empty(), "and yet all was handed over");
        drop(held.go_on);
        drop(held.writer);
        assert_eq!(*lock(&held.written), (0..50).collect::<Vec<_>>());
    }
}
