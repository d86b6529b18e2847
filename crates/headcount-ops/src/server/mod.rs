//! Connections, and who may ask anything at all.
//!
//! One task for each connection, one for each request in it: what a request does goes on when its
//! client goes away, and where it panics the connection and the server live.

mod connections;
mod door;
mod limits;
mod requests;

pub(crate) use connections::accept;
pub(crate) use door::Hosts;
pub use limits::Limits;
pub(crate) use requests::Desk;
