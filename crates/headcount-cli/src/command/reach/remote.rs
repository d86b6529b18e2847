//! Whoever answers for a store: a server that has it open, or this process.

use std::fmt;
use std::path::Path as Directory;

use headcount::config::JobsConfig;
use headcount::ops::Ops;
use hyper::Method;
use serde_json::Value;

use super::connection::{ask, question};
use super::{Path, Place, Served, opened, within};
use crate::Stop;

/// Where a server says that it lives, and which store it has.
const HEALTH: &str = "/healthz";

/// Whoever answers for a store.
#[derive(Debug)]
pub(crate) struct Remote {
    host: String,
    place: Place,
    /// What answers, where that is this process.
    within: Option<Ops>,
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Unanswered {
    /// What was asked for is not there; the sentence says what.
    Unknown(String),
    /// It was refused; the sentence says why.
    Refused(String),
    /// Whether it was done is unknown; the sentence says why. It may be repeated.
    Lost(String),
}

impl Remote {
    /// The one that answers for this place. What the file says of jobs counts where that is this
    /// process; a server has a file of its own.
    pub(crate) async fn of(place: &Place, file: &JobsConfig) -> Result<Self, Stop> {
        let server = match place {
            Place::Server(host) => Some(host.clone()),
            Place::Redis(_) => None,
            Place::Directory(directory) => server_of(directory).await?,
        };
        match server {
            Some(host) => Ok(Self { host, place: place.clone(), within: None }),
            None => Self::within(place, file).await,
        }
    }

    /// The server at this host, which must work on the store at this place.
    pub(crate) async fn serving(place: &Place, host: &str) -> Result<Self, Stop> {
        let remote = Self { host: host.to_owned(), place: place.clone(), within: None };
        let health = remote.call(Method::GET, HEALTH, None).await?;
        let said = health["store"].as_str();
        if said.is_some() && said == place.name().as_deref() {
            return Ok(remote);
        }
        let said = said.unwrap_or("a store that it does not name");
        Err(Stop::Failed(format!(
            "{place} was asked for, but the server at {host} has {said}; name the server itself, \
             --store http://HOST:PORT, or start one with `headcount serve --store {place}`"
        )))
    }

    async fn within(place: &Place, file: &JobsConfig) -> Result<Self, Stop> {
        let opened = opened::open(place).await.map_err(|stop| locked(stop, place))?;
        let served = within::serve(opened, place, file).await;
        let ops = served.map_err(|error| Stop::Failed(error.to_string()))?;
        let host = ops.local_addr().to_string();
        Ok(Self { host, place: place.clone(), within: Some(ops) })
    }

    /// Whether somebody may run jobs while we wait.
    pub(crate) fn is_served(&self) -> bool {
        self.within.is_none() || matches!(self.place, Place::Redis(_))
    }

    pub(crate) async fn get(&self, path: &Path) -> Result<Value, Unanswered> {
        self.call(Method::GET, path.as_str(), None).await
    }

    pub(crate) async fn post(&self, path: &Path, body: &Value) -> Result<Value, Unanswered> {
        self.call(Method::POST, path.as_str(), Some(body)).await
    }

    pub(crate) async fn put(&self, path: &Path, body: &Value) -> Result<Value, Unanswered> {
        self.call(Method::PUT, path.as_str(), Some(body)).await
    }

    pub(crate) async fn delete(&self, path: &Path) -> Result<Value, Unanswered> {
        self.call(Method::DELETE, path.as_str(), None).await
    }

    async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, Unanswered> {
        let body = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
        let asked = question(method, &self.host, path, body);
        let (status, body) = ask(&self.host, asked).await.map_err(|why| {
            Unanswered::Lost(format!(
                "the server at {} does not answer: {why}; `headcount serve` starts one",
                self.host
            ))
        })?;
        answer(status, &body)
    }
}

/// The server that has the directory open, if there is one.
async fn server_of(directory: &Directory) -> Result<Option<String>, Stop> {
    if let Some(host) = Served::find(directory).and_then(|served| served.addr) {
        // Another process may have got the number of a server that died, and its port too.
        let place = Place::Directory(directory.to_owned());
        if Remote::serving(&place, &host).await.is_ok() {
            return Ok(Some(host));
        }
    }
    match directory.is_dir() {
        true => Ok(None),
        false => Err(Stop::Failed(format!(
            "there is no store in {}; `headcount serve` makes one, --store names another",
            directory.display(),
        ))),
    }
}

/// Says who has the store, where that is known.
fn locked(stop: Stop, place: &Place) -> Stop {
    let Place::Directory(directory) = place else { return stop };
    match (stop, Served::find(directory)) {
        (Stop::Failed(why), Some(Served { addr: None, pid })) => Stop::Failed(format!(
            "{why}; process {pid} serves it without an API: start that one without --no-api"
        )),
        (stop, _) => stop,
    }
}

/// What an answer says.
fn answer(status: u16, body: &[u8]) -> Result<Value, Unanswered> {
    let value: Option<Value> = serde_json::from_slice(body).ok();
    let said = value.as_ref().and_then(|value| value["error"].as_str()).map(str::to_owned);
    let text = || String::from_utf8_lossy(body).chars().take(200).collect::<String>();
    match (status, value, said) {
        (200..=299, Some(value), _) => Ok(value),
        (200..=299, None, _) if body.is_empty() => Ok(Value::Null),
        (404, _, Some(said)) => Err(Unanswered::Unknown(said)),
        (400..=499, _, Some(said)) => Err(Unanswered::Refused(said)),
        (500..=599, _, Some(said)) => Err(Unanswered::Lost(said)),
        _ => Err(Unanswered::Refused(format!(
            "that is no server of jobs, or another version: it says {status} {:?}",
            text(),
        ))),
    }
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(said) | Self::Refused(said) | Self::Lost(said) => f.write_str(said),
        }
    }
}

impl From<Unanswered> for Stop {
    fn from(unanswered: Unanswered) -> Self {
        Self::Failed(unanswered.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(status: u16, body: &str, expected: &str) {
        let told = match answer(status, body.as_bytes()) {
            Ok(value) => format!("said {value}"),
            Err(Unanswered::Unknown(said)) => format!("unknown: {said}"),
            Err(Unanswered::Refused(said)) => format!("refused: {said}"),
            Err(Unanswered::Lost(said)) => format!("lost: {said}"),
        };
        assert_eq!(told, expected);
    }

    /// What comes of asking a server of the store `has` for another one.
    async fn asked(has: &Place, wanted: &str) -> String {
        let directory = tempfile::tempdir().expect("a directory");
        let opened = opened::open(&Place::Directory(directory.path().to_owned())).await;
        let ops = within::serve(opened.expect("a store"), has, &JobsConfig::default())
            .await
            .expect("a port");
        let wanted = wanted.parse().expect("a place");
        match Remote::serving(&wanted, &ops.local_addr().to_string()).await {
            Ok(_) => "reached".to_owned(),
            Err(Stop::Failed(why)) => why,
            Err(stop) => format!("{stop:?}"),
        }
    }

    #[tokio::test]
    async fn only_a_server_of_the_store_is_asked() {
        let redis = Place::Redis("redis://me:secret@localhost".to_owned());
        assert_eq!(asked(&redis, "redis://127.0.0.1:6379/0").await, "reached");
        let other = asked(&redis, "redis://:hidden@127.0.0.1:6379/1").await;
        assert!(other.starts_with("redis://***@127.0.0.1:6379/1 was asked for, but"), "{other}");
        assert!(other.contains("has redis://127.0.0.1:6379/0; name the server"), "{other}");
        assert!(!other.contains("secret") && !other.contains("hidden"), "{other}");
        let folder = asked(&Place::Directory("/".into()), "redis://127.0.0.1:1").await;
        assert!(folder.contains(" has /; "), "{folder}");
        let unsaid = asked(&Place::Server("h:1".to_owned()), "redis://127.0.0.1:1").await;
        assert!(unsaid.contains("has a store that it does not name"), "{unsaid}");
    }

    #[tokio::test]
    async fn where_nobody_listens_that_is_said() {
        let place = Place::Redis("redis://127.0.0.1:1".to_owned());
        let Err(Stop::Failed(why)) = Remote::serving(&place, "127.0.0.1:1").await else {
            panic!("somebody listens at port 1");
        };
        assert!(why.starts_with("the server at 127.0.0.1:1 does not answer: "), "{why}");
        assert!(why.ends_with("; `headcount serve` starts one"), "{why}");
    }

    #[test]
    fn answers_are_told_apart() {
        check(200, "[1]", "said [1]");
        check(204, "", "said null");
        check(404, "{\"error\":\"no such job\"}", "unknown: no such job");
        check(409, "{\"error\":\"full\"}", "refused: full");
        check(503, "{\"error\":\"gone\"}", "lost: gone");
        let foreign = "refused: that is no server of jobs, or another version: it says";
        check(404, "<html>", &format!("{foreign} 404 \"<html>\""));
        check(200, "hello", &format!("{foreign} 200 \"hello\""));
    }
}
