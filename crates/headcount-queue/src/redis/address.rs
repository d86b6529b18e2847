//! Where the Redis is: one server, what Sentinels name, or a Cluster.

use redis::cluster::ClusterClientBuilder;
use redis::sentinel::{SentinelClientBuilder, SentinelServerType};
use redis::{Client, ConnectionAddr, ConnectionInfo, IntoConnectionInfo};
use redis::{cluster::ClusterClient, io::tcp::TcpSettings, sentinel::SentinelClient};

use super::options::{ConnectError, RedisOptions};

/// A way to get connections.
pub(super) enum Server {
    One(Box<Client>),
    Sentinels(Box<tokio::sync::Mutex<SentinelClient>>),
    Cluster(Box<ClusterClient>),
}

const SENTINEL: &str = "redis+sentinel://";
const CLUSTER: &str = "redis+cluster://";

impl Server {
    /// The server that the address names.
    pub(super) fn at(url: &str, options: &RedisOptions) -> Result<Self, ConnectError> {
        if let Some(rest) = url.strip_prefix(SENTINEL) {
            return sentinels(rest);
        }
        if let Some(rest) = url.strip_prefix(CLUSTER) {
            return cluster(rest, options);
        }
        let info = parsed(url)?;
        match (&options.ca_pem, info.addr()) {
            (Some(pem), ConnectionAddr::TcpTls { .. }) => trusting(info, pem),
            _ => Client::open(info).map(one).map_err(wrong),
        }
    }
}

fn one(client: Client) -> Server {
    Server::One(Box::new(client))
}

/// Answers are small and awaited: nothing is to be held back for company.
fn tcp() -> TcpSettings {
    TcpSettings::default().set_nodelay(true)
}

fn parsed(url: &str) -> Result<ConnectionInfo, ConnectError> {
    if url.starts_with("rediss://") && cfg!(not(feature = "redis-tls")) {
        return Err(ConnectError::Address(
            "rediss:// needs TLS, which this program was built without (feature redis-tls)".into(),
        ));
    }
    if url.starts_with("rediss://") && url.contains("#insecure") {
        return Err(ConnectError::Address(
            "#insecure would trust anybody; name the certificates to trust instead".into(),
        ));
    }
    let info = url.into_connection_info().map_err(wrong)?;
    Ok(info.set_tcp_settings(tcp()))
}

#[cfg(feature = "redis-tls")]
fn trusting(info: ConnectionInfo, pem: &[u8]) -> Result<Server, ConnectError> {
    let certificates = redis::TlsCertificates { client_tls: None, root_cert: Some(pem.to_vec()) };
    Client::build_with_tls(info, certificates).map(one).map_err(wrong)
}

#[cfg(not(feature = "redis-tls"))]
fn trusting(info: ConnectionInfo, _: &[u8]) -> Result<Server, ConnectError> {
    Client::open(info).map(one).map_err(wrong)
}

/// `user:password@host:port,host:port/name/db`: the name of the primary, and perhaps a database.
fn sentinels(rest: &str) -> Result<Server, ConnectError> {
    let (login, rest) = login(rest);
    let (hosts, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (name, db) = path.split_once('/').unwrap_or((path, ""));
    if name.is_empty() {
        return Err(ConnectError::Address(
            "the name of the primary is missing: redis+sentinel://host:port,host:port/NAME".into(),
        ));
    }
    let hosts = hosts.split(',').map(|host| host_and_port(host, 26379));
    let hosts: Vec<ConnectionAddr> = hosts.collect::<Result<_, _>>()?;
    let mut builder = SentinelClientBuilder::new(hosts, name, SentinelServerType::Master)
        .map_err(wrong)?
        .set_client_to_redis_tcp_settings(tcp())
        .set_client_to_sentinel_tcp_settings(tcp());
    if let Ok(db) = db.parse() {
        builder = builder.set_client_to_redis_db(db);
    }
    if let Some((user, password)) = login {
        builder = builder.set_client_to_redis_password(password);
        if !user.is_empty() {
            builder = builder.set_client_to_redis_username(user);
        }
    }
    let client = builder.build().map_err(wrong)?;
    Ok(Server::Sentinels(Box::new(tokio::sync::Mutex::new(client))))
}

fn cluster(rest: &str, options: &RedisOptions) -> Result<Server, ConnectError> {
    let (login, hosts) = login(rest);
    let login = login.map(|(user, password)| format!("{user}:{password}@")).unwrap_or_default();
    let urls = hosts.trim_end_matches('/').split(',').map(|host| format!("redis://{login}{host}"));
    let infos: Vec<ConnectionInfo> = urls.map(|url| parsed(&url)).collect::<Result<_, _>>()?;
    // A blocking command may take its time; whoever is impatient has a limit of its own.
    let builder = ClusterClientBuilder::new(infos)
        .connection_timeout(options.connect_timeout)
        .response_timeout(options.reply_timeout * 2)
        .tcp_settings(tcp())
        .retries(1);
    builder.build().map(|client| Server::Cluster(Box::new(client))).map_err(wrong)
}

fn login(rest: &str) -> (Option<(&str, &str)>, &str) {
    match rest.rsplit_once('@') {
        Some((login, rest)) => (Some(login.split_once(':').unwrap_or(("", login))), rest),
        None => (None, rest),
    }
}

fn host_and_port(text: &str, usual: u16) -> Result<ConnectionAddr, ConnectError> {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) => (host, port.parse().ok()),
        None => (text, Some(usual)),
    };
    match port {
        Some(port) if !host.is_empty() => Ok(ConnectionAddr::Tcp(host.to_owned(), port)),
        _ => Err(ConnectError::Address(format!("{text:?} is no host:port"))),
    }
}

#[allow(clippy::needless_pass_by_value, reason = "it ends a chain of map_err")]
fn wrong(error: redis::RedisError) -> ConnectError {
    ConnectError::Address(error.to_string())
}
