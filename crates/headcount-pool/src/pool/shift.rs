//! One worker from its first task to its last, as far as both kinds have it in common: what it
//! takes, and what it writes down of it.

use headcount_core::Timestamp;
use headcount_core::roster::WorkerId;
use std::sync::Arc;

use crate::engine::{
    Badge, Counter, Engine, Entry, Fate, Kind, Measured, Pace, Patience, QUICK, REPORT, Signal,
    Stamp, Standing, TINY,
};
use crate::sync::atomic::Ordering;

/// The books of one worker.
pub(crate) struct Shift<'a, K: Kind> {
    pub(crate) engine: &'a Arc<Engine<K>>,
    pub(crate) worker: WorkerId,
    pub(crate) badge: &'a Arc<Badge<K>>,
    pub(crate) counter: Counter<'a>,
    pub(crate) pace: Pace,
    pub(crate) patience: Patience,
    /// When the present task began, or the group it is in. `None`: it has none.
    began: Option<Timestamp>,
    /// Tasks that ran to their end and have not been counted.
    ran: u64,
    /// How often it ran nothing since that was last left out of what is measured.
    skipped: u32,
    /// Whether it was sent for a task and has not looked for one yet.
    en_route: bool,
}

/// After so many that were nothing to run a group of tasks is not measured as one any more.
const SKIPPED_MAX: u32 = 8;

/// What a worker finds when it looks for a task.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found {
    /// A task.
    Task,
    /// None.
    Nothing,
    /// It did not look, since it is asked to report.
    Notice,
}

impl<'a, K: Kind> Shift<'a, K> {
    pub(crate) fn new(
        engine: &'a Arc<Engine<K>>,
        worker: WorkerId,
        badge: &'a Arc<Badge<K>>,
    ) -> Self {
        let counter = engine.counter(worker.slot());
        Self {
            engine,
            worker,
            badge,
            counter,
            pace: Pace::default(),
            patience: Patience::default(),
            began: None,
            ran: 0,
            skipped: 0,
            en_route: false,
        }
    }

    /// It is ready for its first task: what is it to do?
    pub(crate) fn started(&mut self) -> Standing {
        let standing = self.engine.started(self.worker, self.badge);
        self.told(standing)
    }

    /// It found the line empty, or was asked to report: what is it to do?
    pub(crate) fn report(&mut self) -> Standing {
        let standing = self.engine.report(self.worker);
        self.told(standing)
    }

    fn told(&mut self, standing: Standing) -> Standing {
        self.en_route = standing == Standing::Take;
        standing
    }

    /// What it is to do by the signal that it was sent, if it was.
    pub(crate) fn receive(&mut self) -> Option<Standing> {
        match self.badge.receive()? {
            Signal::Take => {
                self.en_route = true;
                Some(Standing::Take)
            }
            Signal::Leave => Some(Standing::Leave),
        }
    }

    /// Looks for a task to take in `hand`, unless it is asked to report.
    pub(crate) fn look(&mut self, hand: &mut Option<Entry<K::Work>>) -> Found {
        let reports = self.engine.floor.notice.read() & REPORT != 0 || self.is_in_the_way();
        let reports = reports || self.badge.is_recalled();
        // Before it takes one: who sees one task less must see one less on the way as well.
        self.arrived();
        match reports {
            true => Found::Notice,
            false if self.engine.take(self.badge, hand) => Found::Task,
            false => Found::Nothing,
        }
    }

    /// Whether others run short tasks already, as many as there are cores.
    fn is_in_the_way(&self) -> bool {
        self.badge.is_short() && self.engine.is_crowded()
    }

    /// It looks for a task now: it is not on its way any more.
    fn arrived(&mut self) {
        if std::mem::take(&mut self.en_route) {
            self.engine.floor.en_route.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// When what it has just taken began: with the end of the last one, or now.
    pub(crate) fn begin(&mut self) -> Timestamp {
        match self.began {
            Some(began) => began,
            None => self.begins_at(self.engine.now()),
        }
    }

    /// The task with this stamp has waited until then. Not to be said of one that does not run.
    pub(crate) fn waited(&self, stamp: Stamp, began: Timestamp) {
        if let Some((submitted, times)) = stamp.read() {
            let waited = began.since(submitted);
            self.counter.waited(waited, times);
            self.engine.floor.oldest_waited(waited);
        }
    }

    fn begins_at(&mut self, now: Timestamp) -> Timestamp {
        self.patience.resumed(now);
        self.began = Some(now);
        self.badge.at_task(Some(now));
        now
    }

    /// Counts a task that ended so.
    pub(crate) fn ended(&mut self, fate: Fate) {
        match fate {
            Fate::Ran => self.ran += 1,
            other => {
                self.counter.ended(other);
                // In this order: who reads them the other way round counts it once at most.
                self.badge.settle(1);
            }
        }
    }

    /// It ran nothing: what it took had ended before, or ended so as it was looked at. Nobody
    /// waited and nothing ran that could be measured, and the next one begins after this.
    pub(crate) fn ran_nothing(&mut self, ended: Option<Fate>) {
        match ended {
            Some(fate) => self.ended(fate),
            None => self.badge.settle(1),
        }
        self.skipped += 1;
        // Those before it that are measured together end here, but not for each: to read the clock
        // takes longer than to see that there is nothing to run.
        if self.pace.unmeasured() == 0 || SKIPPED_MAX <= self.skipped {
            self.measure();
            self.began = None;
            self.skipped = 0;
        }
    }

    /// A task ended, and is measured if it is its turn.
    pub(crate) fn served(&mut self) {
        if self.pace.ended() {
            self.measure();
        }
    }

    /// Reads the clock and writes down what it says of the tasks since it was last read.
    pub(crate) fn measure(&mut self) {
        let Some(began) = self.began else { return };
        if self.pace.unmeasured() == 0 {
            return;
        }
        let now = self.engine.now();
        let Measured { tasks, span, outlier } = self.pace.measured(now.since(began));
        self.counter.served(span, tasks);
        if let Some(span) = outlier {
            self.counter.served(span, 1);
        }
        // Not the one that it may be at, which has not ended.
        let ran = std::mem::take(&mut self.ran);
        self.counter.ended_many(Fate::Ran, ran);
        self.badge.settle(ran);
        self.begins_at(now);
        self.tell_pace();
    }

    fn tell_pace(&self) {
        self.engine.floor.notice.set(QUICK, self.pace.is_quick());
        if let Some(lone) = self.pace.is_lone() {
            self.engine.floor.notice.set(TINY, lone);
        }
        if let Some(short) = self.pace.is_short()
            && self.set_short(short)
            && !short
        {
            self.call_others();
        }
    }

    /// Tasks that were not worth a wake-up may be now.
    fn call_others(&self) {
        self.engine.visit(0, |_, _, _| ());
    }

    /// Says whether its tasks are short, and whether that is new.
    fn set_short(&self, short: bool) -> bool {
        let changed = self.badge.set_short(short);
        if changed {
            match short {
                true => self.engine.floor.short.fetch_add(1, Ordering::Relaxed),
                false => self.engine.floor.short.fetch_sub(1, Ordering::Relaxed),
            };
        }
        changed
    }

    /// It has no task just now, and may have one in a moment.
    pub(crate) fn pause(&mut self) {
        self.measure();
        self.began = None;
        self.badge.at_task(None);
    }

    /// It has no task any more.
    pub(crate) fn rest(&mut self) {
        self.pause();
        self.set_short(false);
        self.no_longer_quick();
    }

    /// What it said of its tasks holds no longer, unless others say the same of theirs.
    fn no_longer_quick(&self) {
        if self.engine.floor.attentive() == 0 {
            self.engine.floor.notice.lower(QUICK | TINY);
        }
    }

    /// Its task does not end yet, but waits for something: those behind it need others.
    ///
    /// Those before it are measured without it. Where they were measured as a group, nobody knows
    /// when this one began, and it is measured from here.
    #[cfg(feature = "tokio")]
    pub(crate) fn awaits(&mut self) {
        self.measure();
        self.engine.floor.notice.lower(QUICK | TINY);
        if self.set_short(false) {
            self.call_others();
        }
    }
}
