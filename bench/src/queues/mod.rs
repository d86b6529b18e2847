//! The benchmark `queues`: what a queue is here, who takes part, and what is measured.
//!
//! Every producer and every worker is a process of its own: that is how queues are used, how
//! their time on a processor can be told apart, and what can be killed. A queue written in Rust
//! takes part behind [`Subject`], in a process of this program; others are small scripts that
//! speak the same lines. A new subject is a file that implements [`Subject`], and two lines in
//! `field.rs`.
//!
//! What is said between the processes is in `orders.rs`. The Redis that all of them use is
//! started here and ended here.

mod options;
mod field;
mod contest;
mod recovery;

mod enqueue;
mod drain;
mod latency;
mod idle;

mod stage;
mod server;
mod machine;
mod child;
mod crew;

mod orders;
mod inside;
mod tally;
mod ours;
mod peers;

pub use inside::child;
pub use tally::Tally;

use std::error::Error;
use std::future::Future;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use crate::measure_and_report_for;
use options::Options;

/// What went wrong inside a queue.
pub type Fault = Box<dyn Error + Send + Sync>;

/// Where the jobs are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a Redis at this address.
    Redis(String),
    /// In files in this folder, by one process at a time.
    Folder(PathBuf),
}

/// One queue system, seen from a process that uses it. A clone is another user of the same queue,
/// and costs little.
pub trait Subject: Clone + Send + Sync + Sized + 'static {
    /// Opens the queue.
    fn connect(place: &Place) -> impl Future<Output = Result<Self, Fault>> + Send;

    /// Enqueues one job, and returns when that is acknowledged.
    fn enqueue_one(&mut self, payload: String) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Enqueues some jobs with one call, and returns when all are acknowledged.
    fn enqueue_bulk(
        &mut self,
        payloads: Vec<String>,
    ) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Enqueues jobs one at a time from `in_flight` places at once.
    fn enqueue_concurrent(
        &mut self,
        payloads: Vec<String>,
        in_flight: usize,
    ) -> impl Future<Output = Result<(), Fault>> + Send {
        inside::from_many(self, payloads, in_flight)
    }

    /// Runs jobs, `concurrency` at once, for as long as the process lives. Each job awaits
    /// [`Tally::run`] with its payload and does nothing else.
    fn consume(
        self,
        concurrency: usize,
        tally: Arc<Tally>,
    ) -> impl Future<Output = Result<(), Fault>> + Send;
}

/// Reads the arguments, measures, and reports.
pub fn measure_and_report(words: Vec<String>) -> ExitCode {
    match Options::read(words) {
        Ok((options, asked)) => {
            measure_and_report_for(Ok(asked), |asked| contest::measure(options, asked))
        }
        Err(why) => measure_and_report_for(Err(why), |_| Ok(Vec::new())),
    }
}
