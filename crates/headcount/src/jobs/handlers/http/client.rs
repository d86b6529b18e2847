//! The connections to services, kept open between jobs.

use std::time::Duration;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client as Connections, Error};
use hyper_util::rt::{TokioExecutor, TokioTimer};

use crate::jobs::handlers::HandlerError;

/// How long a connection may take to stand.
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// How long a connection is kept that nobody uses.
const IDLE_MAX: Duration = Duration::from_secs(30);

#[cfg(not(feature = "https"))]
type Connector = HttpConnector;
#[cfg(feature = "https")]
type Connector = hyper_rustls::HttpsConnector<HttpConnector>;

/// The connections of one handler.
pub(super) type Client = Connections<Connector, Full<Bytes>>;

pub(super) fn client(url: &hyper::Uri) -> Result<Client, HandlerError> {
    let mut connector = HttpConnector::new();
    connector.set_connect_timeout(Some(CONNECT_MAX));
    connector.set_nodelay(true);
    connector.enforce_http(false);
    Ok(Connections::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE_MAX)
        .build(secured(connector, url)?))
}

#[cfg(not(feature = "https"))]
fn secured(connector: HttpConnector, url: &hyper::Uri) -> Result<Connector, HandlerError> {
    match url.scheme_str() {
        Some("https") => Err(HandlerError::NoTls(url.to_string())),
        _ => Ok(connector),
    }
}

#[cfg(feature = "https")]
fn secured(connector: HttpConnector, _: &hyper::Uri) -> Result<Connector, HandlerError> {
    let builder = hyper_rustls::HttpsConnectorBuilder::new();
    let builder = builder
        .with_provider_and_native_roots(rustls::crypto::ring::default_provider())
        .map_err(|error| HandlerError::Certificates(error.to_string()))?;
    Ok(builder.https_or_http().enable_http1().wrap_connector(connector))
}

/// What went wrong with a request, down to the cause.
pub(super) fn told(error: &Error) -> String {
    let mut why = match error.is_connect() {
        true => "cannot be reached".to_owned(),
        false => "the request was cut off".to_owned(),
    };
    let mut cause = std::error::Error::source(error);
    // The innermost one says it best; those around it say the same with fewer words.
    while let Some(inner) = cause.and_then(std::error::Error::source) {
        cause = Some(inner);
    }
    if let Some(cause) = cause {
        why = format!("{why}: {cause}");
    }
    why
}
