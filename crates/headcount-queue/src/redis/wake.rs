//! Waiting for work without asking for it again and again.
//!
//! Whoever makes a job ready adds the one member of the queue's `wake` set. Here one connection
//! for each queue blocks until it can take that member, and wakes one who waits. Nothing but the
//! sign is ever taken by blocking: a sign that gets lost on the way costs a moment, a job would
//! be lost. The next sweep gives the sign again while jobs wait.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use headcount_core::jobs::port::StoreError;
use redis::Value;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::faults::store_error;
use super::link::{Link, Wire};

/// How long the connection blocks at most; after that it looks whether anybody still waits.
const BLOCK: Duration = Duration::from_secs(2);

/// How long what a lease found is worth believing.
const FRESH: Duration = Duration::from_millis(10);

/// Those in this process who wait at one queue.
#[derive(Default)]
pub(super) struct Waiters {
    inside: Mutex<Inside>,
}

/// What a lease left: nothing that could be leased at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct LeftNothing {
    at: Instant,
    /// How long until something is due.
    pub(super) again_in: Option<Duration>,
}

#[derive(Default)]
struct Inside {
    waiting: VecDeque<oneshot::Sender<Result<(), StoreError>>>,
    listening: bool,
    left: Option<LeftNothing>,
    /// The connection, while nobody listens on it.
    wire: Option<Wire>,
}

impl Waiters {
    /// A lease left nothing that could be leased before this span is over, or before a sign.
    pub(super) fn left_nothing(&self, again_in: Option<Duration>) {
        self.lock().left = Some(LeftNothing { at: Instant::now(), again_in });
    }

    /// The same, asked right after the lease. Whoever waits then need not look for work: what came
    /// since has given a sign.
    pub(super) fn just_left_nothing(&self) -> Option<LeftNothing> {
        self.lock().left.take().filter(|left| left.at.elapsed() < FRESH)
    }

    /// Returns when there is a sign, or after `most`.
    pub(super) async fn wait(
        self: &Arc<Self>,
        link: &Arc<Link>,
        key: String,
        most: Duration,
    ) -> Result<(), StoreError> {
        let (wake, woken) = oneshot::channel();
        let begins = {
            let mut inside = self.lock();
            inside.waiting.push_back(wake);
            !std::mem::replace(&mut inside.listening, true)
        };
        if begins {
            let (waiters, link) = (Arc::clone(self), Arc::clone(link));
            drop(Handle::current().spawn(async move { waiters.listen(&link, &key).await }));
        }
        match tokio::time::timeout(most, woken).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) | Err(_) => Ok(()),
        }
    }

    async fn listen(&self, link: &Link, key: &str) {
        let mut wire = self.lock().wire.take();
        while self.anybody(&mut wire) {
            match next_sign(link, &mut wire, key).await {
                Ok(true) => self.wake_one(link, key).await,
                Ok(false) => {}
                Err(error) => {
                    wire = None;
                    self.tell_all(&store_error(error));
                }
            }
        }
    }

    /// Whether anybody still waits; if not, the next one begins to listen, on the same wire.
    fn anybody(&self, wire: &mut Option<Wire>) -> bool {
        let mut inside = self.lock();
        inside.waiting.retain(|waiter| !waiter.is_closed());
        inside.listening = !inside.waiting.is_empty();
        if !inside.listening {
            inside.wire = wire.take();
        }
        inside.listening
    }

    /// Wakes the first who still waits. A sign that nobody here needs is put back for others.
    async fn wake_one(&self, link: &Link, key: &str) {
        loop {
            let Some(waiter) = self.lock().waiting.pop_front() else { break };
            if waiter.send(Ok(())).is_ok() {
                return;
            }
        }
        let mut put_back = redis::cmd("ZADD");
        put_back.arg(key).arg(0).arg("w");
        // If this fails the connection is gone as well, and the next sweep gives the sign.
        drop(link.ask(&put_back).await);
    }

    fn tell_all(&self, error: &StoreError) {
        let waiting = std::mem::take(&mut self.lock().waiting);
        for waiter in waiting {
            drop(waiter.send(Err(error.clone())));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Blocks until there is a sign, or for a while.
async fn next_sign(link: &Link, wire: &mut Option<Wire>, key: &str) -> redis::RedisResult<bool> {
    let mut connected = match wire.take() {
        Some(wire) => wire,
        None => link.connect().await?,
    };
    let mut block = redis::cmd("BZPOPMIN");
    block.arg(key).arg(BLOCK.as_secs());
    let answer = link.ask_on(&mut connected, &block, BLOCK).await?;
    *wire = Some(connected);
    Ok(answer != Value::Nil)
}
