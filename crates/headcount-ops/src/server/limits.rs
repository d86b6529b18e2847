//! How much of everything there may be.

use std::time::Duration;

/// How much of everything there may be, so that no client can use up the process.
///
/// ```
/// use headcount_ops::Limits;
///
/// let limits = Limits { requests_max: 8, ..Limits::default() };
/// assert_eq!(limits.body_bytes_max, 2 << 20);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at once; more wait to be accepted. The default is 256.
    pub connections_max: usize,
    /// Requests at once; more are told to come again. The default is 64.
    pub requests_max: usize,
    /// Bytes of a request's body. The default is 2 MiB.
    pub body_bytes_max: usize,
    /// Bytes of a job's payload. The default is 1 MiB.
    pub payload_bytes_max: usize,
    /// How long a client may take to send a request's head, and again its body. The default is
    /// 10 s.
    pub read_time_max: Duration,
    /// How long the store or the pools may take to answer. The default is 10 s.
    pub store_time_max: Duration,
    /// How long a connection is kept; then its client has to make another. The default is 5
    /// minutes.
    pub connection_time_max: Duration,
}

impl Limits {
    /// Bytes of a request's head.
    pub const HEAD_BYTES_MAX: usize = 16 << 10;
    /// Headers of a request.
    pub const HEADERS_MAX: usize = 64;
    /// Jobs of one submit.
    pub const JOBS_MAX: usize = 1000;
    /// How long a request may take in all. Its parts have limits of their own.
    pub const REQUEST_TIME_MAX: Duration = Duration::from_secs(60);
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections_max: 256,
            requests_max: 64,
            body_bytes_max: 2 << 20,
            payload_bytes_max: 1 << 20,
            read_time_max: Duration::from_secs(10),
            store_time_max: Duration::from_secs(10),
            connection_time_max: Duration::from_secs(300),
        }
    }
}
