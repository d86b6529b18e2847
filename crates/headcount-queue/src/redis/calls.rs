//! The calls behind the port: which script, with which words, and what its answer means.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use headcount_core::Clock;
use headcount_core::jobs::port::{Settled, StoreError, Submitted, Swept};
use headcount_core::jobs::{JobId, Label};
use redis::{Cmd, Value};

use super::batch::{Batcher, Call};
use super::link::Link;
use super::read;
use super::scripts::{SCRIPTS, Script};
use super::wake::Waiters;
use super::write::{self, Parcel, Verdict, millis};

/// The format that is written, and the newest that can be read.
const VERSION: u32 = 1;
/// The set of all queues. It cannot share a slot with any of them.
pub(super) const QUEUES: &str = "headcount:queues";

/// What all calls share.
pub(super) struct Calls {
    pub(super) link: Arc<Link>,
    clock: Option<Arc<dyn Clock>>,
    queues: Mutex<BTreeMap<Label, Arc<PerQueue>>>,
    known: Mutex<Known>,
}

/// What this process keeps for a queue.
#[derive(Default)]
pub(super) struct PerQueue {
    pub(super) submits: Arc<Batcher<Parcel, Submitted>>,
    pub(super) endings: Arc<Batcher<Verdict, Settled>>,
    pub(super) waiters: Arc<Waiters>,
    /// Whether more follows from the end of a job than that it is forgotten, as last heard.
    pub(super) settles_apart: AtomicBool,
    /// How many connections had been made when it was last swept: the first sweep on a new one
    /// does not believe that all is well.
    swept_on: AtomicU64,
}

/// Queues that were found to be ours, on connections up to this one.
#[derive(Default)]
struct Known {
    queues: BTreeSet<Label>,
    made: u64,
}

/// What all keys of a queue begin with. The braces keep them in one slot of a Cluster.
pub(super) fn prefix(queue: &Label) -> String {
    format!("headcount:{{{queue}}}:")
}

impl Calls {
    pub(super) fn new(link: Arc<Link>, clock: Option<Arc<dyn Clock>>) -> Self {
        Self { link, clock, queues: Mutex::default(), known: Mutex::default() }
    }

    pub(super) fn of(&self, queue: &Label) -> Arc<PerQueue> {
        let mut queues = lock(&self.queues);
        match queues.get(queue) {
            Some(found) => Arc::clone(found),
            None => Arc::clone(queues.entry(queue.clone()).or_default()),
        }
    }

    /// A call of the script for this queue, to which its words are added.
    pub(super) fn command(&self, script: &Script, queue: &Label) -> Cmd {
        command(self.clock.as_ref(), script, queue)
    }

    /// Runs a script. After a restart the server knows none; then it is told first.
    pub(super) async fn run(&self, script: &Script, command: &Cmd) -> Result<Value, StoreError> {
        match self.link.ask_raw(command).await {
            Err(error) if error.code() == Some("NOSCRIPT") => {
                let mut load = redis::cmd("SCRIPT");
                load.arg("LOAD").arg(&script.source);
                self.link.ask(&load).await?;
                self.link.ask(command).await
            }
            answer => answer.map_err(super::faults::store_error),
        }
    }

    /// Whether the queue is there; begins it if that is wanted. Refuses what is not ours.
    pub(super) async fn open(&self, queue: &Label, begin: bool) -> Result<bool, StoreError> {
        if self.is_known(queue) {
            return Ok(true);
        }
        let mut command = bare_command(&SCRIPTS.open, queue);
        command.arg(VERSION).arg(u8::from(begin));
        let answer = read::list(self.run(&SCRIPTS.open, &command).await?)?;
        let words = answer.iter().map(read::text).collect::<Result<Vec<_>, _>>()?;
        match words.as_slice() {
            ["open"] => {}
            ["none"] => return Ok(false),
            ["newer", version] => return Err(newer(version)),
            ["foreign", key, found, wanted] => return Err(foreign(key, found, wanted)),
            _ => return Err(read::strange("an answer", &Value::Array(answer))),
        }
        if begin {
            self.announce(queue).await?;
        }
        lock(&self.known).queues.insert(queue.clone());
        Ok(true)
    }

    async fn announce(&self, queue: &Label) -> Result<(), StoreError> {
        let mut add = redis::cmd("SADD");
        add.arg(QUEUES).arg(queue.as_str());
        self.link.ask(&add).await.map(drop)
    }

    /// How long until a lease may find something, if nobody acts.
    pub(super) async fn peek(&self, queue: &Label) -> Result<Option<Duration>, StoreError> {
        if !self.open(queue, false).await? {
            return Ok(None);
        }
        let answer = self.run(&SCRIPTS.peek, &self.command(&SCRIPTS.peek, queue)).await?;
        Ok(u64::try_from(read::number(&answer)?).ok().map(Duration::from_millis))
    }

    /// Does what time demands, and now and then puts right what cannot be.
    pub(super) async fn sweep(
        &self,
        queue: &Label,
        limit: usize,
        repair_every: Duration,
    ) -> Result<Swept, StoreError> {
        if !self.open(queue, false).await? {
            return Ok(Swept::default());
        }
        let (made, of) = (self.link.made(), self.of(queue));
        let every = match of.swept_on.load(Ordering::Relaxed) == made {
            true => repair_every,
            false => Duration::ZERO,
        };
        let mut command = self.command(&SCRIPTS.sweep, queue);
        command.arg(limit).arg(millis(every)).arg(millis(repair_every));
        let swept = read::swept(self.run(&SCRIPTS.sweep, &command).await?)?;
        of.swept_on.store(made, Ordering::Relaxed);
        Ok(swept)
    }

    /// A connection made anew may lead to another server, which knows other queues.
    fn is_known(&self, queue: &Label) -> bool {
        let made = self.link.made();
        let mut known = lock(&self.known);
        if known.made != made {
            *known = Known { made, ..Known::default() };
        }
        known.queues.contains(queue)
    }

    /// The queue was emptied from outside: what we knew of it holds no longer.
    fn forget(&self, queue: &Label) {
        lock(&self.known).queues.remove(queue);
    }

    pub(super) async fn submit(&self, queue: &Label, calls: Vec<Call<Parcel, Submitted>>) {
        let sent = match self.open(queue, true).await {
            Ok(_) => self.send_parcels(queue, &calls).await,
            Err(error) => Err(error),
        };
        match sent {
            Ok(Intake::Taken(answers)) => hand_out(calls, answers),
            Ok(Intake::Apart) => {
                for call in calls {
                    let sent = self.send_parcels(queue, std::slice::from_ref(&call)).await;
                    call.answer(sent.and_then(Intake::taken));
                }
            }
            Err(error) => calls.into_iter().for_each(|call| call.answer(Err(error.clone()))),
        }
    }

    async fn send_parcels(
        &self,
        queue: &Label,
        calls: &[Call<Parcel, Submitted>],
    ) -> Result<Intake, StoreError> {
        let parcels = || calls.iter().flat_map(|call| &call.parts);
        let plain = parcels().all(|parcel| parcel.plain);
        let mut command = self.command(&SCRIPTS.enqueue, queue);
        command.arg(calls.len()).arg(if plain { "P" } else { "X" });
        for parcel in parcels() {
            command.arg(parcel.id.to_string()).arg(&parcel.body);
            if !plain {
                command.arg(&parcel.extra);
            }
        }
        let ids: Vec<JobId> = parcels().map(|parcel| parcel.id).collect();
        let (intake, first) = intake(self.run(&SCRIPTS.enqueue, &command).await?, &ids)?;
        if first {
            self.forget(queue);
            self.open(queue, true).await?;
        }
        Ok(intake)
    }

    pub(super) async fn settle(&self, queue: &Label, calls: Vec<Call<Verdict, Settled>>) {
        match self.send_verdicts(queue, &calls).await {
            Ok(answers) => hand_out(calls, answers),
            Err(error) => calls.into_iter().for_each(|call| call.answer(Err(error.clone()))),
        }
    }

    async fn send_verdicts(
        &self,
        queue: &Label,
        calls: &[Call<Verdict, Settled>],
    ) -> Result<Vec<Settled>, StoreError> {
        let count = calls.iter().map(|call| call.parts.len()).sum();
        if !self.open(queue, false).await? {
            return Ok(vec![Settled::Stale; count]);
        }
        let verdicts: Vec<&Verdict> = calls.iter().flat_map(|call| &call.parts).collect();
        let mut command = self.command(&SCRIPTS.settle, queue);
        match verdicts.first() {
            Some(first) if write::all_plain(&verdicts) => {
                command.arg("D").arg(first.holder.to_string());
                write::add_ended(&mut command, &verdicts);
            }
            _ => {
                command.arg("X");
                for verdict in verdicts {
                    command.arg(verdict.holder.to_string()).arg(verdict.id.to_string());
                    command.arg(verdict.epoch).arg(verdict.ending).arg(verdict.span);
                    command.arg(u8::from(verdict.flag)).arg(&verdict.bytes);
                }
            }
        }
        settled(self.run(&SCRIPTS.settle, &command).await?, count)
    }
}

/// What became of parcels.
enum Intake {
    Taken(Vec<Submitted>),
    /// The queue is nearly full: each call must be judged by itself.
    Apart,
}

impl Intake {
    fn taken(self) -> Result<Vec<Submitted>, StoreError> {
        match self {
            Self::Taken(answers) => Ok(answers),
            Self::Apart => Err(StoreError::Format("a call by itself cannot be parted".into())),
        }
    }
}

/// What became of the parcels, and whether they were the first that the queue ever took.
fn intake(value: Value, ids: &[JobId]) -> Result<(Intake, bool), StoreError> {
    let all_new = || ids.iter().copied().map(Submitted::New).collect();
    if let Value::Int(code) = value {
        return Ok((Intake::Taken(all_new()), code == 2));
    }
    let mut values = read::list(value)?.into_iter();
    let word = values.next().unwrap_or_default();
    match (read::text(&word)?, values.next(), values.next()) {
        ("split", None, None) => Ok((Intake::Apart, false)),
        ("full", Some(waiting), Some(max)) => {
            Err(StoreError::full(read::count(&waiting)?, read::count(&max)?))
        }
        ("each", Some(answers), Some(code)) => {
            let answers = read::list(answers)?;
            let judged = answers.iter().zip(ids).map(|(answer, id)| match read::text(answer)? {
                "" => Ok(Submitted::New(*id)),
                _ => read::id(answer).map(Submitted::Existing),
            });
            let judged = judged.collect::<Result<Vec<_>, StoreError>>()?;
            Ok((Intake::Taken(judged), read::number(&code)? == 2))
        }
        _ => Err(read::strange("an answer", &word)),
    }
}

fn settled(value: Value, count: usize) -> Result<Vec<Settled>, StoreError> {
    if value == Value::Int(1) {
        return Ok(vec![Settled::Taken; count]);
    }
    let judged = read::list(value)?;
    let judged = judged.iter().map(|answer| match read::number(answer)? {
        1 => Ok(Settled::Taken),
        _ => Ok(Settled::Stale),
    });
    judged.collect()
}

/// Gives each call the answers to its parts.
fn hand_out<P, A>(calls: Vec<Call<P, A>>, answers: Vec<A>)
where
    P: Send + 'static,
    A: Send + 'static,
{
    let mut answers = answers.into_iter();
    for call in calls {
        let own = answers.by_ref().take(call.parts.len()).collect();
        call.answer(Ok(own));
    }
}

/// A call of the script at the time of this clock, or of the store's when there is none.
pub(super) fn command(clock: Option<&Arc<dyn Clock>>, script: &Script, queue: &Label) -> Cmd {
    let now = clock.map_or(0, |clock| clock.now().as_nanos() / 1_000_000);
    let mut command = bare_command(script, queue);
    command.arg(now);
    command
}

fn bare_command(script: &Script, queue: &Label) -> Cmd {
    let mut command = redis::cmd("EVALSHA");
    command.arg(&script.hash).arg(1).arg(prefix(queue));
    command
}

fn newer(version: &str) -> StoreError {
    StoreError::Format(format!(
        "the queue has format {version}, this version reads up to {VERSION}; use a newer one",
    ))
}

fn foreign(key: &str, found: &str, wanted: &str) -> StoreError {
    StoreError::Format(format!(
        "the key {key} holds a {found} where a {wanted} belongs, so another application uses this \
         Redis; use another one, or another database of it",
    ))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
