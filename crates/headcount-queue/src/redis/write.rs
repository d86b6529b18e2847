//! Jobs, endings and rules as the scripts take them.

use std::collections::BTreeSet;
use std::time::Duration;

use headcount_core::jobs::port::{Ending, NewJob, Note, Settlement};
use headcount_core::jobs::{
    Dependence, Holder, JobId, JobRecord, JobSpec, Order, Priority, Rules, Start, UniqueSpan,
};

use redis::Cmd;

use super::read::Garbled;
use crate::encoding::encode;

/// A job on its way into the store.
#[derive(Debug)]
pub(super) struct Parcel {
    pub(super) id: JobId,
    /// What is stored behind the time: the head, a line break, the job as it is encoded.
    pub(super) body: Vec<u8>,
    /// What the script must know at once: when it may start, and what it waits for.
    pub(super) extra: String,
    /// Whether there is nothing special about it.
    pub(super) plain: bool,
}

impl Parcel {
    pub(super) fn of(job: &NewJob) -> Self {
        let (head, extra) = (head(&job.spec), extra(&job.spec));
        let plain = head.is_empty() && extra.is_empty();
        let encoded = encode(&job.spec);
        let mut body = Vec::with_capacity(head.len() + 1 + encoded.len());
        body.extend_from_slice(head.as_bytes());
        body.push(b'\n');
        body.extend_from_slice(&encoded);
        Self { id: job.id, body, extra, plain }
    }
}

/// What the scripts need of a spec, in tabs; nothing when all of it is as usual. No name and no
/// key holds a tab.
fn head(spec: &JobSpec) -> String {
    let usual = spec.priority == Priority::default()
        && spec.tenant.is_none()
        && spec.key.is_none()
        && spec.unique.is_none()
        && millis(spec.keep) == 0
        && spec.crashes_max == 3;
    if usual {
        return String::new();
    }
    let (span, unique) = match &spec.unique {
        Some(unique) => (span(unique.span), unique.key.as_str()),
        None => (String::new(), ""),
    };
    let tenant = spec.tenant.as_ref().map_or("", |tenant| tenant.as_str());
    let key = spec.key.as_ref().map_or("", |key| key.as_str());
    let (priority, keep, crashes) = (spec.priority.get(), millis(spec.keep), spec.crashes_max);
    format!("\t{priority}\t{tenant}\t{keep}\t{crashes}\t{key}\t{span}\t{unique}")
}

fn span(span: UniqueSpan) -> String {
    match span {
        UniqueSpan::UntilEnded => "u".to_owned(),
        UniqueSpan::For(span) => format!("f{}", millis(span)),
        // As many digits as any number has, so that they compare as texts.
        UniqueSpan::Above(number) => format!("a{number:020}"),
    }
}

fn extra(spec: &JobSpec) -> String {
    if spec.start == Start::Now && spec.after.is_empty() {
        return String::new();
    }
    let mut extra = match spec.start {
        Start::Now => "n".to_owned(),
        Start::After(delay) => format!("a{}", millis(delay)),
        Start::At(at) => format!("t{}", at.as_nanos() / 1_000_000),
    };
    extra.push(';');
    if !spec.after.is_empty() {
        extra.push(match spec.dependence {
            Dependence::Success => 's',
            Dependence::End => 'e',
        });
        for id in &spec.after {
            extra.push_str(&id.to_string());
        }
    }
    extra
}

/// Whole milliseconds, which is what the store counts in.
pub(super) fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// How long a job that only a newer version can read is put off.
const NEWER_PUT_OFF: Duration = Duration::from_secs(30);

/// How a job ended, on its way into the store.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) holder: Holder,
    pub(super) id: JobId,
    pub(super) epoch: u64,
    pub(super) ending: &'static str,
    pub(super) span: u64,
    /// Whether there are bytes; no bytes at all differ from none.
    pub(super) flag: bool,
    pub(super) bytes: Vec<u8>,
}

impl Verdict {
    pub(super) fn of(holder: Holder, settlement: Settlement) -> Self {
        let Settlement { id, epoch, ending } = settlement;
        let cut = |error: String| Some(JobRecord::cut_error(&error).as_bytes().to_vec());
        let (ending, span, bytes) = match ending {
            Ending::Done { result } => ("d", Duration::ZERO, result),
            Ending::Retry { after, error } => ("r", after, cut(error)),
            Ending::Dead { error } => ("x", Duration::ZERO, cut(error)),
            Ending::Release { checkpoint } => ("l", Duration::ZERO, checkpoint),
            Ending::Snooze { after, checkpoint } => ("s", after, checkpoint),
            Ending::Cancelled => ("c", Duration::ZERO, None),
        };
        let flag = bytes.is_some();
        let bytes = bytes.unwrap_or_default();
        Self { holder, id, epoch, ending, span: millis(span), flag, bytes }
    }

    /// What to do with a job that this holder was given and cannot read: it is set aside, so that
    /// others go on. One of a newer version is put off, so that a newer worker can take it.
    pub(super) fn of_garbled(holder: Holder, epoch: u64, garbled: Garbled) -> Self {
        let Garbled { id, why, newer } = garbled;
        if newer {
            let ending = Ending::Snooze { after: NEWER_PUT_OFF, checkpoint: None };
            return Self::of(holder, Settlement { id, epoch, ending });
        }
        let bytes = JobRecord::cut_error(&why).as_bytes().to_vec();
        Self { holder, id, epoch, ending: "q", span: 0, flag: true, bytes }
    }

    /// Whether it ended well and nothing is to be kept of it.
    pub(super) fn plain(&self) -> bool {
        self.ending == "d" && !self.flag
    }
}

/// Adds the words that tell of jobs which ended well: how many in a row are held under which epoch,
/// then their ids.
pub(super) fn add_ended(command: &mut Cmd, ended: &[&Verdict]) {
    let rows = ended.chunk_by(|one, next| one.epoch == next.epoch);
    let rows = rows.map(|row| format!("{}.{}", row[0].epoch, row.len()));
    command.arg(rows.collect::<Vec<_>>().join(" "));
    for verdict in ended {
        command.arg(verdict.id.to_string());
    }
}

/// Whether all are of one holder, ended well with nothing to keep, and no two are of one job: then
/// the scripts need to know no more than `add_ended` says.
pub(super) fn all_plain(verdicts: &[&Verdict]) -> bool {
    let mut known = BTreeSet::new();
    let holder = verdicts.first().map(|verdict| verdict.holder);
    verdicts.iter().all(|verdict| {
        verdict.plain() && Some(verdict.holder) == holder && known.insert(verdict.id)
    })
}

/// A note as the script takes it: no progress is an empty text, a checkpoint follows a plus.
pub(super) fn note(note: Note) -> [Vec<u8>; 4] {
    let progress = note.progress.map(|progress| progress.to_string()).unwrap_or_default();
    let checkpoint = note.checkpoint.map(|mut checkpoint| {
        checkpoint.insert(0, b'+');
        checkpoint
    });
    [
        note.id.to_string().into_bytes(),
        note.epoch.to_string().into_bytes(),
        progress.into_bytes(),
        checkpoint.unwrap_or_default(),
    ]
}

/// The rules as the scripts read them with every call. Numbers beyond what a double holds exactly
/// are cut; nobody has so many jobs.
pub(super) fn rules(rules: &Rules) -> String {
    let number = |number: u64| number.min(1 << 50);
    let weights = match rules.order {
        Order::Strict => None,
        Order::Weighted(weights) => Some(weights),
    };
    let limits = rules.running_max.is_some()
        || rules.key_running_max.is_some()
        || rules.rate.is_some()
        || weights.is_some();
    let mut all = serde_json::json!({
        "running_max": rules.running_max,
        "key_max": rules.key_running_max,
        "rate_each": rules.rate.map(headcount_core::jobs::Rate::micros_each),
        "rate_jobs": rules.rate.map(|rate| rate.jobs),
        "weights": weights,
        "waiting_max": number(rules.waiting_max),
        "dead_max": number(rules.dead_max),
        "dead_keep": number(millis(rules.dead_keep)),
        "done_max": number(rules.done_max),
        "limits": limits.then_some(true),
        "tenant_weights": rules.tenant_weights,
    });
    if let Some(all) = all.as_object_mut() {
        // A null would be a value to the scripts, and an empty object becomes a list in them.
        all.retain(|_, value| {
            !value.is_null() && value.as_object().is_none_or(|map| !map.is_empty())
        });
    }
    all.to_string()
}
