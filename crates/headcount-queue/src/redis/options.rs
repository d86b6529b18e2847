//! How to reach the store, and why it could not be.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use headcount_core::Clock;

/// How to reach a Redis. All of it has defaults.
///
/// ```
/// use headcount_queue::redis::RedisOptions;
/// use std::time::Duration;
///
/// let options = RedisOptions::default();
/// assert_eq!(options.connect_timeout, Duration::from_secs(2));
/// assert_eq!(options.reply_timeout, Duration::from_secs(5));
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct RedisOptions {
    /// How long a connection may take to be made. The default is 2 s.
    pub connect_timeout: Duration,
    /// How long an answer may take. The default is 5 s.
    pub reply_timeout: Duration,
    /// How many connections carry the commands of each runtime that calls; waiting has its own. The
    /// default is 1: what is called together then travels together.
    pub connections: usize,
    /// The certificates, as PEM, that a server's must be signed by. The default is those that the
    /// machine trusts.
    pub ca_pem: Option<Vec<u8>>,
    /// How often all processes together look through a queue for what cannot be, such as a key that
    /// somebody deleted. A process that has just connected, or that met such a thing, does not wait
    /// for it. The default is 10 s; zero looks with every sweep.
    pub repair_every: Duration,
    /// The time by this clock instead of the server's, for tests in which an hour passes at once.
    pub clock: Option<Arc<dyn Clock>>,
}

impl Default for RedisOptions {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(2),
            reply_timeout: Duration::from_secs(5),
            connections: 1,
            repair_every: Duration::from_secs(10),
            ca_pem: None,
            clock: None,
        }
    }
}

impl fmt::Debug for RedisOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisOptions")
            .field("connect_timeout", &self.connect_timeout)
            .field("reply_timeout", &self.reply_timeout)
            .field("connections", &self.connections)
            .field("repair_every", &self.repair_every)
            .finish_non_exhaustive()
    }
}

/// Why a Redis cannot be used.
///
/// ```
/// use headcount_queue::redis::ConnectError;
///
/// let error = ConnectError::Replica;
/// assert!(error.to_string().contains("replica"));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ConnectError {
    /// The address makes no sense; the text says why.
    Address(String),
    /// The server did not answer; the text says why.
    Unreachable(String),
    /// The server lets nobody in with this name and password; the text is its answer.
    Refused(String),
    /// The server has this version, which is older than 7.0.
    Version(String),
    /// The server is a replica, which takes no writes.
    Replica,
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(why) => write!(f, "the address of the Redis is wrong: {why}"),
            Self::Unreachable(why) => write!(f, "the Redis does not answer: {why}"),
            Self::Refused(why) => {
                write!(f, "the Redis refuses us: {why}; look at the user, the password and its ACL")
            }
            Self::Version(version) => {
                write!(
                    f,
                    "the Redis has version {version}; 7.0 or later is needed: use a newer Redis, \
                     or Valkey",
                )
            }
            Self::Replica => f.write_str(
                "the Redis is a replica, which takes no writes; name its primary, or its Sentinels",
            ),
        }
    }
}

impl std::error::Error for ConnectError {}
