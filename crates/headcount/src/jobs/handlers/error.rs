//! Why a program or a service cannot be called at all.

use std::fmt;

/// Why a program or a service cannot be called at all.
///
/// ```
/// use headcount::jobs::handlers::Http;
///
/// let error = Http::new("ftp://host/jobs").expect_err("not by that protocol");
/// assert_eq!(
///     error.to_string(),
///     "\"ftp://host/jobs\" cannot be called; a URL is needed, such as http://host:8080/jobs",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HandlerError {
    /// What it calls cannot be called, for this reason.
    Target(String, String),
    /// The URL is of https, and this build has no TLS.
    NoTls(String),
    /// A header of this name or its value cannot be sent.
    Header(String),
    /// The certificates of this machine cannot be read, for this reason.
    Certificates(String),
}

impl fmt::Display for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Target(url, why) => write!(f, "{url:?} cannot be called; {why}"),
            Self::NoTls(url) => write!(
                f,
                "{url:?} cannot be called; this build speaks no TLS, build it with the feature \
                 `https` or call http behind a proxy",
            ),
            Self::Header(name) => {
                write!(f, "the header {name:?} cannot be sent; use plain ASCII on one line")
            }
            Self::Certificates(why) => {
                write!(f, "the certificates of this machine cannot be read: {why}")
            }
        }
    }
}

impl std::error::Error for HandlerError {}
