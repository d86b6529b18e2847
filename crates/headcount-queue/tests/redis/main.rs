//! The store on a real redis-server, which the tests start themselves.

#![cfg(all(feature = "redis", feature = "conformance"))]

mod server;
mod subject;
mod conformance;
mod allowed;
mod faults;
mod crowds;
mod runtimes;
mod strangers;
mod scene;
mod repairs;
mod idle;
mod clock;
mod garbled;
mod topology;
#[cfg(feature = "redis-tls")]
mod sealed;
