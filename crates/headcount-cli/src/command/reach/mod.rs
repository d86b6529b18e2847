//! How a command reaches the jobs it is about: ADR 0023.
//!
//! Every command asks what the admin API answers. Where a server has the store open, it is asked
//! over its socket; where none has, the same answers are given within this process.

mod arguments;
mod place;
mod name;
mod served;

mod connection;
mod opened;
mod remote;
mod within;

mod path;
mod queue;

pub(crate) use arguments::Reach;
pub(crate) use opened::{Opened, connect, open_for_work};
pub(crate) use path::Path;
pub(crate) use place::Place;
pub(crate) use queue::{find_job, queues};
pub(crate) use remote::{Remote, Unanswered};
pub(crate) use served::{Posted, Served};

use std::future::Future;

use crate::Stop;

/// Runs what waits for answers, to its end.
pub(crate) fn waited<T>(work: impl Future<Output = Result<T, Stop>>) -> Result<T, Stop> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(work);
    // What a store still does in the background ends with the process.
    runtime.shutdown_background();
    done
}
