//! What is in the journal and not in the database yet.
//!
//! Reading asks here first. A job that came and went between two checkpoints never reaches the
//! database at all.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::effect::{Claim, Effect, JobKey, Numbers};
use super::row::{Extra, Row};

/// Changes since a checkpoint.
#[derive(Debug, Default)]
pub(crate) struct Overlay {
    pub(crate) jobs: HashMap<JobKey, Delta>,
    pub(crate) uniques: BTreeMap<(u32, Arc<str>), Option<Claim>>,
    pub(crate) queues: BTreeMap<u32, QueueDelta>,
    /// Whether the database may have some of it already, so that nothing is left to chance.
    again: bool,
}

/// What changed of a job.
#[derive(Debug, Default)]
pub(crate) struct Delta {
    /// Whether what lies below is no more.
    pub(crate) wiped: bool,
    pub(crate) new: Option<(Row, Arc<[u8]>)>,
    pub(crate) row: Option<Row>,
    pub(crate) extras: Vec<(Extra, Option<Arc<[u8]>>)>,
}

/// What changed of a queue.
#[derive(Debug, Default)]
pub(crate) struct QueueDelta {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) rules: Option<Arc<[u8]>>,
    pub(crate) numbers: Option<Numbers>,
}

/// What an overlay knows of something.
#[derive(Debug)]
pub(crate) enum Known {
    /// It is this.
    Here(Arc<[u8]>),
    /// It is no more.
    Gone,
    /// What lies below knows.
    Below,
}

impl Overlay {
    /// For changes that are read again after a crash: the database may have those of a segment
    /// and not yet those of the next, so what came in one and went in the other must be wiped.
    pub(crate) fn again() -> Self {
        Self { again: true, ..Self::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.jobs.is_empty() && self.uniques.is_empty() && self.queues.is_empty()
    }

    /// Something changed.
    pub(crate) fn fold(&mut self, effect: Effect) {
        match effect {
            Effect::New { job, row, spec } => {
                let delta = self.jobs.entry(job).or_default();
                let wiped = delta.wiped || self.again;
                *delta = Delta { wiped, new: Some((row, spec)), ..Delta::default() };
            }
            Effect::Changed { job, row } => {
                let delta = self.jobs.entry(job).or_default();
                match &mut delta.new {
                    Some((new, _)) => *new = row,
                    None => delta.row = Some(row),
                }
            }
            Effect::Extra { job, extra, bytes } => {
                let extras = &mut self.jobs.entry(job).or_default().extras;
                extras.retain(|(other, _)| *other != extra);
                extras.push((extra, bytes));
            }
            Effect::Forgotten { job } => self.forget(job),
            Effect::Unique { queue, key, claim } => _ = self.uniques.insert((queue, key), claim),
            Effect::Queue { queue, name } => self.queue(queue).name = Some(name),
            Effect::Rules { queue, json } => self.queue(queue).rules = Some(json),
            Effect::Numbers { queue, numbers } => self.queue(queue).numbers = Some(numbers),
            Effect::Held { .. } => {}
        }
    }

    fn queue(&mut self, number: u32) -> &mut QueueDelta {
        self.queues.entry(number).or_default()
    }

    fn forget(&mut self, job: JobKey) {
        let delta = self.jobs.entry(job).or_default();
        if delta.new.is_some() && !delta.wiped {
            self.jobs.remove(&job);
        } else {
            *delta = Delta { wiped: true, ..Delta::default() };
        }
    }

    pub(crate) fn spec(&self, job: JobKey) -> Known {
        let Some(delta) = self.jobs.get(&job) else { return Known::Below };
        match &delta.new {
            Some((_, spec)) => Known::Here(spec.clone()),
            None if delta.wiped => Known::Gone,
            None => Known::Below,
        }
    }

    pub(crate) fn extra(&self, job: JobKey, extra: Extra) -> Known {
        let Some(delta) = self.jobs.get(&job) else { return Known::Below };
        match delta.extras.iter().find(|(other, _)| *other == extra) {
            Some((_, Some(bytes))) => Known::Here(bytes.clone()),
            Some((_, None)) => Known::Gone,
            None if delta.wiped || delta.new.is_some() => Known::Gone,
            None => Known::Below,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headcount_core::jobs::{JobId, State};

    fn job() -> JobKey {
        (1, JobId::new(1, 1))
    }

    fn new(payload: &[u8]) -> Effect {
        Effect::New { job: job(), row: Row::new(State::Ready, 1, 1, 0), spec: payload.into() }
    }

    fn told(overlay: &Overlay) -> String {
        let Some(delta) = overlay.jobs.get(&job()) else { return "nothing".to_owned() };
        let mut words = Vec::new();
        if delta.wiped {
            words.push("wiped".to_owned());
        }
        if let Some((row, spec)) = &delta.new {
            words.push(format!("new {} {}", row.state, spec.escape_ascii()));
        }
        if let Some(row) = &delta.row {
            words.push(format!("row {}", row.state));
        }
        words.extend(delta.extras.iter().map(|(extra, _)| format!("{extra:?}")));
        words.join(", ")
    }

    #[track_caller]
    fn check(effects: Vec<Effect>, expected: &str) {
        let mut overlay = Overlay::default();
        for effect in effects {
            overlay.fold(effect);
        }
        assert_eq!(told(&overlay), expected);
    }

    #[test]
    fn what_came_and_went_leaves_nothing() {
        let gone = || Effect::Forgotten { job: job() };
        let dead = || Effect::Changed { job: job(), row: Row::new(State::Dead, 1, 1, 0) };
        let extra = || Effect::Extra { job: job(), extra: Extra::Error, bytes: None };
        check(vec![new(b"a"), dead(), extra(), gone()], "nothing");
        check(vec![new(b"a"), dead()], "new dead a");
        check(vec![dead(), extra()], "row dead, Error");
        check(vec![dead(), gone()], "wiped");
        check(vec![gone(), new(b"b"), dead()], "wiped, new dead b");
        check(vec![gone(), new(b"b"), gone()], "wiped");
    }

    #[test]
    fn what_is_read_again_wipes_what_may_be_below() {
        let mut overlay = Overlay::again();
        overlay.fold(new(b"a"));
        assert_eq!(told(&overlay), "wiped, new ready a");
        overlay.fold(Effect::Forgotten { job: job() });
        assert_eq!(told(&overlay), "wiped");
    }
}
