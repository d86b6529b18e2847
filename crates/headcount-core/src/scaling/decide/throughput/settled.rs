//! What is tried once the ramp has ended, and when.

use std::time::Duration;

use super::generation::Measure;
use crate::Timestamp;
use crate::scaling::notes::{Noted, Notes, NotesReader};

/// No limit grows beyond this.
pub(super) const LIMIT_MAX: f64 = 1e12;
/// How far a try goes at first, as a factor: a quarter more, a fifth fewer. Where neither helps it
/// goes half as far, down to the least.
const STRIDE: f64 = 1.25;
const STRIDE_MIN: f64 = 1.05;
/// A try that would leave fewer than this share is none.
const DOWN_LEAST: f64 = 0.6;
/// A try that found something is followed by one that goes further up, at most this far.
const STRIDE_MAX: f64 = 2.0;
const FURTHER: f64 = 1.2;
/// The pause after tries that found nothing: at first, and at most.
const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(60);
/// Failures that came with more workers make the next try up wait for so many times as long.
const REFUSED_TIMES: u32 = 8;
/// The share of failures, beyond those before, that says so.
pub(super) const REFUSED_MIN: f64 = 0.1;

/// Which way the next try goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Up,
    Down,
}

impl Way {
    fn other(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }
}

/// The limit that was found, and what is tried next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Settled {
    pub(super) limit: f64,
    /// The last measure at this limit.
    pub(super) base: Option<Measure>,
    /// What is being tried, where something is.
    pub(super) trying: Option<f64>,
    way: Way,
    stride: f64,
    next_try: Timestamp,
    /// None before anything was tried: the second try follows the first at once.
    pause: Duration,
}

impl Settled {
    pub(super) fn at(now: Timestamp, limit: f64) -> Self {
        let limit = limit.clamp(1.0, LIMIT_MAX);
        let (pause, next_try) = (Duration::ZERO, now);
        Self { limit, base: None, trying: None, way: Way::Up, stride: STRIDE, next_try, pause }
    }

    /// The same after a ramp that went too far: fewer are tried first.
    pub(super) fn beyond(now: Timestamp, limit: f64) -> Self {
        Self { way: Way::Down, ..Self::at(now, limit) }
    }

    /// The most workers that may be now.
    pub(super) fn cap(&self) -> f64 {
        self.trying.unwrap_or(self.limit)
    }

    /// How far a try goes, on the logarithm.
    pub(super) fn step(&self) -> f64 {
        self.stride.ln()
    }

    /// Takes in a measure at the limit, or at the ceiling in force where others hold it lower, and
    /// begins a try from there if it is time for one.
    pub(super) fn rested(&mut self, now: Timestamp, measure: Measure, ceiling: u32) {
        self.base = Some(measure);
        if now < self.next_try {
            return;
        }
        let from = self.limit.min(f64::from(ceiling));
        let next = match self.way {
            // What is allowed already is not in force: there is nothing to ask for.
            Way::Up if ceiling < whole(self.limit) => return self.untested(now),
            Way::Up => (self.limit * self.stride).max(self.limit + 1.0).min(LIMIT_MAX),
            Way::Down => (from / self.stride).min(from - 1.0),
        };
        // Of two workers one is no small step.
        match next < from * DOWN_LEAST {
            true => self.turn(now),
            false => self.trying = Some(next),
        }
    }

    /// As far as the ceiling in force followed what is being tried; nothing where it did not.
    pub(super) fn followed(&self, ceiling: u32) -> Option<f64> {
        let trying = self.trying?;
        match self.way {
            _ if ceiling == whole(trying) => Some(trying),
            // Part of the way up is a smaller try.
            Way::Up if whole(self.limit) < ceiling && ceiling < whole(trying) => {
                Some(f64::from(ceiling))
            }
            _ => None,
        }
    }

    /// Others held the ceiling where it was, so nothing was learnt, and asking again soon will not
    /// help: a longer pause.
    pub(super) fn untested(&mut self, now: Timestamp) {
        self.trying = None;
        let stride = self.stride.min(STRIDE);
        self.pause = longer(self.pause, 2);
        self.turn(now);
        self.stride = stride;
    }

    /// Takes in what a try measured that got as far as `limit`: by how much more got done, of what
    /// was asked for.
    pub(super) fn tried(&mut self, now: Timestamp, limit: f64, measure: &Measure, gain_min: f64) {
        let (Some(_), Some(base)) = (self.trying.take(), self.base) else { return };
        // Fewer workers may lose that little, more must gain that much.
        let is_better = gain_min * measure.step(&base) < measure.gain(&base);
        if is_better {
            (self.limit, self.base) = (limit, None);
            self.stride = match self.way {
                _ if self.stride < STRIDE => self.stride.powi(2).min(STRIDE),
                Way::Up => (self.stride * FURTHER).min(STRIDE_MAX),
                // Too few cost more than too many.
                Way::Down => STRIDE,
            };
            self.pause = PAUSE_MIN;
            self.next_try = now;
            return;
        }
        self.stride = self.stride.min(STRIDE);
        if self.way == Way::Up && base.error_rate + REFUSED_MIN < measure.error_rate {
            self.pause = longer(self.pause, REFUSED_TIMES);
        }
        self.turn(now);
    }

    /// Nothing was found this way: the other way next. After both a smaller step, and a longer
    /// pause.
    fn turn(&mut self, now: Timestamp) {
        self.next_try = now + self.pause;
        let is_first = self.pause.is_zero();
        let was = self.way;
        self.way = was.other();
        match was {
            _ if is_first => self.pause = PAUSE_MIN,
            Way::Up => {}
            Way::Down => {
                self.stride = self.stride.sqrt().max(STRIDE_MIN);
                self.pause = longer(self.pause, 2);
            }
        }
    }

    /// Failures rose without more workers: fewer, at once.
    pub(super) fn refused(&mut self, now: Timestamp, limit: f64) {
        let limit = limit.clamp(1.0, self.limit.max(1.0));
        let pause = longer(self.pause, REFUSED_TIMES);
        *self = Self { pause, next_try: now + pause, ..Self::at(now, limit) };
    }

    /// Nothing waits any more: what was being tried says nothing.
    pub(super) fn abandon(&mut self) {
        self.trying = None;
    }

    /// After a step back of the clock its spans begin anew.
    pub(super) fn begin_anew(&mut self, now: Timestamp) {
        self.next_try = now;
        self.trying = None;
    }
}

impl Noted for Settled {
    fn write(&self, notes: &mut Notes) {
        (self.limit, (self.base, self.trying)).write(notes);
        (self.way == Way::Up, self.stride).write(notes);
        (self.next_try, self.pause).write(notes);
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        let (limit, (base, trying)): (f64, (_, Option<f64>)) = Noted::read(notes)?;
        let (is_up, stride) = Noted::read(notes)?;
        let (next_try, pause) = Noted::read(notes)?;
        let way = if is_up { Way::Up } else { Way::Down };
        let is_limit = |limit: f64| (1.0..=LIMIT_MAX).contains(&limit);
        let is_sound = is_limit(limit) && trying.is_none_or(is_limit);
        let is_sound = is_sound && (STRIDE_MIN..=STRIDE_MAX).contains(&stride);
        Some(Self { limit, base, trying, way, stride, next_try, pause }).filter(|_| is_sound)
    }
}

/// A pause that is so many times as long.
fn longer(pause: Duration, times: u32) -> Duration {
    pause.max(PAUSE_MIN).saturating_mul(times).min(PAUSE_MAX)
}

/// So many workers in whole ones.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // `as` saturates.
pub(super) fn whole(workers: f64) -> u32 {
    workers.round() as u32
}
