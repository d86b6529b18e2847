//! Where jobs are kept: a directory of this machine, a Redis, or wherever a server keeps them.

use std::env;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use headcount::config::StoreConfig;

/// The directory of a store that nobody named.
const DIRECTORY: &str = "headcount-data";
/// The variable that names another.
const VARIABLE: &str = "HEADCOUNT_DATA";

/// Where jobs are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In this directory.
    Directory(PathBuf),
    /// In the Redis at this address, which may hold a password.
    Redis(String),
    /// Wherever the server at this host and port keeps them.
    Server(String),
}

impl Place {
    /// Where a file says that they are.
    pub(crate) fn of(config: &StoreConfig) -> Option<Self> {
        match config {
            StoreConfig::Embedded { path, .. } => Some(Self::Directory(path.clone())),
            StoreConfig::Redis { url } => Some(Self::Redis(url.with_credentials().to_owned())),
            _ => None,
        }
    }

    /// The place that is meant where none is said.
    pub(crate) fn usual() -> Result<Self, String> {
        match env::var(VARIABLE) {
            Ok(text) if !text.is_empty() => {
                text.parse().map_err(|why| format!("{VARIABLE}: {why}"))
            }
            _ => Ok(Self::Directory(PathBuf::from(DIRECTORY))),
        }
    }
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let Some((scheme, rest)) = text.split_once("://") else {
            return match text {
                "" => Err("the place of the store is empty".to_owned()),
                _ => Ok(Self::Directory(PathBuf::from(text))),
            };
        };
        match scheme {
            "redis" | "rediss" if !rest.is_empty() => Ok(Self::Redis(text.to_owned())),
            "http" => host(rest).map(Self::Server),
            _ => Err(format!(
                "{text:?} is no place for a store; write a directory, redis://HOST:PORT, \
                 rediss://HOST:PORT, or http://HOST:PORT of a server"
            )),
        }
    }
}

/// Host and port of a server, without what may follow.
fn host(rest: &str) -> Result<String, String> {
    let host = rest.trim_end_matches('/');
    let port = host.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
    match port {
        Some(_) if !host.contains(['/', '@', '?', '#']) => Ok(host.to_owned()),
        _ => Err(format!("http://{rest} names no server; write http://HOST:PORT")),
    }
}

/// For people to read: without a password.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(directory) => write!(f, "{}", directory.display()),
            Self::Redis(url) => f.write_str(&without_secret(url)),
            Self::Server(host) => write!(f, "http://{host}"),
        }
    }
}

fn without_secret(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let authority = rest.split('/').next().unwrap_or_default();
    match authority.rfind('@') {
        Some(at) => format!("{scheme}://***@{}", &rest[at + 1..]),
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let told = match text.parse::<Place>() {
            Ok(Place::Directory(directory)) => format!("directory {}", directory.display()),
            Ok(place @ Place::Redis(_)) => format!("redis {place}"),
            Ok(Place::Server(host)) => format!("server {host}"),
            Err(why) => why.split(';').next().unwrap_or_default().to_owned(),
        };
        assert_eq!(told, expected);
    }

    #[test]
    fn a_place_is_a_directory_a_redis_or_a_server() {
        check("data/jobs", "directory data/jobs");
        check("redis", "directory redis");
        check("redis://h:6379/2", "redis redis://h:6379/2");
        check("http://127.0.0.1:7878/", "server 127.0.0.1:7878");
        check("http://[::1]:7878", "server [::1]:7878");
        check("", "the place of the store is empty");
        check("redis://", "\"redis://\" is no place for a store");
        check("mysql://h", "\"mysql://h\" is no place for a store");
        check("http://h", "http://h names no server");
        check("http://u@h:1", "http://u@h:1 names no server");
        check("http://h:1/path", "http://h:1/path names no server");
    }

    #[test]
    fn a_password_is_not_shown() {
        check("rediss://me:secret@h:1/0", "redis rediss://***@h:1/0");
        check("redis://:p@ss@h:1", "redis redis://***@h:1");
        check("redis://h:1/a@b", "redis redis://h:1/a@b");
    }
}
