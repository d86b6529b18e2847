//! Who takes part, and what has to be known of each.

use super::inside::run;
use super::ours::Ours;
use super::peers::{Apalis, Program, Sidekiq, bullmq, dramatiq};
use super::{Fault, Place};

/// Our name among the contestants.
pub(super) const OURS: &str = "ours";

/// What keeps the jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Store {
    Redis,
    /// Files of the process that uses the queue.
    Embedded,
}

/// Somebody who takes part, seen from the benchmark.
#[derive(Clone, Debug)]
pub(super) struct Contestant {
    pub(super) name: &'static str,
    pub(super) store: Store,
    /// What is started as its producer and as its worker; or why there is nothing.
    pub(super) program: Result<Program, String>,
    /// Into how many processes its workers are divided.
    pub(super) processes: usize,
    pub(super) has_bulk: bool,
    /// It gets one in so many of the jobs, where it would take minutes for all of them.
    pub(super) one_in: usize,
    /// Its backlog is so many times as long, where it would be worked off within a second.
    pub(super) backlog_times: usize,
    /// It survives no more waiting jobs than this.
    pub(super) backlog_max: usize,
    /// What has to be known of its figures as a producer, and as a worker.
    pub(super) producing: &'static str,
    pub(super) consuming: &'static str,
}

impl Contestant {
    /// A queue behind `Subject`, without peculiarities.
    fn in_rust(name: &'static str, store: Store) -> Self {
        Self {
            name,
            store,
            program: Program::this(),
            processes: 1,
            has_bulk: true,
            one_in: 1,
            backlog_times: 1,
            backlog_max: usize::MAX,
            producing: "",
            consuming: "",
        }
    }
}

/// Everybody. What is not here is installed first.
pub(super) fn everybody() -> Vec<Contestant> {
    vec![
        ours(Store::Redis),
        ours(Store::Embedded),
        Contestant {
            backlog_max: 6_000,
            consuming: "batch 100 and a poll every 100 ms, as its own default finds new jobs \
                        only every 30 s; a backlog of 6,000, as one of 8,000 kills its worker",
            ..Contestant::in_rust(APALIS, Store::Redis)
        },
        Contestant {
            has_bulk: false,
            consuming: "a killed worker loses its jobs",
            ..Contestant::in_rust(SIDEKIQ, Store::Redis)
        },
        Contestant {
            program: bullmq(),
            consuming: "removeOnComplete",
            ..Contestant::in_rust("bullmq", Store::Redis)
        },
        Contestant {
            program: dramatiq(),
            processes: 2,
            has_bulk: false,
            one_in: 5,
            producing: "concurrent means 4 threads",
            consuming: "2 processes that share the concurrency",
            ..Contestant::in_rust("dramatiq", Store::Redis)
        },
    ]
}

/// With a consumer that keeps to the concurrency, as the others do, and does not scale.
fn ours(store: Store) -> Contestant {
    Contestant {
        backlog_times: 5,
        consuming: "a consumer with a fixed number of task slots; a backlog of 100,000",
        ..Contestant::in_rust(OURS, store)
    }
}

const APALIS: &str = "apalis-redis";
const SIDEKIQ: &str = "rusty-sidekiq";

/// Does this role in this process, which was started for it.
pub(super) fn enter(name: &str, place: &Place, role: &str, task: &str) -> Result<(), Fault> {
    match (name, place) {
        (OURS, _) => run::<Ours>(place, role, task),
        (APALIS, _) => run::<Apalis>(place, role, task),
        (SIDEKIQ, _) => run::<Sidekiq>(place, role, task),
        _ => Err(format!("nobody here is called {name:?}").into()),
    }
}
