//! What a process does that was started as a producer or as a worker.

use std::io::{BufRead, Write, stdin, stdout};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tokio::time::sleep_until;

use super::field::enter;
use super::orders::{How, LATENCIES, Order, Produced, REPORT, Shift, cpu_us, now_ns, payload};
use super::{Fault, Place, Subject, Tally};

/// Does what the words say: `produce NAME PLACE ORDER`, or `work NAME PLACE SHIFT`.
pub fn child(words: &[String]) -> ExitCode {
    let done = match words {
        [role, name, place, task] => enter(name, &Place::read(place), role, task),
        _ => Err("a child needs its role, a subject, a place and a task".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

impl Place {
    fn read(word: &str) -> Self {
        match word.starts_with("redis://") {
            true => Self::Redis(word.to_owned()),
            false => Self::Folder(PathBuf::from(word)),
        }
    }

    /// The address of the Redis, for those who know nothing else.
    pub(super) fn redis(&self) -> Result<&str, Fault> {
        match self {
            Self::Redis(url) => Ok(url),
            Self::Folder(folder) => Err(format!("{} is no Redis", folder.display()).into()),
        }
    }
}

/// Does this role for this subject.
pub(super) fn run<S: Subject>(place: &Place, role: &str, task: &str) -> Result<(), Fault> {
    let (runtime, place) = (Runtime::new()?, place.clone());
    // Both are spawned, as what they wait for arrives at the threads of the runtime.
    if role == "work" {
        let shift = serde_json::from_str(task)?;
        return runtime.block_on(runtime.spawn(work::<S>(place, shift)))?;
    }
    let order = serde_json::from_str(task)?;
    say(&runtime.block_on(runtime.spawn(produce::<S>(place, order)))??)
}

async fn work<S: Subject>(place: Place, shift: Shift) -> Result<(), Fault> {
    let tally = Arc::new(Tally::new(shift.work));
    let subject = S::connect(&place).await?;
    thread::spawn({
        let tally = Arc::clone(&tally);
        move || answer(&tally)
    });
    say(&serde_json::json!({}))?;
    subject.consume(shift.concurrency, tally).await
}

/// Answers until nobody asks any more, and then ends the process with all that it holds.
fn answer(tally: &Tally) {
    for line in stdin().lock().lines() {
        let said = match line.as_deref() {
            Ok(REPORT) => say(&tally.report()),
            Ok(LATENCIES) => say(&tally.latencies_us()),
            _ => break,
        };
        if said.is_err() {
            break;
        }
    }
    std::process::exit(0);
}

fn say(what: &impl Serialize) -> Result<(), Fault> {
    let line = serde_json::to_string(what)?;
    let mut out = stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}

async fn produce<S: Subject>(place: Place, order: Order) -> Result<Produced, Fault> {
    let mut subject = S::connect(&place).await?;
    if 0 < order.warm_up {
        enqueue(&mut subject, Order { jobs: order.warm_up, ..order }, Stamp::No).await?;
    }
    let (start, cpu) = (Instant::now(), cpu_us());
    enqueue(&mut subject, order, Stamp::IfPaced).await?;
    Ok(Produced { seconds: start.elapsed().as_secs_f64(), cpu_us: cpu_us() - cpu })
}

/// Whether jobs carry the moment at which they were submitted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stamp {
    No,
    IfPaced,
}

async fn enqueue<S: Subject>(subject: &mut S, order: Order, stamp: Stamp) -> Result<(), Fault> {
    let payloads = |jobs: usize| vec![payload(0, order.payload); jobs];
    match order.how {
        How::Single => {
            for _ in 0..order.jobs {
                subject.enqueue_one(payload(0, order.payload)).await?;
            }
            Ok(())
        }
        How::Concurrent => subject.enqueue_concurrent(payloads(order.jobs), order.width).await,
        How::Bulk => {
            for first in (0..order.jobs).step_by(order.width) {
                let jobs = order.width.min(order.jobs - first);
                subject.enqueue_bulk(payloads(jobs)).await?;
            }
            Ok(())
        }
        How::Paced => paced(subject, order, stamp).await,
    }
}

/// Enqueues at an even pace, whether or not the jobs before have been acknowledged.
async fn paced<S: Subject>(subject: &S, order: Order, stamp: Stamp) -> Result<(), Fault> {
    let start = tokio::time::Instant::now();
    let mut under_way = JoinSet::new();
    for job in 0..order.jobs {
        sleep_until(start + Duration::from_secs_f64(job as f64 / order.width as f64)).await;
        let mut subject = subject.clone();
        under_way.spawn(async move {
            let submitted = if stamp == Stamp::IfPaced { now_ns() } else { 0 };
            subject.enqueue_one(payload(submitted, order.payload)).await
        });
    }
    all_ended(under_way).await
}

/// Has the jobs enqueued one at a time by `in_flight` clones.
pub(super) async fn from_many<S: Subject>(
    subject: &mut S,
    payloads: Vec<String>,
    in_flight: usize,
) -> Result<(), Fault> {
    let left = Arc::new(Mutex::new(payloads));
    let mut under_way = JoinSet::new();
    for _ in 0..in_flight {
        let (mut subject, left) = (subject.clone(), Arc::clone(&left));
        let next = move || left.lock().unwrap_or_else(PoisonError::into_inner).pop();
        under_way.spawn(async move {
            while let Some(payload) = next() {
                subject.enqueue_one(payload).await?;
            }
            Ok(())
        });
    }
    all_ended(under_way).await
}

async fn all_ended(mut under_way: JoinSet<Result<(), Fault>>) -> Result<(), Fault> {
    while let Some(ended) = under_way.join_next().await {
        ended??;
    }
    Ok(())
}
