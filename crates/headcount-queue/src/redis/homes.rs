//! Where calls are driven: in the runtime of whoever calls, over connections that belong to it.
//!
//! A caller, its connection and the answer stay in one runtime, so a call alone wakes no other
//! thread, on its way out or back. Each runtime has a *home* here: connections, and what is
//! remembered of queues. Nobody waits for a runtime that is busy or gone; above all not the thread
//! on which a consumer renews its lease, which is a runtime of its own. Callers without a runtime
//! are lent a thread that has one.

use std::future::{Future, pending};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use headcount_core::jobs::Label;
use headcount_core::jobs::port::StoreError;
use redis::Cmd;
use tokio::runtime::{Builder, Handle, Id};
use tokio::sync::oneshot;

use super::address::Server;
use super::calls::{self, Calls};
use super::link::Link;
use super::options::{ConnectError, RedisOptions};
use super::scripts::Script;

/// The homes of all runtimes that call.
pub(super) struct Homes {
    url: String,
    options: RedisOptions,
    all: Arc<Mutex<Vec<Home>>>,
    lent: OnceLock<Lent>,
}

/// What the calls of one runtime share.
struct Home {
    runtime: Id,
    calls: Arc<Calls>,
    _watch: StopOnDrop,
}

/// A thread with a runtime. It ends when this is dropped.
struct Lent {
    handle: Handle,
    /// Dropped with this, which the thread takes as its sign to end.
    _end: oneshot::Sender<()>,
}

/// Part of a task that is dropped with its runtime: the home goes too.
struct Leaving {
    all: Weak<Mutex<Vec<Home>>>,
    runtime: Id,
}

struct StopOnDrop(tokio::task::AbortHandle);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Drop for Leaving {
    fn drop(&mut self) {
        let Some(all) = self.all.upgrade() else { return };
        let mut homes = lock(&all);
        let at = homes.iter().position(|home| home.runtime == self.runtime);
        let left = at.map(|at| homes.swap_remove(at));
        drop(homes);
        drop(left);
    }
}

impl Homes {
    /// Refuses an address that makes no sense.
    pub(super) fn at(url: &str, options: RedisOptions) -> Result<Self, ConnectError> {
        Server::at(url, &options)?;
        Ok(Self { url: url.to_owned(), options, all: Arc::default(), lent: OnceLock::new() })
    }

    /// A call of the script for this queue, to which its words are added.
    pub(super) fn command(&self, script: &Script, queue: &Label) -> Cmd {
        calls::command(self.options.clock.as_ref(), script, queue)
    }

    /// Runs it for as long as the caller waits for it. What was sent by then is done even if its
    /// answer is not awaited.
    pub(super) async fn run<T, F>(
        &self,
        work: impl FnOnce(Arc<Calls>) -> F,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, StoreError>> + Send + 'static,
    {
        if let Ok(runtime) = Handle::try_current() {
            return work(self.of(&runtime)).await;
        }
        let runtime = &self.lent().map_err(StoreError::unreachable)?.handle;
        let task = runtime.spawn(work(self.of(runtime)));
        let _stop = StopOnDrop(task.abort_handle());
        task.await.unwrap_or(Err(StoreError::Closed))
    }

    /// The home of a runtime, made when it first calls.
    fn of(&self, runtime: &Handle) -> Arc<Calls> {
        let known = |homes: &[Home]| {
            let home = homes.iter().find(|home| home.runtime == runtime.id());
            home.map(|home| Arc::clone(&home.calls))
        };
        if let Some(calls) = known(&lock(&self.all)) {
            return calls;
        }
        // Not under the lock: a runtime that is about to end drops the task at once.
        let leaving = Leaving { all: Arc::downgrade(&self.all), runtime: runtime.id() };
        let watch = runtime.spawn(async move {
            let _leaving = leaving;
            pending::<()>().await;
        });
        let mut homes = lock(&self.all);
        if let Some(calls) = known(&homes) {
            // Another call of the same runtime was faster; its task is the one that counts.
            return calls;
        }
        // Not shared: what asks Sentinels keeps a connection of its own to them.
        let server = Server::at(&self.url, &self.options).expect("the address was fine before");
        let link = Link::new(server, self.options.clone());
        let calls = Arc::new(Calls::new(Arc::new(link), self.options.clock.clone()));
        let watch = StopOnDrop(watch.abort_handle());
        homes.push(Home { runtime: runtime.id(), calls: Arc::clone(&calls), _watch: watch });
        calls
    }

    fn lent(&self) -> io::Result<&Lent> {
        if let Some(lent) = self.lent.get() {
            return Ok(lent);
        }
        let started = Lent::start()?;
        Ok(self.lent.get_or_init(|| started))
    }
}

impl Lent {
    fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel::<()>();
        let run = move || drop(runtime.block_on(ended));
        std::thread::Builder::new().name("headcount-redis".into()).spawn(run)?;
        Ok(Self { handle, _end: end })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
