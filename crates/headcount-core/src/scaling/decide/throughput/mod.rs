//! Ours for a heap of work: more workers for as long as more gets done.
//!
//! Where work always waits, waiting times say nothing and every wait budget is missed; what counts
//! is how much gets done a second. So this decider does what a person with a stopwatch would do,
//! without waiting between tries:
//!
//! ```text
//!   Ramp  -- more no longer brings more, or the cores are full -->  Settled
//!   Settled  -- now and then -->  Trying a few more, or a few fewer  -->  Settled
//! ```
//!
//! - *Ramp*: every task that ends well lets one more begin, which doubles the workers in the time
//!   of one task. Each *generation* of tasks is held against the best one before it: of twice the
//!   workers at least `gain_min` of that must be seen in throughput, on the logarithm. Where
//!   nearly all of it was seen it hurries: two more for every task, until a generation says less.
//! - *Where it stops*: throughput times what a task took before, which by Little's law are the
//!   workers that were of use. Failed tasks are not throughput, so a downstream that refuses calls
//!   stops it the same way.
//! - *Cores*: who knows how much a task computes knows how many of them fill the machine. The shell
//!   says so as the external reading `cpu_fill`, and the ramp ends there without having to try.
//! - *Blind*: before anything has ended nothing is known. While nothing ends and the processors are
//!   idle (external reading `cpu_busy`) it doubles every `blind_span`, up to `blind_max`.
//! - *Trying*: a quarter more, then a fifth fewer, each for as long as it takes to tell; in smaller
//!   steps and ever more seldom while it finds nothing. Tasks that began under another limit tell
//!   of that one: what a change brings is measured once as many have ended as were at work.
//!
//! # What it cannot do
//!
//! - While nothing waits it learns nothing and moves nothing.
//! - It is a step late: at its first knee it has up to four times the workers that help, for about
//!   the time of one task.
//! - Tasks that grow longer in the order in which they come look like a knee, until a try says
//!   otherwise.
//! - A worker too many or too few is within the noise where tasks differ.

mod config;
mod decider;
mod generation;
mod settled;

pub use config::ThroughputConfig;
pub use decider::Throughput;
