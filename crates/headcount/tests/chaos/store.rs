//! The store of a storm: a directory, or a Redis of its own that can be killed and started again.

use std::collections::BTreeMap;
use std::fs::File;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use headcount::jobs::embedded::{Embedded, EmbeddedOptions};
use headcount::jobs::redis::{RedisOptions, RedisStore};
use headcount_core::jobs::port::{Backend, Listing};
use headcount_core::jobs::{JobId, Label, State};

use super::checker::Last;
use super::witness::later;

/// How long a store may take to be there.
const OPEN_MAX: Duration = Duration::from_secs(20);

/// The store at an address of Redis or in a directory, tried again until it is there.
pub(crate) async fn open_in_time(store: &str) -> Arc<dyn Backend> {
    let begin = Instant::now();
    loop {
        let error = match open(store).await {
            Ok(store) => return store,
            Err(error) => error,
        };
        assert!(begin.elapsed() < OPEN_MAX, "{store} does not open: {error}");
        later(Duration::from_millis(50)).await;
    }
}

async fn open(store: &str) -> Result<Arc<dyn Backend>, String> {
    match store.starts_with("redis://") {
        true => match RedisStore::connect(store, RedisOptions::default()).await {
            Ok(store) => Ok(Arc::new(store)),
            Err(error) => Err(error.to_string()),
        },
        false => match Embedded::open(Path::new(store), EmbeddedOptions::default()) {
            Ok(store) => Ok(Arc::new(store)),
            Err(error) => Err(error.to_string()),
        },
    }
}

/// What the store says of every job.
pub(crate) async fn last(store: &dyn Backend, queue: &Label) -> BTreeMap<JobId, Last> {
    let mut all = BTreeMap::new();
    for state in State::ALL {
        let mut listing = Listing::first(state, Listing::LIMIT_MAX);
        loop {
            let page = store.list(queue, listing).await.expect("it is quiet, and it answers");
            all.extend(page.jobs.into_iter().map(|job| {
                let last = Last {
                    state: job.state,
                    attempts: job.attempts,
                    crashes: job.crashes,
                    preemptions: job.preemptions,
                    crashes_max: job.spec.crashes_max,
                };
                (job.id, last)
            }));
            let Some(next) = page.next else { break };
            listing = Listing::In { state, cursor: Some(next), limit: Listing::LIMIT_MAX };
        }
    }
    all
}

/// A Redis of its own.
pub(crate) struct Redis {
    directory: PathBuf,
    port: u16,
    durability: Durability,
    server: Option<Child>,
}

/// What a Redis promises of what it has answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    Always,
    Everysec,
    None,
}

impl Redis {
    pub(crate) fn start(directory: &Path, durability: Durability) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = free.local_addr().expect("it is bound").port();
        drop(free);
        let mut redis = Self { directory: directory.into(), port, durability, server: None };
        redis.revive();
        redis
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Killed without a word, as by a lack of memory.
    pub(crate) fn kill(&mut self) {
        if let Some(mut server) = self.server.take() {
            server.kill().expect("it runs");
            server.wait().expect("it was killed");
        }
    }

    pub(crate) fn revive(&mut self) {
        let (append, sync) = match self.durability {
            Durability::Always => ("yes", "always"),
            Durability::Everysec => ("yes", "everysec"),
            Durability::None => ("no", "no"),
        };
        let log = File::create(self.directory.join("redis.log")).expect("a file");
        let mut command = Command::new("redis-server");
        command.args(["--port", &self.port.to_string(), "--bind", "127.0.0.1", "--save", ""]);
        command.args(["--appendonly", append, "--appendfsync", sync, "--dir"]);
        command.arg(&self.directory).stdin(Stdio::null()).stdout(log);
        let server = command.spawn();
        let server = server.expect("redis-server is there; apt-get install redis-server");
        self.server = Some(server);
        let begin = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(begin.elapsed() < OPEN_MAX, "redis-server does not come up");
            std::thread::yield_now();
        }
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.kill();
    }
}
