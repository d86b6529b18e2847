//! Connections, made when they are needed and given up when they break.
//!
//! A connection is multiplexed: many calls are on their way at once. When one breaks, the next
//! call makes a new one; attempts that fail keep a growing distance, with chance in it, so that a
//! server which starts is not met by everybody at once. Between attempts calls fail at once.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use headcount_core::jobs::port::StoreError;
use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::cluster_async::ClusterConnection;
use redis::{AsyncConnectionConfig, Cmd, RedisError, RedisResult, Value};
use tokio::time::{Instant, timeout};

use super::address::Server;
use super::faults::{is_broken, store_error};
use super::options::RedisOptions;
use crate::vigil::Vigil;

const DISTANCE_MIN: Duration = Duration::from_millis(50);
const DISTANCE_MAX: Duration = Duration::from_secs(1);

/// The way to a server: some connections, one of which carries a call.
pub(super) struct Link {
    server: Server,
    options: RedisOptions,
    slots: Vec<tokio::sync::Mutex<Slot>>,
    turn: AtomicUsize,
    /// How often a connection was made; whoever remembers something of a server asks.
    made: AtomicU64,
    pause: Mutex<Pause>,
    vigil: Vigil,
}

#[derive(Default)]
struct Slot {
    wire: Option<Wire>,
    number: u64,
}

/// When the next attempt may be made, after one that failed.
#[derive(Default)]
struct Pause {
    until: Option<Instant>,
    distance: Duration,
    why: String,
}

/// A connection.
#[derive(Clone)]
pub(super) enum Wire {
    One(MultiplexedConnection),
    Cluster(ClusterConnection),
}

impl Wire {
    async fn send(&mut self, command: &Cmd) -> RedisResult<Value> {
        match self {
            Self::One(wire) => wire.req_packed_command(command).await,
            Self::Cluster(wire) => wire.req_packed_command(command).await,
        }
    }
}

impl Link {
    pub(super) fn new(server: Server, options: RedisOptions) -> Self {
        let slots = (0..options.connections.max(1)).map(|_| tokio::sync::Mutex::default());
        Self {
            server,
            slots: slots.collect(),
            options,
            turn: AtomicUsize::new(0),
            made: AtomicU64::new(0),
            pause: Mutex::default(),
            vigil: Vigil::default(),
        }
    }

    /// How often a connection was made.
    pub(super) fn made(&self) -> u64 {
        self.made.load(Ordering::Acquire)
    }

    /// The answer to a command, on any of the connections.
    pub(super) async fn ask(&self, command: &Cmd) -> Result<Value, StoreError> {
        self.ask_raw(command).await.map_err(store_error)
    }

    /// The same, with the error as Redis gave it.
    pub(super) async fn ask_raw(&self, command: &Cmd) -> RedisResult<Value> {
        let at = self.turn.fetch_add(1, Ordering::Relaxed) % self.slots.len();
        let (mut wire, number) = self.wire(&self.slots[at]).await?;
        let answered = self.vigil.until(wire.send(command));
        let answer = match timeout(self.options.reply_timeout, answered).await {
            Ok(answer) => answer.and_then(Value::extract_error),
            Err(_) => Err(silent("no answer", self.options.reply_timeout)),
        };
        if answer.as_ref().is_err_and(is_broken) {
            self.give_up(&self.slots[at], number).await;
        }
        answer
    }

    async fn wire(&self, slot: &tokio::sync::Mutex<Slot>) -> RedisResult<(Wire, u64)> {
        let mut slot = slot.lock().await;
        if let Some(wire) = &slot.wire {
            return Ok((wire.clone(), slot.number));
        }
        let wire = self.connect().await?;
        slot.wire = Some(wire.clone());
        slot.number += 1;
        Ok((wire, slot.number))
    }

    /// A connection that broke is given up once, however many calls found that out.
    async fn give_up(&self, slot: &tokio::sync::Mutex<Slot>, number: u64) {
        let mut slot = slot.lock().await;
        if slot.number == number {
            slot.wire = None;
        }
    }

    /// A new connection, unless the last attempt failed a moment ago.
    pub(super) async fn connect(&self) -> RedisResult<Wire> {
        self.may_try()?;
        let made = match timeout(self.options.connect_timeout, self.attempt()).await {
            Ok(made) => made,
            Err(_) => Err(silent("no connection", self.options.connect_timeout)),
        };
        self.tried(made.as_ref().err());
        made
    }

    async fn attempt(&self) -> RedisResult<Wire> {
        // Our own limits hold: a blocking command may wait for longer than others.
        let config =
            AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None);
        match &self.server {
            Server::One(client) => {
                client.get_multiplexed_async_connection_with_config(&config).await.map(Wire::One)
            }
            Server::Sentinels(client) => {
                let client = client.lock().await.async_get_client().await?;
                client.get_multiplexed_async_connection_with_config(&config).await.map(Wire::One)
            }
            Server::Cluster(client) => client.get_async_connection().await.map(Wire::Cluster),
        }
    }

    fn may_try(&self) -> RedisResult<()> {
        let pause = self.pause.lock().unwrap_or_else(PoisonError::into_inner);
        match pause.until {
            Some(until) if Instant::now() < until => Err(RedisError::from(std::io::Error::new(
                std::io::ErrorKind::NotConnected,
                format!("{}; another attempt follows shortly", pause.why),
            ))),
            _ => Ok(()),
        }
    }

    fn tried(&self, error: Option<&RedisError>) {
        let mut pause = self.pause.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(error) = error else {
            *pause = Pause::default();
            self.made.fetch_add(1, Ordering::AcqRel);
            return;
        };
        pause.distance = (pause.distance * 2).clamp(DISTANCE_MIN, DISTANCE_MAX);
        pause.until = Some(Instant::now() + jittered(pause.distance));
        pause.why = error.to_string();
    }

    /// Sends a command on a connection of the caller's own, and waits for as long as it says.
    pub(super) async fn ask_on(
        &self,
        wire: &mut Wire,
        command: &Cmd,
        most: Duration,
    ) -> RedisResult<Value> {
        let most = most + self.options.reply_timeout;
        match timeout(most, wire.send(command)).await {
            Ok(answer) => answer.and_then(Value::extract_error),
            Err(_) => Err(silent("no answer", most)),
        }
    }
}

/// Between half of it and all of it.
fn jittered(distance: Duration) -> Duration {
    distance / 2 + (distance / 2).mul_f64(super::chance())
}

fn silent(what: &str, limit: Duration) -> RedisError {
    let text = format!("{what} within {} ms", limit.as_millis());
    RedisError::from(std::io::Error::new(std::io::ErrorKind::TimedOut, text))
}
