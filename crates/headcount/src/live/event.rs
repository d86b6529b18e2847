//! What a scaler tells of itself.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use headcount_core::{Decision, Direction, Mode, Reason};

use crate::sync::lock;

/// Something that happened to a scaler.
///
/// ```
/// use headcount::{Scaler, ScalerEvent, Preset, ThreadPool};
///
/// let pool = ThreadPool::builder().workers(1..=8).build()?;
/// let scaler = Scaler::of(pool.handle()).policy(Preset::gopipe()).start()?;
/// let events = scaler.events()?;
/// scaler.scale_to(1);
/// scaler.scale_to(3);
/// assert_eq!(events.recv()?.to_string(), "grow 1 to 3: wants 3 (manual) -> bounds 3");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ScalerEvent {
    /// The staffing was changed.
    Scaled(Box<Decision>),
    /// The policy was replaced.
    PolicyChanged,
    /// The mode was changed.
    ModeChanged(Mode),
    /// A size was asked for by hand, or is not any more.
    Held(Option<u32>, Option<Duration>),
    /// A tick panicked; the loop goes on.
    Panicked(String),
    /// What it scales has been closed and is empty.
    Ended,
}

impl fmt::Display for ScalerEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scaled(decision) => write!(f, "{}", decision.explain()),
            Self::PolicyChanged => f.write_str("the policy was replaced"),
            Self::ModeChanged(mode) => write!(f, "the mode is {mode} now"),
            Self::Held(Some(workers), Some(span)) => {
                write!(f, "held at {workers} by hand, for {span:?}")
            }
            Self::Held(Some(workers), None) => write!(f, "held at {workers} by hand"),
            Self::Held(None, _) => f.write_str("not held by hand any more"),
            Self::Panicked(message) => write!(f, "a tick panicked and was skipped: {message}"),
            Self::Ended => f.write_str("what it scales has been closed and is empty"),
        }
    }
}

/// A change of staffing, as those who asked to be called hear of it.
///
/// ```
/// use headcount::{Preset, Scaled, Scaler, ThreadPool};
/// use std::sync::mpsc;
///
/// let pool = ThreadPool::builder().workers(1..=8).build()?;
/// let (told, heard) = mpsc::channel();
/// let told = move |scaled: &Scaled| drop(told.send((scaled.from, scaled.to)));
/// let scaler = Scaler::of(pool.handle()).policy(Preset::gopipe()).on_scaled(told).start()?;
/// scaler.scale_to(5);
/// assert_eq!(heard.recv()?, (1, 5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Scaled {
    /// Which way.
    pub direction: Direction,
    /// Why.
    pub reason: Reason,
    /// The most workers before.
    pub from: u32,
    /// The most workers from now on.
    pub to: u32,
    /// All of that in one line.
    pub why: String,
}

impl Scaled {
    fn of(decision: &Decision) -> Self {
        let (from, to) = (decision.from.ceiling, decision.to.ceiling);
        let why = decision.explain().to_string();
        Self { direction: decision.direction(), reason: decision.reason(), from, to, why }
    }
}

/// Nobody more is told of what happens to a scaler: as many as there is room for are already.
///
/// ```
/// use headcount::{Preset, Scaler, ThreadPool};
///
/// let pool = ThreadPool::builder().workers(1..=8).build()?;
/// let scaler = Scaler::of(pool.handle()).policy(Preset::gopipe()).start()?;
/// let streams = (0..64).map(|_| scaler.events()).collect::<Result<Vec<_>, _>>()?;
/// let full = scaler.events().expect_err("one too many");
/// let text = "64 hear of this scaler already, and there is room for no more; let one of them \
///             tell the others (a stream that was dropped makes room with the next event)";
/// assert_eq!(full.to_string(), text);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AudienceFull(());

impl fmt::Display for AudienceFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let max = Audience::HEARERS_MAX;
        write!(
            f,
            "{max} hear of this scaler already, and there is room for no more; let one of them \
             tell the others (a stream that was dropped makes room with the next event)"
        )
    }
}

impl std::error::Error for AudienceFull {}

pub(super) type Listener = Arc<dyn Fn(&Scaled) + Send + Sync>;

/// Who hears of what happens.
#[derive(Default)]
pub(super) struct Audience {
    listeners: Mutex<Vec<Listener>>,
    streams: Mutex<Vec<SyncSender<ScalerEvent>>>,
    latest: Mutex<VecDeque<ScalerEvent>>,
}

impl Audience {
    /// How many events wait for somebody who does not take them; later ones are not told to it.
    pub(super) const BEHIND_MAX: usize = 1024;
    /// How many may listen, and how many may have a stream.
    pub(super) const HEARERS_MAX: usize = 64;
    /// How many of the latest are kept.
    const KEPT_MAX: usize = 64;

    pub(super) fn listen(&self, listener: Listener) -> Result<(), AudienceFull> {
        let mut listeners = lock(&self.listeners);
        if Self::HEARERS_MAX <= listeners.len() {
            return Err(AudienceFull(()));
        }
        listeners.push(listener);
        Ok(())
    }

    pub(super) fn stream(&self) -> Result<Receiver<ScalerEvent>, AudienceFull> {
        let (told, heard) = sync_channel(Self::BEHIND_MAX);
        let mut streams = lock(&self.streams);
        if Self::HEARERS_MAX <= streams.len() {
            return Err(AudienceFull(()));
        }
        streams.push(told);
        Ok(heard)
    }

    pub(super) fn latest(&self) -> Vec<ScalerEvent> {
        lock(&self.latest).iter().cloned().collect()
    }

    /// Tells everybody. To be called without any lock of the scaler, since a listener may call it.
    pub(super) fn tell(&self, event: &ScalerEvent) {
        if let ScalerEvent::Scaled(decision) = event {
            let listeners = lock(&self.listeners).clone();
            let scaled = (!listeners.is_empty()).then(|| Scaled::of(decision));
            for (listener, scaled) in listeners.iter().zip(scaled.iter().cycle()) {
                // One that panics misses this change; nobody else does.
                drop(catch_unwind(AssertUnwindSafe(|| listener(scaled))));
            }
        }
        // A stream that nobody holds any more is forgotten; one that is full misses this event.
        lock(&self.streams).retain(|stream| {
            !matches!(stream.try_send(event.clone()), Err(TrySendError::Disconnected(_)))
        });
        let mut latest = lock(&self.latest);
        if latest.len() == Self::KEPT_MAX {
            latest.pop_front();
        }
        latest.push_back(event.clone());
    }
}

impl fmt::Debug for Audience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Audience").finish_non_exhaustive()
    }
}
