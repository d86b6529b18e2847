//! The model as it is called: all queues of a store.

use std::collections::BTreeMap;

use headcount_core::Timestamp;
use headcount_core::jobs::port::{
    Command, ExtendAsk, Extended, LeaseAsk, Leased, Listing, NewJob, Page, Settled, Settlement,
    StoreError, Submitted, Swept,
};
use headcount_core::jobs::{Holder, Label, QueueStats, Rules};

use super::queue::{Queue, whole};

/// All queues of a store, as a value. Each call is told the time; whole milliseconds of it count.
///
/// ```
/// use headcount_core::Timestamp;
/// use headcount_queue::jobs::port::{LeaseAsk, NewJob, Submitted};
/// use headcount_queue::jobs::{Holder, JobId, JobSpec, State};
/// use headcount_queue::model::Model;
/// use std::time::Duration;
///
/// let (mut model, queue) = (Model::default(), "default".parse()?);
/// let now = Timestamp::from_secs(1);
/// let id = JobId::new(0, 1);
/// let job = NewJob { id, spec: JobSpec::new("thumbnail".parse()?, b"{}".to_vec()) };
/// assert_eq!(model.enqueue(&queue, vec![job], now)?, [Submitted::New(id)]);
///
/// let ttl = Duration::from_secs(8);
/// let leased = model.lease(&queue, LeaseAsk { holder: Holder::new(7), ttl, jobs_max: 10 }, now);
/// assert_eq!(leased.jobs[0].id, id);
/// assert_eq!(model.stats(&queue, now).jobs[State::Running], 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Model {
    queues: BTreeMap<Label, Queue>,
}

impl Model {
    /// Takes jobs in.
    ///
    /// # Errors
    ///
    /// [`StoreError::Full`] when they would be more than the rules allow; nothing has changed.
    pub fn enqueue(
        &mut self,
        queue: &Label,
        jobs: Vec<NewJob>,
        now: Timestamp,
    ) -> Result<Vec<Submitted>, StoreError> {
        match jobs.is_empty() {
            true => Ok(Vec::new()),
            false => self.begin(queue).enqueue(jobs, whole(now)),
        }
    }

    /// Hands out jobs, and begins or renews the holder's lease.
    pub fn lease(&mut self, queue: &Label, ask: LeaseAsk, now: Timestamp) -> Leased {
        self.begin(queue).lease(ask, whole(now))
    }

    /// Renews the holder's lease and notes how its jobs are doing.
    pub fn extend(&mut self, queue: &Label, ask: ExtendAsk, now: Timestamp) -> Extended {
        let now = whole(now);
        self.queues.get_mut(queue).map(|queue| queue.extend(ask, now)).unwrap_or_default()
    }

    /// Says how jobs ended.
    pub fn settle(
        &mut self,
        queue: &Label,
        holder: Holder,
        settlements: Vec<Settlement>,
        now: Timestamp,
    ) -> Vec<Settled> {
        match self.queues.get_mut(queue) {
            Some(queue) => queue.settle(holder, settlements, whole(now)),
            None => vec![Settled::Stale; settlements.len()],
        }
    }

    /// Puts right what time and lost holders have changed.
    pub fn sweep(&mut self, queue: &Label, limit: usize, now: Timestamp) -> Swept {
        let now = whole(now);
        self.queues.get_mut(queue).map(|queue| queue.sweep(limit, now)).unwrap_or_default()
    }

    /// The queue in numbers.
    #[must_use]
    pub fn stats(&self, queue: &Label, now: Timestamp) -> QueueStats {
        let now = whole(now);
        match self.queues.get(queue) {
            Some(queue) => queue.stats(now),
            None => QueueStats { now, ..QueueStats::default() },
        }
    }

    /// Some of its jobs.
    ///
    /// # Errors
    ///
    /// [`StoreError::Refused`] when the cursor is none of this model.
    pub fn list(&self, queue: &Label, listing: Listing) -> Result<Page, StoreError> {
        self.queues.get(queue).map_or_else(|| Ok(Page::default()), |queue| queue.list(listing))
    }

    /// What an operator wants. Answers how many jobs it concerned.
    ///
    /// # Errors
    ///
    /// [`StoreError::Refused`] when a queue cannot live by the rules.
    pub fn steer(
        &mut self,
        queue: &Label,
        command: Command,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let of_queue = matches!(command, Command::Pause | Command::Resume | Command::Rules(_));
        if let Command::Rules(rules) = &command {
            rules.check().map_err(|error| StoreError::Refused(error.to_string()))?;
        }
        match of_queue || self.queues.contains_key(queue) {
            true => Ok(self.begin(queue).steer(command, whole(now))),
            false => Ok(0),
        }
    }

    /// The rules of a queue.
    #[must_use]
    pub fn rules(&self, queue: &Label) -> Rules {
        self.queues.get(queue).map(|queue| queue.rules.clone()).unwrap_or_default()
    }

    /// All queues that were ever written to, by name.
    #[must_use]
    pub fn queues(&self) -> Vec<Label> {
        self.queues.keys().cloned().collect()
    }

    /// Whether a lease at this time may find something.
    #[must_use]
    pub fn has_work(&self, queue: &Label, now: Timestamp) -> bool {
        self.queues.get(queue).is_some_and(|queue| queue.has_work(whole(now)))
    }

    /// When the next job that waits for its time is due.
    #[must_use]
    pub fn next_due_at(&self, queue: &Label) -> Option<Timestamp> {
        self.stats(queue, Timestamp::ORIGIN).next_due_at
    }

    /// Whether every job stands in exactly one place, and every line holds only those that
    /// belong there.
    ///
    /// # Errors
    ///
    /// What is wrong, which is a defect of the model.
    pub fn sound(&self) -> Result<(), String> {
        self.queues.values().try_for_each(Queue::sound)
    }

    /// The queue, which begins with the first call that writes to it.
    fn begin(&mut self, queue: &Label) -> &mut Queue {
        self.queues.entry(queue.clone()).or_insert_with(|| Queue::new(queue.clone()))
    }
}
