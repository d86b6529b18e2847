//! The main thread of a run: gets everything ready, feeds the pool, and says how it ended.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use headcount::ThreadPool;

use super::arguments::Arguments;
use super::bounds::{Asked, Bounds};
use super::exit::Ending;
use super::family::Family;
use super::input::{self, Message};
use super::joblog::Joblog;
use super::plan::{self, Plan};
use super::program;
use super::progress::{Place, Progress};
use super::quote::command_line;
use super::resume::Done;
use super::retries::Waiting;
use super::screen::Screen;
use super::settling::{Handed, Job, Run};
use super::signals;
use super::sizing::{self, Crew};
use super::slots::Slots;
use super::tally::Tally;
use super::template::Filling;
use crate::Stop;
use crate::command::cores;

/// Jobs that were read and not taken yet, and jobs that wait in the pool's line.
const MESSAGES_MAX: usize = 256;
const QUEUE_LEN_MAX: u64 = 256;
/// A worker only starts children and passes on what they print.
const STACK: usize = 256 << 10;
/// How long a worker stays without a job; the next one is usually there at once.
const IDLE_TIME: Duration = Duration::from_secs(5);
/// How often a feeder that is held up looks whether a retry is due.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// A wait that somebody ends.
const LONG: Duration = Duration::from_secs(3600);

/// Runs it, and returns the exit code.
pub(crate) fn run(arguments: &Arguments) -> Result<u8, Stop> {
    let (command, source) = plan::split_command(arguments)?;
    let plan = Plan::of(arguments, &command);
    let asked = Asked { jobs: arguments.jobs, min: arguments.min, max: arguments.max };
    let bounds = Bounds::of(&asked, cores(), plan.printing)?;
    let sizes = match arguments.jobs {
        Some(_) => Sizes { bounds, rule: None },
        None => {
            let (bounds, rule) = sizing::rule(arguments, bounds)?;
            Sizes { bounds, rule: Some(rule) }
        }
    };
    let found = plan.template.program().map(program::find).transpose();
    let done = read_done(arguments, &plan)?;
    let (to, messages) = sync_channel(MESSAGES_MAX);
    let each = usize::from(arguments.max_args);
    input::read(source, plan::delimiter(arguments), each, to.clone()).map_err(misused)?;
    if arguments.dry_run {
        return dry_run(&plan, &done, &messages);
    }
    let program = match found {
        Ok(program) => program,
        Err(why) => {
            Screen::new(false).say(&why.sentence);
            return Ok(why.code);
        }
    };
    let joblog = open_joblog(arguments, &plan)?;
    let run = Arc::new(shared(plan, program, joblog, to));
    work(arguments, &run, &sizes, &done, &messages)
}

/// How many at once, and who decides it.
struct Sizes {
    bounds: Bounds,
    rule: Option<sizing::Rule>,
}

fn misused(error: impl Into<Box<dyn std::error::Error>>) -> Stop {
    Stop::Misused(error.into().to_string())
}

fn read_done(arguments: &Arguments, plan: &Plan) -> Result<Done, Stop> {
    match (&arguments.joblog, plan.resume) {
        (Some(path), Some(resume)) => Done::read(path, resume)
            .map_err(|error| misused(format!("joblog {} cannot be read: {error}", path.display()))),
        _ => Ok(Done::default()),
    }
}

fn open_joblog(arguments: &Arguments, plan: &Plan) -> Result<Option<Joblog>, Stop> {
    let Some(path) = &arguments.joblog else { return Ok(None) };
    let joblog = Joblog::open(path, plan.resume.is_some());
    joblog
        .map(Some)
        .map_err(|error| misused(format!("joblog {} cannot be written: {error}", path.display())))
}

fn shared(
    plan: Plan,
    program: Option<PathBuf>,
    joblog: Option<Joblog>,
    feeder: SyncSender<Message>,
) -> Run {
    Run {
        screen: Screen::new(plan.keep_order),
        plan,
        program,
        family: Family::default(),
        tally: Tally::default(),
        joblog,
        retries: Waiting::default(),
        slots: Slots::default(),
        pool: OnceLock::new(),
        feeder,
        has_read_all: AtomicBool::new(false),
        unstartable: AtomicU8::new(0),
        is_log_lost: AtomicBool::new(false),
    }
}

fn work(
    arguments: &Arguments,
    run: &Arc<Run>,
    sizes: &Sizes,
    done: &Done,
    messages: &Receiver<Message>,
) -> Result<u8, Stop> {
    let Bounds { min, max } = sizes.bounds;
    let begins_with = match sizes.rule {
        Some(_) => min..=cores().clamp(min, max),
        None => 0..=max,
    };
    let pool = ThreadPool::builder()
        .name("run")
        .workers(begins_with)
        .workers_max(max)
        .queue_len_max(QUEUE_LEN_MAX)
        .wait_budget(arguments.slo.unwrap_or_default())
        .idle_time(IDLE_TIME)
        .stack_size(STACK)
        .build()
        .map_err(misused)?;
    let _first = run.pool.set(pool.handle());
    signals::listen(run)?;
    let crew = match &sizes.rule {
        Some(rule) => Crew::sized(pool.handle(), run, rule.clone(), arguments)?,
        None => Crew::fixed(pool.handle()),
    };
    let progress = match place(arguments) {
        Some(place) => Some(Progress::start(run, crew.clone(), place)?),
        None => None,
    };
    let fault = Feeder { run, done, sequence: 0 }.feed(messages);
    pool.await_idle();
    drop((crew, progress));
    run.screen.deliver_rest();
    Ok(conclude(run, fault))
}

fn place(arguments: &Arguments) -> Option<Place> {
    let is_wanted = !(arguments.no_progress || arguments.quiet);
    match (Screen::is_terminal() && is_wanted, arguments.progress) {
        (true, _) => Some(Place::Bottom),
        (false, true) => Some(Place::Lines),
        (false, false) => None,
    }
}

/// Says how it ended, and returns the exit code.
fn conclude(run: &Run, fault: Option<String>) -> u8 {
    let tally = &run.tally;
    let [failed, left] = [&tally.failed, &tally.left].map(|count| count.load(Relaxed));
    let has_left = 0 < left || !run.has_read_all.load(Relaxed);
    let ending = Ending {
        failed,
        signal: tally.signal().filter(|_| has_left),
        output_closed: run.screen.is_closed(),
        unstartable: Some(run.unstartable.load(Relaxed)).filter(|code| *code != 0),
        is_ours: fault.is_some() || run.is_log_lost.load(Relaxed),
    };
    if let Some(fault) = fault {
        run.screen.say(&fault);
    }
    if !ending.output_closed && !run.plan.is_quiet && (0 < failed || has_left) {
        let more = if has_left { ", some were left" } else { "" };
        let log = match run.joblog.is_some() && has_left {
            true => "; --resume goes on from here",
            false => "",
        };
        run.screen.say(&format!("{failed} of {} jobs failed{more}{log}", tally.ended()));
    }
    ending.code()
}

/// Takes what is read, and what is to be tried again, to the pool.
struct Feeder<'a> {
    run: &'a Arc<Run>,
    done: &'a Done,
    sequence: u64,
}

impl Feeder<'_> {
    /// Feeds until all is settled or the run ends; returns what is wrong with the input.
    fn feed(mut self, messages: &Receiver<Message>) -> Option<String> {
        let mut fault = None;
        while self.run.tally.is_running() {
            if let Some(handed) = self.run.retries.take_due(Instant::now()) {
                self.hand_over(handed);
                continue;
            }
            if self.has_read_all() && self.run.tally.is_all_settled() {
                return fault;
            }
            match self.next(messages) {
                Some(Message::Items(items)) => {
                    if let Err(sentence) = self.take(items) {
                        self.run.drain();
                        fault = Some(sentence);
                    }
                }
                Some(Message::End) => self.run.has_read_all.store(true, Relaxed),
                Some(Message::Fault(sentence)) => {
                    self.run.has_read_all.store(true, Relaxed);
                    fault = Some(sentence);
                }
                Some(Message::Wake) | None => {}
            }
        }
        fault
    }

    fn has_read_all(&self) -> bool {
        self.run.has_read_all.load(Relaxed)
    }

    /// What comes next, or nothing when a retry is due.
    fn next(&self, messages: &Receiver<Message>) -> Option<Message> {
        let due = self.run.retries.next_due();
        let wait = due.map_or(LONG, |due| due.saturating_duration_since(Instant::now()));
        if self.run.retries.is_full() {
            // Room first: what waits for another try is in memory.
            std::thread::sleep(wait.min(LOOK_EVERY));
            return None;
        }
        messages.recv_timeout(wait).ok()
    }

    /// Makes a job of some items, unless it is done already.
    fn take(&mut self, items: Vec<Vec<u8>>) -> Result<(), String> {
        self.sequence += 1;
        let sequence = self.sequence;
        self.run.tally.read.fetch_add(1, Relaxed);
        if self.done.has(sequence) {
            self.compare(&items)?;
            self.run.tally.skipped.fetch_add(1, Relaxed);
            self.run.screen.deliver(sequence, None);
            return Ok(());
        }
        // The one that all others wait for may itself wait for another try.
        while self.run.tally.is_running() && !self.run.screen.wait_for_turn(sequence, LOOK_EVERY) {
            while let Some(handed) = self.run.retries.take_due(Instant::now()) {
                self.hand_over(handed);
            }
        }
        self.hand_over(Handed::new(self.run, Job { sequence, items, tries: 0 }));
        Ok(())
    }

    /// A log that does not belong to these items would skip the wrong ones.
    fn compare(&self, items: &[Vec<u8>]) -> Result<(), String> {
        let (sequence, template) = (self.sequence, &self.run.plan.template);
        let command = command_line(&template.fill(&Filling { items, sequence, slot: 1 }));
        match template.has_slot() || self.done.was(sequence, &command) {
            true => Ok(()),
            false => Err(format!(
                "job {sequence} of the joblog had another command than {}; resume with the \
                 command and the items it was written with, or begin another joblog",
                String::from_utf8_lossy(&command)
            )),
        }
    }

    /// Waits for room in the pool's line.
    fn hand_over(&self, handed: Handed) {
        let Some(pool) = self.run.pool.get() else { return };
        // One that is not taken in because the run ends is dropped here, and so is left.
        drop(pool.spawn(move || handed.perform()));
    }
}

/// Prints the commands.
fn dry_run(plan: &Plan, done: &Done, messages: &Receiver<Message>) -> Result<u8, Stop> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut sequence = 0;
    while let Ok(message) = messages.recv() {
        let items = match message {
            Message::Items(items) => items,
            Message::Wake => continue,
            Message::End => break,
            Message::Fault(sentence) => return Err(Stop::Misused(sentence)),
        };
        sequence += 1;
        if !done.has(sequence) {
            let words = plan.template.fill(&Filling { items: &items, sequence, slot: 1 });
            out.write_all(&command_line(&words))?;
            out.write_all(b"\n")?;
        }
    }
    out.flush()?;
    Ok(0)
}
