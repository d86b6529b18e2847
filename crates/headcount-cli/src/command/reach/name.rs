//! One name for each store, so that two ways to write its place can be compared.
//!
//! A server tells this name to whoever asks, so nothing of a login may be in it.

use std::fs;
use std::path::Path as Directory;

use super::Place;

/// The port of a Redis that nobody named.
const PORT: u16 = 6379;

impl Place {
    /// The name of the store at this place; whoever names a server leaves that to the server.
    pub(crate) fn name(&self) -> Option<String> {
        match self {
            Self::Directory(directory) => Some(of_directory(directory)),
            Self::Redis(url) => Some(of_redis(url)),
            Self::Server(_) => None,
        }
    }
}

fn of_directory(directory: &Directory) -> String {
    let canonical = fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
    canonical.display().to_string()
}

fn of_redis(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("redis", url));
    if scheme.ends_with("unix") {
        return of_socket(rest);
    }
    // The last one: what stands before it may be a password, whatever is in it.
    let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
    let split = authority.rsplit_once(':');
    let split = split.and_then(|(host, port)| Some((host, port.parse::<u16>().ok()?)));
    let (host, port) = split.unwrap_or((authority, PORT));
    let host = match host.to_ascii_lowercase() {
        host if host == "localhost" => "127.0.0.1".to_owned(),
        host => host,
    };
    format!("{scheme}://{host}:{port}/{}", number(database.trim_matches('/')))
}

/// A Redis at a socket says its database, and its login, after a question mark.
fn of_socket(rest: &str) -> String {
    let (socket, asked) = rest.split_once('?').unwrap_or((rest, ""));
    let database = asked.split('&').find_map(|one| one.strip_prefix("db="));
    format!("unix://{socket}?db={}", number(database.unwrap_or_default()))
}

fn number(database: &str) -> String {
    match database.parse::<u32>() {
        Ok(number) => number.to_string(),
        Err(_) if database.is_empty() => "0".to_owned(),
        Err(_) => database.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, expected: &str) {
        assert_eq!(Place::Redis(url.to_owned()).name().as_deref(), Some(expected));
    }

    #[test]
    fn a_redis_has_one_name_however_it_is_written() {
        let name = "redis://127.0.0.1:6379/0";
        check("redis://127.0.0.1", name);
        check("redis://localhost/", name);
        check("redis://LocalHost:6379", name);
        check("redis://127.0.0.1:6379/00/", name);
        check("redis://127.0.0.1?protocol=resp3", name);
        check("redis://[::1]", "redis://[::1]:6379/0");
        check("redis://[::1]:7/2", "redis://[::1]:7/2");
        check("rediss://h:1/3", "rediss://h:1/3");
        check("redis+unix:///run/redis.sock", "unix:///run/redis.sock?db=0");
    }

    #[test]
    fn a_login_is_no_part_of_a_name() {
        check("redis://me:secret@h:1/2", "redis://h:1/2");
        check("redis://:p@s/s?w@h", "redis://h:6379/0");
        check("unix:///s?pass=secret&db=2", "unix:///s?db=2");
    }

    #[test]
    fn a_directory_has_one_name_however_it_is_reached() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().to_owned();
        fs::create_dir(path.join("data")).expect("a directory");
        std::os::unix::fs::symlink("data", path.join("link")).expect("a link");
        let name = |way: &str| Place::Directory(path.join(way)).name();
        assert_eq!(name("link"), name("data"));
        assert_eq!(name("data/../data/"), name("data"));
        assert_ne!(name("data"), name(""));
    }
}
