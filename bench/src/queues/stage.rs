//! Where a round takes place: a Redis, folders, and how processes are started there.

use std::fs;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::Place;
use super::child::Child;
use super::field::{Contestant, Store};
use super::options::Options;
use super::orders::{Order, Produced};
use super::server::{Server, Usage};

/// The size of every payload, in bytes.
pub(super) const PAYLOAD: usize = 100;
/// How long a producer may take.
const PRODUCE_MAX: Duration = Duration::from_secs(90);

/// Gone with all that was kept on it when it is dropped.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) options: Options,
    server: Server,
    folder: PathBuf,
    /// How many folders and files have been made, so that each gets another name.
    made: AtomicUsize,
}

impl Stage {
    pub(super) fn set_up(options: Options) -> Result<Self, String> {
        let folder = std::env::temp_dir().join(format!("headcount-bench-queues-{}", process::id()));
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        fs::create_dir_all(&folder).map_err(failed)?;
        let server = Server::start(&folder, options.durability)?;
        Ok(Self { options, server, folder, made: AtomicUsize::new(0) })
    }

    /// An empty place.
    pub(super) fn clear(&self, store: Store) -> Result<Place, String> {
        match store {
            Store::Redis => self.server.flush().map(|()| Place::Redis(self.server.url())),
            Store::Embedded => {
                let folder = self.new_path("data");
                let made = fs::create_dir(&folder);
                made.map_err(|error| format!("{}: {error}", folder.display()))?;
                Ok(Place::Folder(folder))
            }
        }
    }

    /// What the Redis has used so far.
    pub(super) fn redis(&self) -> Result<Usage, String> {
        self.server.usage()
    }

    /// What a row has to say about its conditions.
    pub(super) fn conditions(&self, store: Store) -> String {
        match store {
            Store::Redis => format!("{PAYLOAD} B, {}", self.options.durability),
            Store::Embedded => format!("{PAYLOAD} B, embedded, every commit synced"),
        }
    }

    /// Has jobs enqueued by a process of the contestant, and waits for its end.
    pub(super) fn produce(
        &self,
        contestant: &Contestant,
        place: &Place,
        order: Order,
    ) -> Result<Produced, String> {
        self.producer(contestant, place, order)?.next(PRODUCE_MAX)
    }

    /// Starts a process that enqueues jobs.
    pub(super) fn producer(
        &self,
        contestant: &Contestant,
        place: &Place,
        order: Order,
    ) -> Result<Child, String> {
        let task = serde_json::to_string(&order).expect("an order is plain data");
        self.child(contestant, "produce", place, &task)
    }

    /// Starts a process of the contestant.
    pub(super) fn child(
        &self,
        contestant: &Contestant,
        role: &str,
        place: &Place,
        task: &str,
    ) -> Result<Child, String> {
        let mut command = contestant.program.as_ref().map_err(Clone::clone)?.command();
        command.args([role, contestant.name]);
        match place {
            Place::Redis(url) => command.arg(url),
            Place::Folder(folder) => command.arg(folder),
        };
        command.arg(task);
        Child::start(command, self.new_path("log"))
    }

    fn new_path(&self, kind: &str) -> PathBuf {
        self.folder.join(format!("{kind}-{}", self.made.fetch_add(1, Ordering::Relaxed)))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _removed = fs::remove_dir_all(&self.folder);
    }
}
