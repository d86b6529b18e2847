//! Where a case plays: one queue of a fresh store, and short words for what is done to it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::future::Future;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use headcount_core::jobs::port::{
    Backend, Command, Ending, ExtendAsk, Extended, LeaseAsk, Leased, Listing, NewJob, Note, Page,
    Settled, Settlement, StoreError, Submitted, Swept,
};
use headcount_core::jobs::{Holder, JobId, JobRecord, JobSpec, Label, QueueStats, Rules, State};

use super::Subject;

/// The lease of all cases.
pub(super) const TTL: Duration = Duration::from_secs(8);
/// Longer than any answer takes, so that a case ends red instead of not at all.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// One queue of a fresh store. Jobs and holders go by numbers.
pub(super) struct Stage<'a> {
    subject: &'a dyn Subject,
    pub(super) queue: Label,
    /// Under which fence each job was handed out last.
    fences: Mutex<BTreeMap<JobId, (Holder, u64)>>,
}

pub(super) fn id(number: u128) -> JobId {
    JobId::from_u128(number)
}

/// A job with this number and nothing special.
pub(super) fn plain(number: u128) -> NewJob {
    special(number, |_| {})
}

/// A job with this number, changed a little.
pub(super) fn special(number: u128, change: impl FnOnce(&mut JobSpec)) -> NewJob {
    let kind = "kind".parse().expect("a fine name");
    let mut spec = JobSpec::new(kind, number.to_string().into_bytes());
    change(&mut spec);
    NewJob { id: id(number), spec }
}

pub(super) fn done() -> Ending {
    Ending::Done { result: None }
}

pub(super) fn release() -> Ending {
    Ending::Release { checkpoint: None }
}

pub(super) fn retry(after: Duration) -> Ending {
    Ending::Retry { after, error: "no luck".to_owned() }
}

pub(super) fn dead() -> Ending {
    Ending::Dead { error: "no use".to_owned() }
}

pub(super) fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

pub(super) fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The numbers of jobs, in their order.
pub(super) fn numbers(ids: impl IntoIterator<Item = JobId>) -> String {
    let ids: Vec<String> = ids.into_iter().map(|id| id.as_u128().to_string()).collect();
    ids.join(" ")
}

impl<'a> Stage<'a> {
    pub(super) fn new(subject: &'a dyn Subject) -> Self {
        let queue = "conformance".parse().expect("a fine name");
        Self { subject, queue, fences: Mutex::default() }
    }

    pub(super) fn store(&self) -> &'a dyn Backend {
        self.subject.store()
    }

    pub(super) fn advance(&self, span: Duration) {
        self.subject.advance(span);
    }

    pub(super) async fn try_enqueue(
        &self,
        jobs: Vec<NewJob>,
    ) -> Result<Vec<Submitted>, StoreError> {
        within(self.store().enqueue(&self.queue, jobs)).await
    }

    pub(super) async fn enqueue(&self, jobs: Vec<NewJob>) -> Vec<Submitted> {
        self.try_enqueue(jobs).await.expect("the store takes jobs")
    }

    /// Plain jobs with these numbers, in one call.
    pub(super) async fn add(&self, numbers: impl IntoIterator<Item = u128>) {
        self.enqueue(numbers.into_iter().map(plain).collect()).await;
    }

    pub(super) async fn lease_for(&self, holder: u128, jobs_max: usize, ttl: Duration) -> Leased {
        let ask = LeaseAsk { holder: Holder::new(holder), ttl, jobs_max };
        let leased = within(self.store().lease(&self.queue, ask)).await.expect("it hands out");
        self.handed_out(ask.holder, &leased);
        leased
    }

    fn handed_out(&self, holder: Holder, leased: &Leased) {
        let mut fences = self.fences.lock().unwrap_or_else(PoisonError::into_inner);
        let fence = (holder, leased.epoch);
        fences.extend(leased.jobs.iter().map(|job| (job.id, fence)));
    }

    pub(super) async fn lease(&self, holder: u128, jobs_max: usize) -> Leased {
        self.lease_for(holder, jobs_max, TTL).await
    }

    /// Leases, and tells the numbers of what was handed out.
    pub(super) async fn take(&self, holder: u128, jobs_max: usize) -> String {
        numbers(self.lease(holder, jobs_max).await.jobs.into_iter().map(|job| job.id))
    }

    /// The fence under which the job was handed out last.
    pub(super) fn fence(&self, number: u128) -> (Holder, u64) {
        let fences = self.fences.lock().unwrap_or_else(PoisonError::into_inner);
        *fences.get(&id(number)).expect("the case leased it before")
    }

    pub(super) async fn settle_as(
        &self,
        (holder, epoch): (Holder, u64),
        number: u128,
        ending: Ending,
    ) -> Settled {
        let settlement = Settlement { id: id(number), epoch, ending };
        let settled = within(self.store().settle(&self.queue, holder, vec![settlement])).await;
        let settled = settled.expect("it takes settlements");
        assert_eq!(settled.len(), 1, "one answer for one settlement");
        settled[0]
    }

    pub(super) async fn settle(&self, number: u128, ending: Ending) -> Settled {
        self.settle_as(self.fence(number), number, ending).await
    }

    /// The same ending for several jobs of one holder, in one call.
    pub(super) async fn settle_all(&self, numbers: &[u128], ending: &Ending) -> Vec<Settled> {
        let holder = self.fence(numbers[0]).0;
        let settlements = self.settlements(numbers, ending);
        within(self.store().settle(&self.queue, holder, settlements))
            .await
            .expect("it takes settlements")
    }

    fn settlements(&self, numbers: &[u128], ending: &Ending) -> Vec<Settlement> {
        let settlement = |number: &u128| Settlement {
            id: id(*number),
            epoch: self.fence(*number).1,
            ending: ending.clone(),
        };
        numbers.iter().map(settlement).collect()
    }

    /// The same ending for several jobs of one holder, which asks for others in the same call.
    /// Tells the numbers of what was handed out.
    pub(super) async fn turn(
        &self,
        numbers: &[u128],
        ending: Ending,
        jobs_max: usize,
    ) -> (Vec<Settled>, String) {
        let holder = self.fence(numbers[0]).0;
        let ask = LeaseAsk { holder, ttl: TTL, jobs_max };
        let turned = self.store().turn(&self.queue, self.settlements(numbers, &ending), ask);
        let turned = within(turned).await.expect("it takes and hands out");
        self.handed_out(holder, &turned.leased);
        (turned.settled, self::numbers(turned.leased.jobs.into_iter().map(|job| job.id)))
    }

    pub(super) async fn extend_for(
        &self,
        holder: u128,
        ttl: Duration,
        notes: Vec<Note>,
    ) -> Extended {
        let ask = ExtendAsk { holder: Holder::new(holder), ttl, notes };
        within(self.store().extend(&self.queue, ask)).await.expect("it renews")
    }

    pub(super) async fn extend(&self, holder: u128) -> Extended {
        self.extend_for(holder, TTL, Vec::new()).await
    }

    pub(super) async fn sweep(&self) -> Swept {
        self.sweep_at_most(1000).await
    }

    pub(super) async fn sweep_at_most(&self, limit: usize) -> Swept {
        within(self.store().sweep(&self.queue, limit)).await.expect("it sweeps")
    }

    /// The lease of all holders runs out, and somebody notices.
    pub(super) async fn lose_all(&self) -> Swept {
        self.advance(TTL);
        self.sweep().await
    }

    pub(super) async fn stats(&self) -> QueueStats {
        within(self.store().stats(&self.queue)).await.expect("it counts")
    }

    /// How many jobs are in each state that has any: `ready 2, done 1`.
    pub(super) async fn counts(&self) -> String {
        let mut text = String::new();
        for (state, count) in self.stats().await.jobs.iter().filter(|(_, count)| 0 < *count) {
            let comma = if text.is_empty() { "" } else { ", " };
            write!(text, "{comma}{state} {count}").expect("a text takes it");
        }
        text
    }

    pub(super) async fn page(&self, listing: Listing) -> Page {
        within(self.store().list(&self.queue, listing)).await.expect("it lists")
    }

    /// The numbers of all jobs in a state, in the order of their listing.
    pub(super) async fn listed(&self, state: State) -> String {
        numbers(self.page(Listing::first(state, 1000)).await.jobs.into_iter().map(|job| job.id))
    }

    pub(super) async fn find(&self, number: u128) -> Option<JobRecord> {
        self.page(Listing::Ids(vec![id(number)])).await.jobs.pop()
    }

    pub(super) async fn record(&self, number: u128) -> JobRecord {
        self.find(number).await.expect("the store knows the job")
    }

    pub(super) async fn state(&self, number: u128) -> State {
        self.record(number).await.state
    }

    pub(super) async fn steer(&self, command: Command) -> u64 {
        within(self.store().steer(&self.queue, command)).await.expect("it can be steered")
    }

    pub(super) async fn rule(&self, change: impl FnOnce(&mut Rules)) {
        let mut rules = within(self.store().rules(&self.queue)).await.expect("it has rules");
        change(&mut rules);
        self.steer(Command::Rules(Box::new(rules))).await;
    }
}

/// What a call answers, as long as it answers.
pub(super) async fn within<T>(call: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, call).await.expect("every call ends in time")
}
