//! A fresh store for each case: a database of its own in a server that all cases share.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use headcount_core::Timestamp;
use headcount_core::jobs::port::{Ending, LeaseAsk, Leased, LeasedJob, NewJob, Settlement};
use headcount_core::jobs::{Holder, JobId, JobSpec, Label};
use headcount_queue::conformance::Subject;
use headcount_queue::model::HandClock;
use headcount_queue::port::Backend;
use headcount_queue::redis::{RedisOptions, RedisStore};

use crate::server::Server;

pub(crate) struct OnRedis {
    pub(crate) store: RedisStore,
    pub(crate) clock: Arc<HandClock>,
}

impl Subject for OnRedis {
    fn store(&self) -> &dyn Backend {
        &self.store
    }

    fn advance(&self, span: Duration) {
        self.clock.advance(span);
    }
}

/// A store at this address, whose clock is moved by hand.
pub(crate) async fn at(url: &str) -> OnRedis {
    let clock = Arc::new(HandClock::at(Timestamp::from_secs(1_700_000_000)));
    let mut options = RedisOptions::default();
    options.clock = Some(clock.clone());
    // What is damaged here is looked for by the next sweep; how often is tested by itself.
    options.repair_every = Duration::ZERO;
    let store = RedisStore::connect(url, options).await.expect("the server is up");
    OnRedis { store, clock }
}

/// An empty database of the server that the cases of this process share.
pub(crate) async fn fresh() -> OnRedis {
    static SERVER: OnceLock<Server> = OnceLock::new();
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let server = SERVER.get_or_init(|| Server::start("--databases 20000"));
    let database = NEXT.fetch_add(1, Ordering::Relaxed);
    at(&format!("{}/{database}", server.url())).await
}

/// A runtime for one test.
pub(crate) fn block_on<T>(test: impl Future<Output = T>) -> T {
    let built = tokio::runtime::Builder::new_current_thread().enable_all().build();
    built.expect("a runtime").block_on(test)
}

/// A store with the server's own clock.
pub(crate) async fn connect(url: &str) -> RedisStore {
    RedisStore::connect(url, RedisOptions::default()).await.expect("the server is up")
}

pub(crate) fn queue() -> Label {
    "jobs".parse().expect("a fine name")
}

/// Jobs with these numbers and nothing special about them.
pub(crate) fn jobs(numbers: impl IntoIterator<Item = u128>) -> Vec<NewJob> {
    let kind: Label = "kind".parse().expect("a fine name");
    let job = |number| NewJob {
        id: JobId::from_u128(number),
        spec: JobSpec::new(kind.clone(), b"{}".to_vec()),
    };
    numbers.into_iter().map(job).collect()
}

pub(crate) fn ask(holder: u128, jobs_max: usize) -> LeaseAsk {
    LeaseAsk { holder: Holder::new(holder), ttl: Duration::from_secs(60), jobs_max }
}

/// All that was leased ended well.
pub(crate) fn all_done(leased: &Leased) -> Vec<Settlement> {
    let done = |job: &LeasedJob| Settlement {
        id: job.id,
        epoch: leased.epoch,
        ending: Ending::Done { result: None },
    };
    leased.jobs.iter().map(done).collect()
}
