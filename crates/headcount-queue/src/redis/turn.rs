//! Jobs handed out, and in the same step those forgotten that their holder has done.
//!
//! A worker with short jobs asks for others as soon as some have ended. Told apart, an ending and a
//! lease are two scripts that look at the same rules and counts; told together they are one, for
//! little more than the price of a lease. It is done only where an ending is no more than to be
//! forgotten: where jobs depend on others or are limited, the ends come first, by a script that
//! knows all that follows from them. Each lease tells whether that is so.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use headcount_core::jobs::port::{LeaseAsk, Settled, StoreError, Turned};
use headcount_core::jobs::{Holder, Label};
use redis::Value;

use super::calls::Calls;
use super::read::{self, Garbled, Given};
use super::scripts::SCRIPTS;
use super::write::{self, Verdict, millis};

/// Ends jobs of a holder, then hands out others to it.
pub(super) async fn turn(
    calls: &Arc<Calls>,
    queue: &Label,
    verdicts: Vec<Verdict>,
    ask: LeaseAsk,
) -> Result<Turned, StoreError> {
    calls.open(queue, true).await?;
    let settles_apart = calls.of(queue).settles_apart.load(Ordering::Relaxed);
    let mut settled = vec![Settled::Taken; verdicts.len()];
    let ended: Vec<&Verdict> = verdicts.iter().collect();
    let given = match ended.is_empty() || !settles_apart && write::all_plain(&ended) {
        true => lease(calls, queue, &ended, ask).await?,
        false => None,
    };
    let given = match given {
        Some(given) => given,
        None => {
            settled = end(calls, queue, verdicts).await?;
            let given = lease(calls, queue, &[], ask).await?;
            given.ok_or_else(|| read::strange("a lease", &Value::Int(0)))?
        }
    };
    let Given { leased, garbled, settles_apart } = given;
    calls.of(queue).settles_apart.store(settles_apart, Ordering::Relaxed);
    set_apart(calls, queue, (ask.holder, leased.epoch), garbled).await?;
    if leased.jobs.len() < ask.jobs_max && leased.again_in != Some(Duration::ZERO) {
        calls.of(queue).waiters.left_nothing(leased.again_in);
    }
    Ok(Turned { settled, leased })
}

/// One step for both. Does nothing at all when there is more to the ends than to forget them.
async fn lease(
    calls: &Calls,
    queue: &Label,
    ended: &[&Verdict],
    ask: LeaseAsk,
) -> Result<Option<Given>, StoreError> {
    let mut command = calls.command(&SCRIPTS.lease, queue);
    command.arg(ask.holder.to_string()).arg(millis(ask.ttl)).arg(ask.jobs_max);
    if !ended.is_empty() {
        write::add_ended(&mut command, ended);
    }
    match calls.run(&SCRIPTS.lease, &command).await? {
        Value::Int(0) => Ok(None),
        given => read::given(given).map(Some),
    }
}

/// Ends jobs, together with others of this process that end at the same time.
pub(super) async fn end(
    calls: &Arc<Calls>,
    queue: &Label,
    verdicts: Vec<Verdict>,
) -> Result<Vec<Settled>, StoreError> {
    if verdicts.is_empty() {
        return Ok(Vec::new());
    }
    let bytes = verdicts.iter().map(|verdict| verdict.bytes.len()).sum();
    let batcher = Arc::clone(&calls.of(queue).endings);
    let (calls, queue) = (Arc::clone(calls), queue.clone());
    let send = move |load| {
        let (calls, queue) = (Arc::clone(&calls), queue.clone());
        async move { calls.settle(&queue, load).await }
    };
    batcher.join(verdicts, bytes, send).await
}

/// Puts jobs out of the way that were handed out and cannot be read. When that fails the whole
/// lease does: its holder then gives back what it does not know of.
async fn set_apart(
    calls: &Arc<Calls>,
    queue: &Label,
    (holder, epoch): (Holder, u64),
    garbled: Vec<Garbled>,
) -> Result<(), StoreError> {
    let verdict = |one| Verdict::of_garbled(holder, epoch, one);
    end(calls, queue, garbled.into_iter().map(verdict).collect()).await.map(drop)
}
