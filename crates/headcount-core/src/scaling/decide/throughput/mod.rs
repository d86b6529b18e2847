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
//! - *Ramp*: every task that ends well lets two more begin, which triples the workers in the time
//!   of one task. Each *generation* of tasks is held against the best one before it: of its growth
//!   at least `gain_min` must be seen in throughput, on the logarithm. The less of it was seen, the
//!   fewer begin for a task, and the less far the ramp goes before the next generation is over.
//! - *Tasks that differ*: short ones end first. Of the first four of them one learns how lucky they
//!   were, so a generation has twelve, and they are counted rather than timed. A generation that
//!   might be short of something by chance goes on until it is clear.
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
//! - Where tasks differ, about one ramp in forty still ends too soon by chance; tries bring it up
//!   again, which takes seconds.

mod config;
mod decider;
mod generation;
mod settled;

pub use config::ThroughputConfig;
pub use decider::Throughput;
