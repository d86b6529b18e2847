//! A store with jobs in every place, and ways to damage it behind its back.

use std::collections::BTreeMap;
use std::time::Duration;

use headcount_core::jobs::port::{Backend, Ending, Leased, NewJob, Settled, Settlement, Swept};
use headcount_core::jobs::{Holder, JobId, JobSpec, Label, Priority, QueueStats, Start, State};
use headcount_queue::conformance::Subject;
use redis::Value;

use crate::server::{Server, try_ask};
use crate::subject::{OnRedis, ask, at, jobs, queue};

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// A store, and the server behind it.
pub(crate) struct Scene {
    pub(crate) server: Server,
    pub(crate) on: OnRedis,
    /// How often the end of each job was taken.
    pub(crate) ended: BTreeMap<JobId, u32>,
    /// What the first holder was given.
    pub(crate) first: Leased,
}

impl Scene {
    pub(crate) async fn new() -> Self {
        let server = Server::start("");
        let on = at(&server.url()).await;
        let first = Leased { epoch: 0, jobs: Vec::new(), again_in: None };
        Self { server, on, ended: BTreeMap::new(), first }
    }

    /// Jobs in every place: two run, five are ready, two wait for their time, one to be tried
    /// again, one for another job; and one is dead.
    pub(crate) async fn furnished(tenant: fn(u128) -> Option<&'static str>) -> Self {
        let mut scene = Self::new().await;
        scene.submit([1, 2, 3, 4], |_, _| ()).await;
        let leased = scene.lease(1, 4).await;
        let retry = Ending::Retry { after: 5 * SECOND, error: "once".to_owned() };
        scene.end(1, &leased, 0, retry).await;
        scene.end(1, &leased, 1, Ending::Dead { error: "for good".to_owned() }).await;
        scene.first = Leased { jobs: leased.jobs[2..].to_vec(), ..leased };
        let belongs = |number, spec: &mut JobSpec| spec.tenant = tenant(number).map(label);
        scene.submit([10, 11, 12], belongs).await;
        let urgent = |number, spec: &mut JobSpec| {
            belongs(number, spec);
            spec.priority = Priority::new(3);
        };
        scene.submit([20, 21], urgent).await;
        let later = |number, spec: &mut JobSpec| {
            belongs(number, spec);
            spec.start = Start::After(5 * SECOND);
        };
        scene.submit([30, 31], later).await;
        scene.submit([40], |_, spec| spec.after = vec![id(30)]).await;
        scene
    }

    pub(crate) async fn submit<const N: usize>(
        &mut self,
        numbers: [u128; N],
        change: impl Fn(u128, &mut JobSpec),
    ) {
        let mut parcels: Vec<NewJob> = jobs(numbers);
        for (number, parcel) in numbers.into_iter().zip(&mut parcels) {
            change(number, &mut parcel.spec);
        }
        self.on.store.enqueue(&queue(), parcels).await.expect("it takes jobs");
        self.ended.extend(numbers.map(|number| (id(number), 0)));
    }

    pub(crate) async fn lease(&self, holder: u128, jobs_max: usize) -> Leased {
        self.on.store.lease(&queue(), ask(holder, jobs_max)).await.expect("it hands out")
    }

    pub(crate) async fn end(
        &mut self,
        holder: u128,
        leased: &Leased,
        place: usize,
        ending: Ending,
    ) {
        let final_state = matches!(ending, Ending::Done { .. } | Ending::Dead { .. });
        let id = leased.jobs[place].id;
        let settlement = Settlement { id, epoch: leased.epoch, ending };
        let holder = Holder::new(holder);
        let answer = self.on.store.settle(&queue(), holder, vec![settlement]).await;
        if final_state && answer.expect("it answers") == [Settled::Taken] {
            *self.ended.entry(id).or_default() += 1;
        }
    }

    pub(crate) async fn sweep(&self) -> Swept {
        self.on.store.sweep(&queue(), 1000).await.expect("it sweeps")
    }

    pub(crate) async fn stats(&self) -> QueueStats {
        self.on.store.stats(&queue()).await.expect("it counts")
    }

    pub(crate) async fn jobs_in_all(&self) -> u64 {
        let jobs = self.stats().await.jobs;
        State::ALL.iter().map(|state| jobs[*state]).sum()
    }

    /// Does to the server what the words say; each time something must be hit.
    pub(crate) fn damage(&self, words: &str) {
        for words in words.split(" and ") {
            let answer = try_ask(&mut self.server.connection(), &full(words)).expect("it does it");
            assert!(
                matches!(answer, Value::Int(hit) if 0 < hit),
                "{words} hit nothing: {answer:?}"
            );
        }
    }

    /// The first holder ends what it was given, then another takes and ends all there is until
    /// nothing is left that could come.
    pub(crate) async fn play_to_the_end(&mut self) {
        let first = self.first.clone();
        for place in 0..first.jobs.len() {
            self.end(1, &first, place, Ending::Done { result: None }).await;
        }
        for _ in 0..30 {
            self.on.advance(SECOND);
            self.sweep().await;
            let leased = self.lease(2, 100).await;
            for place in 0..leased.jobs.len() {
                self.end(2, &leased, place, Ending::Done { result: None }).await;
            }
        }
    }

    pub(crate) async fn assert_all_ended_once(&self, what: &str) {
        for (id, times) in &self.ended {
            assert_eq!(*times, 1, "{what}: the end of {id}");
        }
        let left = self.stats().await.jobs;
        for state in [State::Blocked, State::Scheduled, State::Ready, State::Running] {
            assert_eq!(left[state], 0, "{what}: {state} are left");
        }
        assert_eq!(left[State::Retrying], 0, "{what}: some are left to be tried again");
    }
}

pub(crate) fn id(number: u128) -> JobId {
    JobId::from_u128(number)
}

pub(crate) fn label(name: &str) -> Label {
    name.parse().expect("a fine name")
}

/// The words in full: `~` is what our keys begin with, `#20` the id of job 20, `@1` a holder.
pub(crate) fn full(words: &str) -> String {
    let word = |word: &str| match word.split_once(['#', '@']) {
        Some((before, number)) => {
            let number = number.parse().expect("a number of a job or holder");
            format!("{before}{}", id(number))
        }
        None => word.to_owned(),
    };
    let words = words.replace('~', "headcount:{jobs}:");
    words.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

pub(crate) fn no_tenant(_: u128) -> Option<&'static str> {
    None
}

/// Two tenants, and jobs without one.
pub(crate) fn three_tenants(number: u128) -> Option<&'static str> {
    [Some("a"), Some("b"), None][usize::try_from(number % 3).expect("it is small")]
}
