//! What is written down of a job beside its spec, in bytes.
//!
//! Numbers are little-endian and stand at fixed places. A row may grow at its end: an old reader
//! takes what it knows, a new one fills in zeros.

use headcount_core::Timestamp;
use headcount_core::jobs::{JobId, JobRecord, JobSpec, Label, State};

/// What happened to a job so far. Times are milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) state: State,
    pub(crate) cancelling: bool,
    pub(crate) progress: Option<u8>,
    /// Which of [`Extra`] are stored, a bit for each.
    pub(crate) extras: u8,
    pub(crate) attempts: u32,
    pub(crate) crashes: u32,
    pub(crate) preemptions: u32,
    pub(crate) submitted_at: u64,
    pub(crate) due_at: u64,
    pub(crate) started_at: Option<u64>,
    pub(crate) ended_at: Option<u64>,
    /// Where it stands among those of its lane.
    pub(crate) place: i64,
    /// The newest epoch of which everything is written here: a lease of a later epoch was not
    /// ended by anybody.
    pub(crate) epoch: u64,
}

/// What is stored of some jobs only, and read only when somebody asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Extra {
    Checkpoint,
    Result,
    Error,
}

impl Extra {
    pub(crate) const ALL: [Self; 3] = [Self::Checkpoint, Self::Result, Self::Error];

    pub(crate) const fn bit(self) -> u8 {
        1 << self as u8
    }

    pub(crate) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|extra| *extra as u8 == number)
    }
}

/// How many bytes a row takes.
pub(crate) const ROW_LEN: usize = 72;

/// A time of none.
const NEVER: u64 = u64::MAX;
/// A progress of none.
const UNTOLD: u8 = u8::MAX;

impl Row {
    /// A job that was just taken in.
    pub(crate) fn new(state: State, now: u64, due_at: u64, epoch: u64) -> Self {
        Self {
            state,
            cancelling: false,
            progress: None,
            extras: 0,
            attempts: 0,
            crashes: 0,
            preemptions: 0,
            submitted_at: now,
            due_at,
            started_at: None,
            ended_at: None,
            place: 0,
            epoch,
        }
    }

    pub(crate) const fn has(&self, extra: Extra) -> bool {
        self.extras & extra.bit() != 0
    }

    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(self.state as u8);
        bytes.push(u8::from(self.cancelling));
        bytes.push(self.progress.unwrap_or(UNTOLD));
        bytes.push(self.extras);
        for number in [self.attempts, self.crashes, self.preemptions] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        let started = self.started_at.unwrap_or(NEVER);
        let ended = self.ended_at.unwrap_or(NEVER);
        for number in [self.submitted_at, self.due_at, started, ended, self.epoch] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&self.place.to_le_bytes());
        bytes.extend_from_slice(&[0; 8]);
    }

    pub(crate) fn read(bytes: &[u8]) -> Result<Self, String> {
        let mut reader = Reader::new(bytes.get(..ROW_LEN).ok_or("a job's row is too short")?);
        let state = usize::from(reader.byte()?);
        let state = *State::ALL.get(state).ok_or("a job's row has a state that is not known")?;
        let time = |millis: u64| (millis != NEVER).then_some(millis);
        Ok(Self {
            state,
            cancelling: reader.byte()? != 0,
            progress: Some(reader.byte()?).filter(|progress| *progress != UNTOLD),
            extras: reader.byte()?,
            attempts: reader.u32()?,
            crashes: reader.u32()?,
            preemptions: reader.u32()?,
            submitted_at: reader.u64()?,
            due_at: reader.u64()?,
            started_at: time(reader.u64()?),
            ended_at: time(reader.u64()?),
            epoch: reader.u64()?,
            place: reader.u64()?.cast_signed(),
        })
    }

    /// The record as others know it, without what is stored apart.
    pub(crate) fn record(&self, id: JobId, queue: Label, spec: JobSpec) -> JobRecord {
        JobRecord {
            state: self.state,
            due_at: Timestamp::from_millis(self.due_at),
            started_at: self.started_at.map(Timestamp::from_millis),
            ended_at: self.ended_at.map(Timestamp::from_millis),
            attempts: self.attempts,
            crashes: self.crashes,
            preemptions: self.preemptions,
            cancelling: self.cancelling,
            progress: self.progress,
            ..JobRecord::new(id, queue, spec, Timestamp::from_millis(self.submitted_at))
        }
    }
}

/// Takes numbers from the front of bytes, and says so when there are none left.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    left: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { left: bytes }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8], String> {
        let (taken, left) = self.left.split_at_checked(len).ok_or("a record ends too early")?;
        self.left = left;
        Ok(taken)
    }

    /// Bytes behind their length.
    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], String> {
        let len = self.u32()?;
        self.take(len as usize)
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, String> {
        std::str::from_utf8(self.bytes()?).map_err(|_| "a text is no text".to_owned())
    }

    pub(crate) fn byte(&mut self) -> Result<u8, String> {
        Ok(self.take(1)?[0])
    }

    pub(crate) fn u32(&mut self) -> Result<u32, String> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, String> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub(crate) fn u128(&mut self) -> Result<u128, String> {
        Ok(u128::from_le_bytes(self.array()?))
    }

    fn array<const LEN: usize>(&mut self) -> Result<[u8; LEN], String> {
        let taken = self.take(LEN)?;
        Ok(taken.try_into().expect("as many bytes were taken as the number has"))
    }
}

/// Writes bytes behind their length.
pub(crate) fn put_bytes(bytes: &mut Vec<u8>, value: &[u8]) {
    let len = u32::try_from(value.len()).expect("no value has four gigabytes");
    bytes.extend_from_slice(&len.to_le_bytes());
    bytes.extend_from_slice(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn everything() -> Row {
        Row {
            cancelling: true,
            progress: Some(40),
            extras: 5,
            attempts: 1,
            crashes: 2,
            preemptions: 3,
            started_at: Some(7),
            place: -4,
            ..Row::new(State::Retrying, 5, 6, 9)
        }
    }

    #[test]
    fn what_was_written_is_read() {
        let mut bytes = Vec::new();
        everything().write(&mut bytes);
        assert_eq!(bytes.len(), ROW_LEN);
        assert_eq!(Row::read(&bytes), Ok(everything()));
        // A newer version may have more to say.
        bytes.push(1);
        assert_eq!(Row::read(&bytes), Ok(everything()));
    }

    #[test]
    fn what_is_no_row_is_told() {
        assert!(Row::read(&[0; ROW_LEN - 1]).is_err());
        assert!(Row::read(&[99; ROW_LEN]).is_err());
    }
}
