//! What a worker does with a job, and what becomes of the job afterwards.
//!
//! A job that was handed over is settled exactly once: it went well, it failed for good, or it is
//! *left*, because the run ended before it began or before it was done. What is left is not in the
//! log, so a later run takes it up.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use headcount::{PoolHandle, Threads, report_failure};
use rustix::io::Errno;
use rustix::process::Signal;

use super::child::{self, Ended, Errand};
use super::exit;
use super::family::Family;
use super::halt::Halt;
use super::input::Message;
use super::joblog::{Entry, Joblog};
use super::output::{Output, Stream, copy_tagged};
use super::plan::{Plan, Printing};
use super::quote::command_line;
use super::retries::{Waiting, delay_after};
use super::screen::Screen;
use super::slots::Slots;
use super::tally::{Stage, Tally};
use super::template::Filling;

/// How often, and how far apart, a start is tried that the system has no room for just now.
const STARTS_MAX: u32 = 100;
const STARTS_APART: Duration = Duration::from_millis(50);
/// A line that is longer is printed in pieces.
const LINE_LEN_MAX: usize = 1 << 20;

/// One command to be run.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) sequence: u64,
    pub(super) items: Vec<Vec<u8>>,
    pub(super) tries: u32,
}

/// What all threads of a run share.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) plan: Plan,
    /// Where the program is, where it is the same for all.
    pub(super) program: Option<PathBuf>,
    pub(super) screen: Screen,
    pub(super) family: Family,
    pub(super) tally: Tally,
    pub(super) joblog: Option<Joblog>,
    pub(super) retries: Waiting<Handed>,
    pub(super) slots: Slots,
    pub(super) pool: OnceLock<PoolHandle<Threads>>,
    /// Wakes the feeder.
    pub(super) feeder: SyncSender<Message>,
    /// Whether all items were read.
    pub(super) has_read_all: AtomicBool,
    /// The exit code of a command that cannot be started at all, or 0.
    pub(super) unstartable: AtomicU8,
    /// Whether the log could not be written.
    pub(super) is_log_lost: AtomicBool,
}

impl Run {
    /// No job begins any more; those that wait are left.
    pub(super) fn drain(&self) {
        self.tally.advance(Stage::Draining);
        if let Some(pool) = self.pool.get() {
            // To drop what has not begun is to leave it.
            drop(pool.drain(Duration::ZERO));
        }
        drop(self.retries.clear());
        self.wake_feeder();
        self.screen.wake();
    }

    /// Those that run are told to stop as well.
    pub(super) fn stop(self: &Arc<Self>) {
        self.tally.advance(Stage::Stopping);
        self.drain();
        self.family.tell_all(Signal::TERM);
        let run = Arc::clone(self);
        // A thread that cannot be started leaves it at the request.
        let _killer = thread::Builder::new().name("killer".to_owned()).spawn(move || {
            thread::sleep(run.plan.kill_after);
            run.family.tell_all(Signal::KILL);
        });
    }

    /// How many jobs there are in all, once that is known.
    pub(super) fn total(&self) -> Option<u64> {
        let jobs = self.tally.read.load(Relaxed) - self.tally.skipped.load(Relaxed);
        self.has_read_all.load(Relaxed).then_some(jobs)
    }

    fn wake_feeder(&self) {
        // Where there is no room it has something to look at already.
        let _full = self.feeder.try_send(Message::Wake);
    }

    fn settled(&self) {
        if self.tally.settled() {
            self.wake_feeder();
        }
    }

    fn log(&self, entry: &Entry) {
        let Some(Err(error)) = self.joblog.as_ref().map(|joblog| joblog.write(entry)) else {
            return;
        };
        if !self.is_log_lost.swap(true, Relaxed) {
            self.screen.say(&format!(
                "the joblog cannot be written: {error}; no more jobs begin, make room and --resume"
            ));
            self.drain();
        }
    }
}

/// A job that was handed over. Dropped before it is settled, it is left.
#[derive(Debug)]
pub(super) struct Handed {
    run: Arc<Run>,
    job: Option<Job>,
}

impl Drop for Handed {
    fn drop(&mut self) {
        if let Some(job) = self.job.take() {
            self.run.tally.left.fetch_add(1, Relaxed);
            self.run.screen.deliver(job.sequence, None);
            self.run.settled();
        }
    }
}

/// How a try ended.
enum Tried {
    Ended(Ended),
    /// It could not be started; with the exit value that a shell has for it.
    NotStarted(u8),
}

impl Handed {
    pub(super) fn new(run: &Arc<Run>, job: Job) -> Self {
        run.tally.handed_over();
        Self { run: Arc::clone(run), job: Some(job) }
    }

    /// Runs it, on a worker.
    pub(super) fn perform(mut self) {
        if !self.run.tally.is_running() {
            return;
        }
        let Some(mut job) = self.job.take() else { return };
        job.tries += 1;
        let run = Arc::clone(&self.run);
        let slot = run.slots.take();
        let filling = Filling { items: &job.items, sequence: job.sequence, slot: slot.number };
        let words = run.plan.template.fill(&filling);
        let command = command_line(&words);
        if run.plan.is_verbose {
            run.screen.print(Stream::Err, &[&command[..], b"\n"].concat());
        }
        let errand = Errand {
            program: run.program.as_deref(),
            words: &words,
            is_captured: run.plan.printing != Printing::Inherited,
            timeout: run.plan.timeout,
            kill_after: run.plan.kill_after,
        };
        let mut printer = Printer::new(&run, &job);
        let (began, start) = (SystemTime::now(), Instant::now());
        let tried = start_and_wait(&run, &errand, &job, &mut printer);
        let took = start.elapsed();
        run.tally.served(took);
        drop(slot);
        let outcome = Outcome::of(&tried);
        if !outcome.is_well() {
            report_failure();
        }
        let (received, output) = printer.finish();
        let (exit_value, signal) = (outcome.exit_value, outcome.signal);
        let sequence = job.sequence;
        let entry = Entry { sequence, began, took, received, exit_value, signal, command };
        self.job = Some(job);
        self.settle(&entry, output);
    }

    /// What becomes of it after a try.
    fn settle(mut self, entry: &Entry, output: Option<Output>) {
        let run = Arc::clone(&self.run);
        let is_well = entry.exit_value == 0 && entry.signal == 0;
        // What we have stopped has not failed; it is left.
        if !is_well && run.tally.stage() == Stage::Stopping {
            return;
        }
        let tries = self.job.as_ref().map_or(0, |job| job.tries);
        if !is_well && tries < run.plan.tries_max && run.tally.is_running() {
            run.tally.retried.fetch_add(1, Relaxed);
            let due = Instant::now() + delay_after(tries, run.plan.retry_delay);
            run.retries.put(due, entry.sequence, self);
            run.wake_feeder();
            return;
        }
        self.job = None;
        run.log(entry);
        match is_well {
            true => run.tally.succeeded.fetch_add(1, Relaxed),
            false => run.tally.failed.fetch_add(1, Relaxed),
        };
        run.screen.deliver(entry.sequence, output);
        if run.screen.is_closed() && run.tally.stage() != Stage::Stopping {
            run.stop();
        } else if !is_well {
            halt(&run);
        }
        run.settled();
    }
}

fn halt(run: &Arc<Run>) {
    let failed = run.tally.failed.load(Relaxed);
    if !run.plan.halt.is_due(failed) || !run.tally.is_running() {
        return;
    }
    let jobs = if failed == 1 { "a job" } else { &format!("{failed} jobs") };
    match run.plan.halt {
        Halt::Now(_) => {
            run.screen.say(&format!("{jobs} failed; stopping the others"));
            run.stop();
        }
        _ => {
            run.screen.say(&format!("{jobs} failed; no more jobs begin"));
            run.drain();
        }
    }
}

/// What the log and the counts say of a try.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    exit_value: i32,
    signal: i32,
}

impl Outcome {
    fn of(tried: &Tried) -> Self {
        match tried {
            Tried::NotStarted(code) => Self { exit_value: i32::from(*code), signal: 0 },
            Tried::Ended(ended) => {
                let signal = ended.status.signal().unwrap_or_default();
                let code = ended.status.code().unwrap_or_default();
                Self { exit_value: if ended.is_out_of_time { -1 } else { code }, signal }
            }
        }
    }

    fn is_well(self) -> bool {
        self.exit_value == 0 && self.signal == 0
    }
}

fn start_and_wait(run: &Arc<Run>, errand: &Errand<'_>, job: &Job, printer: &mut Printer) -> Tried {
    let mut starts = 1;
    loop {
        let mut receive = |stream: Stream, bytes: &[u8]| printer.add(run, stream, bytes);
        let error = match child::run(errand, &run.family, &mut receive) {
            Ok(ended) => return Tried::Ended(ended),
            Err(error) => error,
        };
        if !is_passing(&error) || starts == STARTS_MAX || !run.tally.is_running() {
            return Tried::NotStarted(not_started(run, errand, job, &error));
        }
        starts += 1;
        thread::sleep(STARTS_APART);
    }
}

/// Whether the system has no room just now.
fn is_passing(error: &io::Error) -> bool {
    let passing = [Errno::AGAIN, Errno::MFILE, Errno::NFILE, Errno::NOMEM];
    let code = error.raw_os_error();
    passing.iter().any(|errno| Some(errno.raw_os_error()) == code)
}

fn not_started(run: &Arc<Run>, errand: &Errand<'_>, job: &Job, error: &io::Error) -> u8 {
    let code = match error.kind() {
        io::ErrorKind::NotFound => exit::NOT_FOUND,
        _ => exit::NOT_EXECUTABLE,
    };
    let is_too_long = error.raw_os_error() == Some(Errno::TOOBIG.raw_os_error());
    let name = errand.words.first().map(|name| name.display().to_string()).unwrap_or_default();
    let sequence = job.sequence;
    if is_too_long {
        let bytes: usize = job.items.iter().map(Vec::len).sum();
        run.screen.say(&format!(
            "job {sequence} has items of {bytes} bytes, more than a command line takes; \
             pass them in a file"
        ));
        return code;
    }
    run.screen.say(&format!("job {sequence}: {name} cannot be run: {error}"));
    // The same program for all: the next million would find the same.
    if run.program.is_some() && !is_passing(error) {
        run.unstartable.store(code, Relaxed);
        run.drain();
    }
    code
}

/// Takes what a job prints.
struct Printer {
    received: u64,
    tag: Option<Vec<u8>>,
    kept: Kept,
}

enum Kept {
    /// Until the job has ended.
    Whole(Output),
    /// The beginnings of lines.
    Lines(Vec<u8>, Vec<u8>),
}

impl Printer {
    fn new(run: &Run, job: &Job) -> Self {
        let tag = run.plan.is_tagged.then(|| job.items.join(&b' '));
        let kept = match run.plan.printing {
            Printing::Lines => Kept::Lines(Vec::new(), Vec::new()),
            Printing::Grouped | Printing::Inherited => Kept::Whole(Output::new(tag.clone())),
        };
        Self { received: 0, tag, kept }
    }

    fn add(&mut self, run: &Run, stream: Stream, bytes: &[u8]) -> io::Result<()> {
        self.received += bytes.len() as u64;
        let (out, err) = match &mut self.kept {
            Kept::Whole(output) => return output.add(stream, bytes),
            Kept::Lines(out, err) => (out, err),
        };
        let begun = if stream == Stream::Out { out } else { err };
        begun.extend_from_slice(bytes);
        let end = begun.iter().rposition(|byte| *byte == b'\n').map(|end| end + 1);
        let whole = match end {
            None if LINE_LEN_MAX < begun.len() => begun.len(),
            end => end.unwrap_or_default(),
        };
        let lines: Vec<u8> = begun.drain(..whole).collect();
        print(run, self.tag.as_deref(), stream, &lines)
    }

    /// What is left to be shown, and how much was printed in all.
    fn finish(self) -> (u64, Option<Output>) {
        let output = match self.kept {
            Kept::Whole(output) => Some(output),
            Kept::Lines(out, err) if out.is_empty() && err.is_empty() => None,
            Kept::Lines(out, err) => {
                let mut output = Output::new(self.tag);
                // It fits into memory, which takes everything.
                let _kept = output.add(Stream::Out, &out).and(output.add(Stream::Err, &err));
                Some(output)
            }
        };
        (self.received, output)
    }
}

fn print(run: &Run, tag: Option<&[u8]>, stream: Stream, lines: &[u8]) -> io::Result<()> {
    match tag {
        _ if lines.is_empty() => {}
        None => run.screen.print(stream, lines),
        Some(tag) => {
            let mut tagged = Vec::with_capacity(lines.len() * 2);
            copy_tagged(lines, tag, &mut tagged)?;
            run.screen.print(stream, &tagged);
        }
    }
    Ok(())
}
