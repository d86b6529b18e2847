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
    /// The server's clock is so many milliseconds ahead of this machine's, or behind if negative.
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
            Self::ClockSkew(millis) => {
                let side = if *millis < 0 { "behind" } else { "ahead of" };
                let millis = millis.unsigned_abs();
                write!(
                    f,
                    "the clock of the Redis is {millis} ms {side} this machine's; the store's \
                     clock rules, so jobs start and schedules fire by it; set both clocks by NTP",
                )
            }
            Self::Unknown(why) => write!(f, "the settings of the Redis could not be read: {why}"),
        }
    }
}

/// A difference of clocks that nobody need hear of.
const SKEW_MILLIS: i64 = 1000;
/// The oldest major version that has all that the scripts need.
const VERSION_MIN: u32 = 7;

/// Whether the server is new enough and takes writes.
pub(super) async fn usable(link: &Link) -> Result<(), ConnectError> {
    let told = async |section: &str| {
        let mut info = redis::cmd("INFO");
        info.arg(section);
        link.ask_raw(&info).await.map(|told| info_text(&told)).map_err(refused)
    };
    fit(&told("server").await?, &told("replication").await?)
}

/// Whether a server that tells this of itself can be used.
fn fit(server: &str, replication: &str) -> Result<(), ConnectError> {
    let version = field(server, "redis_version").unwrap_or("unknown");
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major.is_none_or(|major| major < VERSION_MIN) {
        return Err(ConnectError::Version(version.to_owned()));
    }
    match field(replication, "role") {
        Some("slave") => Err(ConnectError::Replica),
        _ => Ok(()),
    }
}

/// What could cost jobs. `machine` tells this machine's time in milliseconds.
pub(super) async fn warnings(
    link: &Link,
    machine: fn() -> i64,
) -> Result<Vec<Warning>, StoreError> {
    let told = async |section: &str| {
        let mut info = redis::cmd("INFO");
        info.arg(section);
        link.ask(&info).await.map(|told| info_text(&told))
    };
    let mut warnings = warnings_of(&told("persistence").await?, &told("memory").await?);
    if !warnings.contains(&Warning::NoAppendLog) {
        warnings.extend(late_sync(link).await);
    }
    let before = machine();
    let [seconds, micros] = read::exactly(link.ask(&redis::cmd("TIME")).await?)?;
    let theirs = read::number(&seconds)? * 1000 + read::number(&micros)? / 1000;
    warnings.extend(skewed(theirs, before, machine()));
    Ok(warnings)
}

/// What a server tells of itself that could cost jobs.
fn warnings_of(persistence: &str, memory: &str) -> Vec<Warning> {
    let log = (field(persistence, "aof_enabled") == Some("0")).then_some(Warning::NoAppendLog);
    let policy = field(memory, "maxmemory_policy").filter(|policy| *policy != "noeviction");
    let evicts = policy.map(|policy| Warning::Evicts(policy.to_owned()));
    log.into_iter().chain(evicts).collect()
}

/// Whether the server's time is far from this machine's, which asked and heard at these times.
fn skewed(theirs: i64, asked: i64, heard: i64) -> Option<Warning> {
    // The answer was made at some time between; only what lies outside is a difference.
    let skew = match () {
        () if theirs < asked => theirs - asked,
        () if heard < theirs => theirs - heard,
        () => 0,
    };
    (SKEW_MILLIS < skew.abs()).then_some(Warning::ClockSkew(skew))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_fit(server: &str, replication: &str, expected: &str) {
        let said =
            fit(server, replication).map_or_else(|error| error.to_string(), |()| "fit".into());
        assert!(said.contains(expected), "{server:?}: {said}");
    }

    #[test]
    fn a_server_below_7_0_is_refused_with_its_version() {
        let primary = "# Replication\r\nrole:master\r\nconnected_slaves:0\r\n";
        let server = |version: &str| format!("# Server\r\nredis_version:{version}\r\nos:Linux\r\n");
        check_fit(&server("6.2.14"), primary, "has version 6.2.14; 7.0 or later is needed");
        check_fit(&server("2.8.4"), primary, "has version 2.8.4");
        check_fit("# Server\r\n", primary, "has version unknown");
        check_fit(&server("7.0.0"), primary, "fit");
        check_fit(&server("7.2.4"), primary, "fit");
        check_fit(&server("10.0.1"), primary, "fit");
        // Valkey tells the version of Redis whose commands it speaks, and its own.
        check_fit("server_name:valkey\r\nredis_version:7.2.4\r\nvalkey_version:9.1.0", "", "fit");
        check_fit(&server("7.0.15"), "role:slave\r\n", "is a replica");
    }

    #[track_caller]
    fn check_settings(persistence: &str, memory: &str, expected: &[&str]) {
        let said: Vec<String> =
            warnings_of(persistence, memory).iter().map(ToString::to_string).collect();
        assert_eq!(said.len(), expected.len(), "{said:?}");
        for (said, expected) in said.iter().zip(expected) {
            assert!(said.contains(expected), "{said}");
        }
    }

    #[test]
    fn settings_that_could_cost_jobs_are_told_with_their_remedy() {
        let (log, kept) = ("loading:0\r\naof_enabled:1\r\n", "maxmemory_policy:noeviction\r\n");
        check_settings(log, kept, &[]);
        check_settings("aof_enabled:0\r\n", kept, &["set appendonly yes"]);
        let evicts = "maxmemory_policy:allkeys-lru\r\n";
        check_settings(log, evicts, &["has maxmemory-policy allkeys-lru"]);
        check_settings("aof_enabled:0\r\n", evicts, &["appendonly yes", "noeviction"]);
        // A user who may not see them is told nothing.
        check_settings("", "", &[]);
    }

    #[track_caller]
    fn check_clock(theirs: i64, asked: i64, heard: i64, expected: &str) {
        let said = skewed(theirs, asked, heard).map_or_else(String::new, |said| said.to_string());
        assert_eq!(said.is_empty(), expected.is_empty(), "{theirs} {asked} {heard}: {said}");
        assert!(said.contains(expected), "{theirs} {asked} {heard}: {said}");
    }

    #[test]
    fn a_clock_that_differs_by_more_than_a_second_is_told() {
        check_clock(5_000, 5_000, 5_010, "");
        check_clock(6_010, 5_000, 5_010, "");
        check_clock(6_011, 5_000, 5_010, "1001 ms ahead of this machine's");
        check_clock(4_000, 5_000, 5_010, "");
        check_clock(3_999, 5_000, 5_010, "1001 ms behind this machine's");
        // However long the answer took: whatever lies between is no difference.
        check_clock(8_000, 5_000, 9_000, "");
        check_clock(90_000, 5_000, 5_010, "set both clocks by NTP");
    }
}
