//! What the scripts answer, as the port says it.

use std::time::Duration;

use headcount_core::Timestamp;
use headcount_core::jobs::port::{Extended, Leased, LeasedJob, Page, StoreError, Swept};
use headcount_core::jobs::{Holder, JobId, JobRecord, JobSpec, Label, QueueStats, State, Totals};
use redis::Value;
use serde::Deserialize;

use crate::encoding::{decode, is_newer, stand_in};

type Read<T> = Result<T, StoreError>;

/// How long an id is as a text.
const ID_LETTERS: usize = 32;

/// What happened to a job, as the scripts write it. See the README for what the letters mean.
#[derive(Debug, Default, Deserialize)]
struct Mark {
    due: Option<f64>,
    st: Option<f64>,
    en: Option<f64>,
    a: Option<u32>,
    c: Option<u32>,
    p: Option<u32>,
    pr: Option<u8>,
    x: Option<u8>,
    er: Option<String>,
}

pub(super) fn strange(what: &str, found: &Value) -> StoreError {
    StoreError::Format(format!("{what} is {found:?}, which no script of this version writes"))
}

pub(super) fn list(value: Value) -> Read<Vec<Value>> {
    match value {
        Value::Array(values) => Ok(values),
        other => Err(strange("an answer", &other)),
    }
}

/// The same where there may be nothing.
fn list_or_none(value: Value) -> Read<Vec<Value>> {
    match value {
        Value::Nil => Ok(Vec::new()),
        other => list(other),
    }
}

/// So many values, in order.
pub(super) fn exactly<const N: usize>(value: Value) -> Read<[Value; N]> {
    let values = list(value)?;
    <[Value; N]>::try_from(values).map_err(|values| strange("an answer", &Value::Array(values)))
}

pub(super) fn text(value: &Value) -> Read<&str> {
    match value {
        Value::BulkString(bytes) => {
            std::str::from_utf8(bytes).map_err(|_| strange("a text", value))
        }
        Value::SimpleString(text) => Ok(text),
        other => Err(strange("a text", other)),
    }
}

pub(super) fn number(value: &Value) -> Read<i64> {
    match value {
        Value::Int(number) => Ok(*number),
        Value::BulkString(_) => {
            let text = text(value)?;
            let whole = text.parse().ok();
            // Redis writes large scores with an exponent.
            #[allow(clippy::cast_possible_truncation, reason = "milliseconds fit")]
            let whole = whole.or_else(|| text.parse().ok().map(|number: f64| number as i64));
            whole.ok_or_else(|| strange("a number", value))
        }
        other => Err(strange("a number", other)),
    }
}

pub(super) fn count(value: &Value) -> Read<u64> {
    Ok(u64::try_from(number(value)?).unwrap_or(0))
}

pub(super) fn id(value: &Value) -> Read<JobId> {
    text(value)?.parse().map_err(|_| strange("an id", value))
}

fn bytes(value: Value) -> Option<Vec<u8>> {
    match value {
        Value::BulkString(bytes) => Some(bytes),
        _ => None,
    }
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(u64::try_from(millis).unwrap_or(0))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "milliseconds")]
fn at_float(millis: f64) -> Timestamp {
    Timestamp::from_millis(millis as u64)
}

/// A job that is stored and cannot be read, and why not.
pub(super) struct Garbled {
    pub(super) id: JobId,
    pub(super) why: String,
    /// A newer version wrote it, and will be able to read it.
    pub(super) newer: bool,
}

/// A stored job: when it was taken in, and what it is.
fn stored(body: &[u8]) -> Result<(Timestamp, JobSpec), String> {
    let time = body.get(..14).and_then(|time| std::str::from_utf8(time).ok());
    let time = time.and_then(|time| time.parse().ok()).ok_or("a job has no time before it")?;
    Ok((Timestamp::from_millis(time), decode(encoded(body))?))
}

/// What is behind the time and the head.
fn encoded(body: &[u8]) -> &[u8] {
    let end = body.iter().position(|byte| *byte == b'\n').unwrap_or(body.len());
    body.get(end + 1..).unwrap_or_default()
}

/// What is no JSON says nothing, to the scripts as well.
fn mark(text: &[u8]) -> Mark {
    serde_json::from_slice(text).unwrap_or_default()
}

/// What a holder was given.
pub(super) struct Given {
    pub(super) leased: Leased,
    /// What of it cannot be read.
    pub(super) garbled: Vec<Garbled>,
    /// Whether there is more to the end of a job here than to forget it.
    pub(super) settles_apart: bool,
}

pub(super) fn given(value: Value) -> Read<Given> {
    let [epoch, now, again, apart, ids, bodies, marks] = exactly(value)?;
    let leased_at = at(number(&now)?);
    let ids = ids_of(&ids)?;
    let bodies = list_or_none(bodies)?;
    if ids.len() != bodies.len() {
        return Err(strange("a lease", &Value::Array(bodies)));
    }
    let mut jobs = Vec::with_capacity(ids.len());
    let (mut places, mut garbled) = (Vec::with_capacity(ids.len()), Vec::new());
    for (id, body) in ids.into_iter().zip(bodies) {
        let body = bytes(body).unwrap_or_default();
        let (submitted_at, spec) = match stored(&body) {
            Ok(stored) => stored,
            Err(why) => {
                garbled.push(Garbled { id, why, newer: is_newer(encoded(&body)) });
                places.push(None);
                continue;
            }
        };
        places.push(Some(jobs.len()));
        let due_at = submitted_at;
        jobs.push(LeasedJob { submitted_at, due_at, leased_at, ..LeasedJob::new(id, spec) });
    }
    for entry in list_or_none(marks)? {
        let [place, text, checkpoint] = exactly(entry)?;
        let place = usize::try_from(number(&place)?).unwrap_or(0).checked_sub(1);
        let place = place.and_then(|place| places.get(place).copied().flatten());
        let Some(place) = place else { continue };
        let mark = mark(&bytes(text).unwrap_or_default());
        let job = &mut jobs[place];
        job.due_at = mark.due.map_or(job.due_at, at_float);
        job.attempts = mark.a.unwrap_or(0);
        job.crashes = mark.c.unwrap_or(0);
        job.preemptions = mark.p.unwrap_or(0);
        job.checkpoint = bytes(checkpoint);
    }
    let again = number(&again)?;
    let again_in = u64::try_from(again).ok().map(Duration::from_millis);
    let leased = Leased { epoch: count(&epoch)?, jobs, again_in };
    Ok(Given { leased, garbled, settles_apart: number(&apart)? == 1 })
}

/// Ids that stand in one text without anything between them.
fn ids_of(value: &Value) -> Read<Vec<JobId>> {
    let text = text(value)?;
    let id = |from| text.get(from..from + ID_LETTERS).and_then(|id| id.parse().ok());
    let ids = (0..text.len()).step_by(ID_LETTERS).map(id).collect::<Option<_>>();
    ids.ok_or_else(|| strange("a list of ids", value))
}

pub(super) fn extended(value: Value) -> Read<Extended> {
    let [alive, cancel, stale] = exactly(value)?;
    let ids = |value: Value| list(value)?.iter().map(id).collect::<Read<Vec<JobId>>>();
    let mut cancel = ids(cancel)?;
    cancel.sort_unstable();
    Ok(Extended { alive: number(&alive)? == 1, cancel, stale: ids(stale)? })
}

pub(super) fn swept(value: Value) -> Read<Swept> {
    let [due, expired, recovered, quarantined, forgotten, repaired, more] = exactly(value)?;
    Ok(Swept {
        due: count(&due)?,
        expired: count(&expired)?,
        recovered: count(&recovered)?,
        quarantined: count(&quarantined)?,
        forgotten: count(&forgotten)?,
        repaired: count(&repaired)?,
        more: number(&more)? == 1,
    })
}

pub(super) fn stats(value: Value) -> Read<QueueStats> {
    let [now, oldest, due, paused, holders, counts] = exactly(value)?;
    let mut stats = QueueStats { now: at(number(&now)?), ..QueueStats::default() };
    let oldest = number(&oldest)?;
    stats.oldest_ready_at = (0 <= oldest).then(|| at(oldest));
    stats.next_due_at = match text(&due)? {
        "" => None,
        _ => Some(at(number(&due)?)),
    };
    stats.paused = number(&paused)? == 1;
    stats.holders = u32::try_from(number(&holders)?).unwrap_or(0);
    for pair in list(counts)?.chunks_exact(2) {
        let (field, amount) = (text(&pair[0])?, count(&pair[1])?);
        match field.strip_prefix("t.") {
            Some(total) => set_total(&mut stats.totals, total, amount),
            None => {
                if let Ok(state) = field.parse::<State>() {
                    stats.jobs[state] = amount;
                }
            }
        }
    }
    Ok(stats)
}

fn set_total(totals: &mut Totals, name: &str, amount: u64) {
    let field = match name {
        "submitted" => &mut totals.submitted,
        "existing" => &mut totals.existing,
        "done" => &mut totals.done,
        "failed" => &mut totals.failed,
        "died" => &mut totals.died,
        "quarantined" => &mut totals.quarantined,
        "cancelled" => &mut totals.cancelled,
        "crashed" => &mut totals.crashed,
        "preempted" => &mut totals.preempted,
        "leases_expired" => &mut totals.leases_expired,
        "stale" => &mut totals.stale,
        "repaired" => &mut totals.repaired,
        // A newer version counts something else; it is not ours to show.
        _ => return,
    };
    *field = amount;
}

/// A page, and whether more follows it.
pub(super) fn page(value: Value, queue: &Label) -> Read<(Page, bool)> {
    let [jobs, more] = exactly(value)?;
    let jobs = list(jobs)?.into_iter().map(|job| record(job, queue)).collect::<Read<Vec<_>>>()?;
    Ok((Page { jobs, next: None }, number(&more)? == 1))
}

fn record(value: Value, queue: &Label) -> Read<JobRecord> {
    let [job, body, state, mark_text, holder, held, checkpoint, result] = exactly(value)?;
    let body = bytes(body).unwrap_or_default();
    let (read, why) = match stored(&body) {
        Ok(read) => (read, None),
        Err(why) => ((Timestamp::ORIGIN, stand_in(&body)), Some(why)),
    };
    let (submitted_at, spec) = read;
    let mut record = JobRecord::new(id(&job)?, queue.clone(), spec, submitted_at);
    record.state = text(&state)?.parse().map_err(|_| strange("a state", &state))?;
    let mark = mark(&bytes(mark_text).unwrap_or_default());
    record.due_at = mark.due.map_or(submitted_at, at_float);
    record.started_at = mark.st.map(at_float);
    record.ended_at = mark.en.map(at_float);
    record.attempts = mark.a.unwrap_or(0);
    record.crashes = mark.c.unwrap_or(0);
    record.preemptions = mark.p.unwrap_or(0);
    record.cancelling = mark.x.is_some();
    record.progress = mark.pr;
    record.error = mark.er.or(why);
    record.checkpoint = bytes(checkpoint);
    record.result = bytes(result);
    if let Some((holder, epoch, started)) = holding(text(&holder)?, text(&held)?) {
        record.held = Some((holder, epoch));
        record.started_at = Some(Timestamp::from_millis(started));
    }
    Ok(record)
}

fn holding(holder: &str, held: &str) -> Option<(Holder, u64, u64)> {
    let mut parts = held.split('.');
    let epoch = parts.next()?.parse().ok()?;
    let started = parts.next()?.parse().ok()?;
    Some((holder.parse().ok()?, epoch, started))
}
