//! What each call does to the store, and what it answers.

use headcount_core::Timestamp;
use headcount_core::jobs::port::{Command, Leased, LeasedJob, Listing, Page, Settled, StoreError};
use headcount_core::jobs::{JobSpec, Label, QueueStats};

use super::calls::{Answer, Call, Look};
use super::effect::JobKey;
use super::ledger::Grant;
use super::options::Durability;
use super::row::{Extra, Row};
use super::works::{Failure, TellFault, Works};
use crate::encoding::{decode, stand_in};

/// What is told when all is written, or why it could not be.
pub(crate) type Telling = Box<dyn FnOnce(Result<(), StoreError>)>;

/// Applies one call to the ledger. What it answers is told when it is written.
pub(crate) fn apply(
    works: &mut Works,
    call: Call,
    now: u64,
    tellings: &mut Vec<Telling>,
) -> Result<(), Failure> {
    match call {
        Call::Enqueue(queue, jobs, answer) => {
            let submitted = works.begin(&queue).enqueue(&jobs, now);
            works.absorb(&queue);
            tellings.push(telling(answer, submitted));
        }
        Call::Lease(queue, ask, answer) => {
            let grant = works.begin(&queue).lease(ask, now);
            works.absorb(&queue);
            let leased = leased(works, &queue, grant, now);
            tell_found(leased, answer, tellings)?;
        }
        Call::Extend(queue, ask, answer) => {
            let queued = works.queues.get_mut(&queue);
            let extended = queued.map(|queue| queue.extend(ask, now)).unwrap_or_default();
            works.absorb(&queue);
            tellings.push(telling(answer, Ok(extended)));
        }
        Call::Settle(queue, (holder, settlements), answer) => {
            let settled = match works.queues.get_mut(&queue) {
                Some(queue) => queue.settle(holder, settlements, now),
                None => vec![Settled::Stale; settlements.len()],
            };
            works.absorb(&queue);
            tellings.push(telling(answer, Ok(settled)));
        }
        Call::Sweep(queue, limit, answer) => {
            let queued = works.queues.get_mut(&queue);
            let swept = queued.map(|queue| queue.sweep(limit, now)).unwrap_or_default();
            works.absorb(&queue);
            tellings.push(telling(answer, Ok(swept)));
        }
        Call::Steer(queue, command, answer) => {
            let concerned = steer(works, &queue, command, now);
            tellings.push(telling(answer, concerned));
        }
        Call::Compact(answer) => {
            works.unwritten.touched = works.commit(Durability::Synced)?;
            let len = works.compact()?;
            tellings.push(telling(answer, Ok(len)));
        }
        call => read(works, call, now, tellings)?,
    }
    Ok(())
}

/// Answers a call that changes nothing.
fn read(works: &Works, call: Call, now: u64, tellings: &mut Vec<Telling>) -> Result<(), Failure> {
    match call {
        Call::Stats(queue, answer) => {
            let empty = || QueueStats { now: Timestamp::from_millis(now), ..QueueStats::default() };
            let stats = works.queues.get(&queue).map_or_else(empty, |queue| queue.stats(now));
            tellings.push(telling(answer, Ok(stats)));
        }
        Call::List(queue, listing, answer) => {
            tell_found(list(works, &queue, listing), answer, tellings)?;
        }
        Call::Rules(queue, answer) => {
            let rules = works.queues.get(&queue).map(|queue| queue.rules.clone());
            tellings.push(telling(answer, Ok(rules.unwrap_or_default())));
        }
        Call::Queues(answer) => {
            tellings.push(telling(answer, Ok(works.queues.keys().cloned().collect())));
        }
        Call::Look(queue, answer) => {
            let look = match works.queues.get(&queue) {
                Some(queue) if queue.has_work(now) => Look::Work,
                Some(queue) => {
                    let due = queue.next_due().map(|due| due.saturating_sub(now));
                    Look::Nothing(due.filter(|wait| 0 < *wait))
                }
                None => Look::Nothing(None),
            };
            tellings.push(telling(answer, Ok(look)));
        }
        _ => unreachable!("all others change something"),
    }
    Ok(())
}

/// Tells the answer when it is written, or that it could not be.
fn telling<T: Send + 'static>(answer: Answer<T>, outcome: Result<T, StoreError>) -> Telling {
    // Whoever does not listen any more need not know.
    Box::new(move |written| _ = answer.send(written.and(outcome)))
}

fn steer(works: &mut Works, queue: &Label, command: Command, now: u64) -> Result<u64, StoreError> {
    let of_queue = matches!(command, Command::Pause | Command::Resume | Command::Rules(_));
    if let Command::Rules(rules) = &command {
        rules.check().map_err(|error| StoreError::Refused(error.to_string()))?;
    }
    if !of_queue && !works.queues.contains_key(queue) {
        return Ok(0);
    }
    let concerned = works.begin(queue).steer(command, now);
    works.absorb(queue);
    Ok(concerned)
}

/// The jobs of a grant, with their specs. Those that cannot be read are set aside.
fn leased(works: &mut Works, queue: &Label, grant: Grant, now: u64) -> Result<Leased, TellFault> {
    let number = works.queues[queue].number;
    let (mut jobs, mut garbled) = (Vec::with_capacity(grant.jobs.len()), Vec::new());
    for (id, row) in grant.jobs {
        match decode(&works.spec_bytes((number, id))?) {
            Ok(spec) => jobs.push(leased_job(works, (number, id), row, spec, now)?),
            Err(why) => garbled.push((id, why)),
        }
    }
    for (id, why) in &garbled {
        works.begin(queue).set_apart(*id, why, now);
        works.absorb(queue);
    }
    Ok(Leased { epoch: grant.epoch, jobs, again_in: grant.again_in })
}

fn leased_job(
    works: &Works,
    job: JobKey,
    row: Row,
    spec: JobSpec,
    now: u64,
) -> Result<LeasedJob, TellFault> {
    let checkpoint = match row.has(Extra::Checkpoint) {
        true => works.extra(job, Extra::Checkpoint)?,
        false => None,
    };
    Ok(LeasedJob {
        id: job.1,
        spec,
        submitted_at: Timestamp::from_millis(row.submitted_at),
        due_at: Timestamp::from_millis(row.due_at),
        leased_at: Timestamp::from_millis(now),
        attempts: row.attempts,
        crashes: row.crashes,
        preemptions: row.preemptions,
        checkpoint,
    })
}

fn list(works: &Works, name: &Label, listing: Listing) -> Result<Page, TellFault> {
    let Some(queue) = works.queues.get(name) else { return Ok(Page::default()) };
    let (ids, next) = match listing {
        Listing::Ids(ids) => (ids, None),
        Listing::In { state, cursor, limit } => {
            queue.page(state, cursor.as_ref(), limit).map_err(TellFault::Refused)?
        }
    };
    let mut jobs = Vec::new();
    for id in ids {
        let Some((row, held)) = queue.job(id) else { continue };
        let job = (queue.number, id);
        let bytes = works.spec_bytes(job)?;
        let spec = decode(&bytes).unwrap_or_else(|_| stand_in(&bytes));
        let mut record = row.record(id, name.clone(), spec);
        record.held = held;
        let extra = |extra: Extra| match row.has(extra) {
            true => works.extra(job, extra),
            false => Ok(None),
        };
        record.checkpoint = extra(Extra::Checkpoint)?;
        record.result = extra(Extra::Result)?;
        let error = extra(Extra::Error)?;
        record.error = error.map(|error| String::from_utf8_lossy(&error).into_owned());
        jobs.push(record);
    }
    Ok(Page { jobs, next })
}

/// Tells what was found. A call that makes no sense concerns itself; a database that does not
/// answer, all.
fn tell_found<T: Send + 'static>(
    found: Result<T, TellFault>,
    answer: Answer<T>,
    tellings: &mut Vec<Telling>,
) -> Result<(), Failure> {
    let outcome = match found {
        Ok(found) => Ok(found),
        Err(TellFault::Refused(error)) => Err(error),
        Err(TellFault::Database(error)) => {
            let failure = Failure::from(error);
            tellings.push(telling(answer, Err(failure.error())));
            return Err(failure);
        }
    };
    tellings.push(telling(answer, outcome));
    Ok(())
}
