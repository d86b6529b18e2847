//! A store in a folder whose clock jumps: it delays, and loses nothing.

use std::sync::Arc;
use std::time::Duration;

use headcount_core::Timestamp;
use headcount_queue::embedded::{Embedded, EmbeddedOptions};
use headcount_queue::jobs::{Holder, JobId, JobSpec, Label, Start, State};
use headcount_queue::model::HandClock;
use headcount_queue::port::{Backend, LeaseAsk, NewJob};

const HOUR: Duration = Duration::from_secs(3600);
const NOON: Timestamp = Timestamp::from_secs(1_700_000_000);

struct World {
    store: Embedded,
    clock: Arc<HandClock>,
    queue: Label,
    folder: tempfile::TempDir,
}

fn options(clock: &Arc<HandClock>) -> EmbeddedOptions {
    EmbeddedOptions { clock: clock.clone(), ..EmbeddedOptions::default() }
}

impl World {
    fn new() -> Self {
        let clock = Arc::new(HandClock::at(NOON));
        let folder = tempfile::tempdir().expect("a folder");
        let store = Embedded::open(folder.path(), options(&clock)).expect("a fresh folder");
        Self { store, clock, queue: "default".parse().expect("a name"), folder }
    }

    async fn submit(&self, number: u128, start: Start) {
        let kind = "kind".parse().expect("a name");
        let spec = JobSpec { start, ..JobSpec::new(kind, b"{}".to_vec()) };
        let job = NewJob { id: JobId::new(0, number), spec };
        self.store.enqueue(&self.queue, vec![job]).await.expect("it is taken in");
    }

    /// The numbers of the jobs that are handed out.
    async fn lease(&self, holder: u128) -> Vec<u128> {
        let ttl = Duration::from_secs(8);
        let ask = LeaseAsk { holder: Holder::new(holder), ttl, jobs_max: 10 };
        let leased = self.store.lease(&self.queue, ask).await.expect("it answers");
        leased.jobs.iter().map(|job| job.id.as_u128()).collect()
    }

    fn reopened(self) -> Self {
        let Self { store, clock, queue, folder } = self;
        drop(store);
        let store = Embedded::open(folder.path(), options(&clock)).expect("it opens again");
        Self { store, clock, queue, folder }
    }
}

fn story(story: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(story);
}

#[test]
fn a_step_back_keeps_the_order_and_loses_nothing() {
    story(async {
        let world = World::new();
        world.submit(1, Start::Now).await;
        world.submit(9, Start::After(HOUR)).await;
        world.clock.set(NOON.before(HOUR * 24));
        world.submit(2, Start::Now).await;
        assert_eq!(world.lease(7).await, [1, 2]);
        // The same after a restart, which begins with the earlier time.
        let world = world.reopened();
        world.submit(3, Start::Now).await;
        assert_eq!(world.lease(8).await, [1, 2, 3]);
        world.clock.set(NOON + HOUR * 2);
        assert_eq!(world.lease(8).await, [9]);
        let stats = world.store.stats(&world.queue).await.expect("it answers");
        assert_eq!((stats.jobs[State::Running], stats.totals.crashed), (4, 2));
    });
}

#[test]
fn a_jump_ahead_makes_due_what_is_due_and_takes_leases_that_ran_out() {
    story(async {
        let world = World::new();
        world.submit(1, Start::Now).await;
        world.submit(2, Start::After(HOUR)).await;
        assert_eq!(world.lease(7).await, [1]);
        world.clock.set(NOON + HOUR * 24 * 365);
        world.store.sweep(&world.queue, 100).await.expect("it answers");
        assert_eq!(world.lease(8).await, [1, 2]);
    });
}
