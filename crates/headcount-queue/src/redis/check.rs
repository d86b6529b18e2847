//! Whether a server can be used, and what of its settings could cost jobs.

use std::fmt;

use headcount_core::jobs::port::StoreError;
use redis::{RedisError, Value};

use super::link::Link;
use super::options::ConnectError;
use super::read;

/// A setting of the server that could cost jobs, or time.
///
/// ```
/// use headcount_queue::redis::Warning;
///
/// let said = Warning::Evicts("allkeys-lru".to_owned()).to_string();
/// assert!(said.contains("maxmemory-policy noeviction"), "{said}");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// Nothing is written to disk as it comes: a restart loses what came since the last snapshot.
    NoAppendLog,
    /// The disk is told to keep what was written only as this setting says.
    LateSync(String),
    /// When memory is full, keys are thrown away by this policy, and jobs with them.
    Evicts(String),
    /// The server's clock differs from this machine's by so many milliseconds.
    ClockSkew(i64),
    /// The settings could not be read; the text says why.
    Unknown(String),
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAppendLog => f.write_str(
                "the Redis keeps no append-only file, so a restart loses jobs; set appendonly yes",
            ),
            Self::LateSync(setting) => write!(
                f,
                "the Redis has appendfsync {setting}: a crash of its machine may lose the last \
                 moments; set appendfsync always if that must not be",
            ),
            Self::Evicts(policy) => write!(
                f,
                "the Redis has maxmemory-policy {policy} and would throw jobs away when it is \
                 full; set maxmemory-policy noeviction",
            ),
            Self::ClockSkew(millis) => write!(
                f,
                "the clock of the Redis differs from this machine's by {millis} ms; the store's \
                 clock rules, so times of schedules are by it",
            ),
            Self::Unknown(why) => write!(f, "the settings of the Redis could not be read: {why}"),
        }
    }
}

/// A difference of clocks that nobody need hear of.
const SKEW_MILLIS: i64 = 1000;

/// Whether the server is new enough and takes writes.
pub(super) async fn usable(link: &Link) -> Result<(), ConnectError> {
    let mut info = redis::cmd("INFO");
    info.arg("server");
    let server = link.ask_raw(&info).await.map_err(refused)?;
    let server = info_text(&server);
    let version = field(&server, "redis_version").unwrap_or("unknown");
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major.is_none_or(|major| major < 7) {
        return Err(ConnectError::Version(version.to_owned()));
    }
    let mut info = redis::cmd("INFO");
    info.arg("replication");
    let replication = info_text(&link.ask_raw(&info).await.map_err(refused)?);
    match field(&replication, "role") {
        Some("slave") => Err(ConnectError::Replica),
        _ => Ok(()),
    }
}

/// What could cost jobs. `machine` tells this machine's time in milliseconds.
pub(super) async fn warnings(
    link: &Link,
    machine: fn() -> i64,
) -> Result<Vec<Warning>, StoreError> {
    let mut warnings = Vec::new();
    let mut persistence = redis::cmd("INFO");
    persistence.arg("persistence");
    let persistence = info_text(&link.ask(&persistence).await?);
    match field(&persistence, "aof_enabled") {
        Some("0") => warnings.push(Warning::NoAppendLog),
        _ => warnings.extend(late_sync(link).await),
    }
    let mut memory = redis::cmd("INFO");
    memory.arg("memory");
    let memory = info_text(&link.ask(&memory).await?);
    match field(&memory, "maxmemory_policy") {
        Some("noeviction") | None => {}
        Some(policy) => warnings.push(Warning::Evicts(policy.to_owned())),
    }
    let skew = skew(link, machine).await?;
    if SKEW_MILLIS < skew.abs() {
        warnings.push(Warning::ClockSkew(skew));
    }
    Ok(warnings)
}

/// A user made by our rule may not read settings; that is told, and is no failure.
async fn late_sync(link: &Link) -> Option<Warning> {
    let mut get = redis::cmd("CONFIG");
    get.arg("GET").arg("appendfsync");
    match link.ask_raw(&get).await {
        Ok(Value::Array(pair)) => match pair.get(1).map(read::text)?.ok()? {
            "always" => None,
            setting => Some(Warning::LateSync(setting.to_owned())),
        },
        Ok(Value::Map(pairs)) => match read::text(&pairs.first()?.1).ok()? {
            "always" => None,
            setting => Some(Warning::LateSync(setting.to_owned())),
        },
        Ok(_) => None,
        Err(error) => Some(Warning::Unknown(format!(
            "whether appendfsync is always is known to its operator only ({error})",
        ))),
    }
}

async fn skew(link: &Link, machine: fn() -> i64) -> Result<i64, StoreError> {
    let before = machine();
    let [seconds, micros] = read::exactly(link.ask(&redis::cmd("TIME")).await?)?;
    let after = machine();
    let theirs = read::number(&seconds)? * 1000 + read::number(&micros)? / 1000;
    // The answer was made at some time between; only what lies outside is a difference.
    Ok(match () {
        () if theirs < before => theirs - before,
        () if after < theirs => theirs - after,
        () => 0,
    })
}

fn info_text(value: &Value) -> String {
    match value {
        Value::BulkString(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::VerbatimString { text, .. } => text.clone(),
        // A Cluster answers for each node; the first speaks for all.
        Value::Map(nodes) => nodes.first().map(|(_, text)| info_text(text)).unwrap_or_default(),
        _ => String::new(),
    }
}

fn field<'a>(info: &'a str, name: &str) -> Option<&'a str> {
    info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
}

#[allow(clippy::needless_pass_by_value, reason = "it ends a chain of map_err")]
fn refused(error: RedisError) -> ConnectError {
    match error.code() {
        Some("NOAUTH" | "WRONGPASS" | "NOPERM") => ConnectError::Refused(error.to_string()),
        _ if error.kind() == redis::ErrorKind::AuthenticationFailed => {
            ConnectError::Refused(error.to_string())
        }
        _ => ConnectError::Unreachable(error.to_string()),
    }
}
