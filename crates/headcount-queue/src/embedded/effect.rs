//! What an operation changes, as it is written to the journal.
//!
//! Effects say what is now, not what to do: reading one twice changes nothing, so a journal may be
//! read again after a crash in the middle of reading it.

use std::sync::Arc;

use headcount_core::jobs::{Holder, JobId, Totals};

use super::row::{Extra, ROW_LEN, Reader, Row, put_bytes};

/// A job of a queue, by the queue's number.
pub(crate) type JobKey = (u32, JobId);

/// One change.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    /// A job was taken in.
    New { job: JobKey, row: Row, spec: Arc<[u8]> },
    /// A job's row is this now.
    Changed { job: JobKey, row: Row },
    /// Something of a job that is stored apart is this now, or is no more.
    Extra { job: JobKey, extra: Extra, bytes: Option<Arc<[u8]>> },
    /// A job is forgotten.
    Forgotten { job: JobKey },
    /// A unique key is taken by this job, or free.
    Unique { queue: u32, key: Arc<str>, claim: Option<Claim> },
    /// There is a queue of this number and name.
    Queue { queue: u32, name: Arc<str> },
    /// The rules of a queue, as JSON.
    Rules { queue: u32, json: Arc<[u8]> },
    /// The numbers of a queue.
    Numbers { queue: u32, numbers: Numbers },
    /// A job was handed out. Kept in the journal only: it says nothing that lasts.
    Held { job: JobKey, holder: Holder, epoch: u64 },
}

/// Who has taken a unique key, where that outlives the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) id: JobId,
    pub(crate) span: ClaimSpan,
}

/// For how long a unique key is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClaimSpan {
    /// Until the job has ended. Not stored: the job says so itself.
    Ended,
    /// Until this time.
    Until(u64),
    /// Against all numbers not above this one.
    Above(u64),
}

/// What a queue counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numbers {
    pub(crate) paused: bool,
    pub(crate) totals: Totals,
    /// The epoch of the last lease.
    pub(crate) epoch: u64,
    /// How many jobs were taken so far.
    pub(crate) taken: u64,
    /// What the rate remembers.
    pub(crate) theoretical: u64,
}

const NEW: u8 = 1;
const CHANGED: u8 = 2;
const EXTRA: u8 = 3;
const FORGOTTEN: u8 = 4;
const UNIQUE: u8 = 5;
const QUEUE: u8 = 6;
const RULES: u8 = 7;
const NUMBERS: u8 = 8;
const HELD: u8 = 9;

impl Effect {
    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::New { job, row, spec } => {
                put_job(bytes, NEW, *job);
                row.write(bytes);
                put_bytes(bytes, spec);
            }
            Self::Changed { job, row } => {
                put_job(bytes, CHANGED, *job);
                row.write(bytes);
            }
            Self::Extra { job, extra, bytes: value } => {
                put_job(bytes, EXTRA, *job);
                bytes.push(*extra as u8);
                put_maybe(bytes, value.as_deref());
            }
            Self::Forgotten { job } => put_job(bytes, FORGOTTEN, *job),
            Self::Unique { queue, key, claim } => {
                put_queue(bytes, UNIQUE, *queue);
                put_bytes(bytes, key.as_bytes());
                let claim = claim.map(Claim::to_bytes);
                put_maybe(bytes, claim.as_ref().map(|claim| &claim[..]));
            }
            Self::Queue { queue, name } => {
                put_queue(bytes, QUEUE, *queue);
                put_bytes(bytes, name.as_bytes());
            }
            Self::Rules { queue, json } => {
                put_queue(bytes, RULES, *queue);
                put_bytes(bytes, json);
            }
            Self::Numbers { queue, numbers } => {
                put_queue(bytes, NUMBERS, *queue);
                put_bytes(bytes, &numbers.to_bytes());
            }
            Self::Held { job, holder, epoch } => {
                put_job(bytes, HELD, *job);
                bytes.extend_from_slice(&holder.as_u128().to_le_bytes());
                bytes.extend_from_slice(&epoch.to_le_bytes());
            }
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, String> {
        let tag = reader.byte()?;
        let queue = reader.u32()?;
        match tag {
            UNIQUE => {
                let key = reader.text()?.into();
                let claim = read_maybe(reader)?.map(Claim::from_bytes).transpose()?;
                Ok(Self::Unique { queue, key, claim })
            }
            QUEUE => Ok(Self::Queue { queue, name: reader.text()?.into() }),
            RULES => Ok(Self::Rules { queue, json: reader.bytes()?.into() }),
            NUMBERS => Ok(Self::Numbers { queue, numbers: Numbers::from_bytes(reader.bytes()?)? }),
            _ => Self::read_of_job(tag, queue, reader),
        }
    }

    fn read_of_job(tag: u8, queue: u32, reader: &mut Reader<'_>) -> Result<Self, String> {
        let job = (queue, JobId::from_u128(reader.u128()?));
        match tag {
            NEW => {
                let row = Row::read(reader.take(ROW_LEN)?)?;
                Ok(Self::New { job, row, spec: reader.bytes()?.into() })
            }
            CHANGED => Ok(Self::Changed { job, row: Row::read(reader.take(ROW_LEN)?)? }),
            EXTRA => {
                let extra = Extra::from_number(reader.byte()?).ok_or("an extra is not known")?;
                Ok(Self::Extra { job, extra, bytes: read_maybe(reader)?.map(Into::into) })
            }
            FORGOTTEN => Ok(Self::Forgotten { job }),
            HELD => {
                let holder = Holder::new(reader.u128()?);
                Ok(Self::Held { job, holder, epoch: reader.u64()? })
            }
            _ => Err(format!("a change of the kind {tag} is not known")),
        }
    }
}

impl Claim {
    pub(crate) fn to_bytes(self) -> [u8; 25] {
        let (tag, number) = match self.span {
            ClaimSpan::Ended => (0, 0),
            ClaimSpan::Until(time) => (1, time),
            ClaimSpan::Above(number) => (2, number),
        };
        let mut bytes = [0; 25];
        bytes[0] = tag;
        bytes[1..17].copy_from_slice(&self.id.as_u128().to_le_bytes());
        bytes[17..].copy_from_slice(&u64::to_le_bytes(number));
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let mut reader = Reader::new(bytes);
        let tag = reader.byte()?;
        let id = JobId::from_u128(reader.u128()?);
        let number = reader.u64()?;
        let span = match tag {
            0 => ClaimSpan::Ended,
            1 => ClaimSpan::Until(number),
            2 => ClaimSpan::Above(number),
            _ => return Err("a unique key has a span that is not known".to_owned()),
        };
        Ok(Self { id, span })
    }
}

impl Numbers {
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(160);
        bytes.push(u8::from(self.paused));
        for number in [self.epoch, self.taken, self.theoretical] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        for total in totals_in_order(self.totals) {
            bytes.extend_from_slice(&total.to_le_bytes());
        }
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let mut reader = Reader::new(bytes);
        let paused = reader.byte()? != 0;
        let (epoch, taken, theoretical) = (reader.u64()?, reader.u64()?, reader.u64()?);
        let mut totals = [0; 12];
        // Fewer than we know: written by an older version, which did not count the rest.
        for total in &mut totals {
            *total = reader.u64().unwrap_or(0);
        }
        Ok(Self { paused, totals: totals_from_order(totals), epoch, taken, theoretical })
    }
}

const fn totals_in_order(totals: Totals) -> [u64; 12] {
    let Totals { submitted, existing, done, failed, died, quarantined, .. } = totals;
    let Totals { cancelled, crashed, preempted, leases_expired, stale, repaired, .. } = totals;
    [
        submitted,
        existing,
        done,
        failed,
        died,
        quarantined,
        cancelled,
        crashed,
        preempted,
        leases_expired,
        stale,
        repaired,
    ]
}

const fn totals_from_order(totals: [u64; 12]) -> Totals {
    let [submitted, existing, done, failed, died, quarantined, rest @ ..] = totals;
    let [cancelled, crashed, preempted, leases_expired, stale, repaired] = rest;
    Totals {
        submitted,
        existing,
        done,
        failed,
        died,
        quarantined,
        cancelled,
        crashed,
        preempted,
        leases_expired,
        stale,
        repaired,
    }
}

fn put_queue(bytes: &mut Vec<u8>, tag: u8, queue: u32) {
    bytes.push(tag);
    bytes.extend_from_slice(&queue.to_le_bytes());
}

fn put_job(bytes: &mut Vec<u8>, tag: u8, (queue, id): JobKey) {
    put_queue(bytes, tag, queue);
    bytes.extend_from_slice(&id.as_u128().to_le_bytes());
}

fn put_maybe(bytes: &mut Vec<u8>, value: Option<&[u8]>) {
    bytes.push(u8::from(value.is_some()));
    if let Some(value) = value {
        put_bytes(bytes, value);
    }
}

fn read_maybe<'a>(reader: &mut Reader<'a>) -> Result<Option<&'a [u8]>, String> {
    match reader.byte()? {
        0 => Ok(None),
        _ => reader.bytes().map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headcount_core::jobs::State;

    #[track_caller]
    fn check(effect: &Effect) {
        let mut bytes = Vec::new();
        effect.write(&mut bytes);
        let mut reader = Reader::new(&bytes);
        assert_eq!(Effect::read(&mut reader).as_ref(), Ok(effect));
        assert!(reader.is_empty());
        let cut = &bytes[..bytes.len() - 1];
        assert!(Effect::read(&mut Reader::new(cut)).is_err(), "{effect:?} without its end");
    }

    #[test]
    fn what_was_written_is_read() {
        let job = (3, JobId::new(5, 7));
        let row = Row::new(State::Blocked, 1, 2, 3);
        let bytes: Arc<[u8]> = Arc::from(&b"abc"[..]);
        check(&Effect::New { job, row, spec: bytes.clone() });
        check(&Effect::Changed { job, row });
        check(&Effect::Extra { job, extra: Extra::Error, bytes: Some(bytes.clone()) });
        check(&Effect::Extra { job, extra: Extra::Result, bytes: None });
        check(&Effect::Forgotten { job });
        let claim = Claim { id: job.1, span: ClaimSpan::Above(8) };
        check(&Effect::Unique { queue: 3, key: "key".into(), claim: Some(claim) });
        check(&Effect::Unique { queue: 3, key: "key".into(), claim: None });
        check(&Effect::Queue { queue: 3, name: "name".into() });
        check(&Effect::Rules { queue: 3, json: bytes });
        check(&Effect::Held { job, holder: Holder::new(9), epoch: 4 });
        let totals = Totals { submitted: 1, existing: 2, repaired: 12, ..Totals::default() };
        let numbers = Numbers { paused: true, totals, epoch: 1, taken: 2, theoretical: 3 };
        check(&Effect::Numbers { queue: 3, numbers });
    }

    #[test]
    fn what_a_newer_version_writes_is_told() {
        let mut reader = Reader::new(&[99; 40]);
        let error = Effect::read(&mut reader).expect_err("no such kind");
        assert!(error.contains("kind 99"), "{error}");
    }
}
