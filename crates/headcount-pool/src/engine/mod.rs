//! The engine that both kinds of pool run on.
//!
#![doc = include_str!("README.md")]

mod aside;
mod badge;
mod deserted;
mod desk;
mod door;
mod errands;
mod floor;
mod hooks;
mod injection;
mod keeper;
mod leavers;
mod line;
mod lookout;
mod machine;
mod notice;
mod orphans;
mod pace;
mod patience;
mod porter;
mod ring;
mod room;
mod shells;
mod staff;
mod stamps;
mod tally;
mod timers;
mod watch;
mod watchdog;

use std::fmt::Debug;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};

use headcount_core::Name;
use headcount_core::roster::WorkerId;

use crate::pool::BuildFault;
use crate::task::Refusal;

pub(crate) use badge::{Badge, Signal};
pub(crate) use desk::{Desk, Standing};
pub(crate) use door::Shut;
pub(crate) use floor::{Entry, Stamp};
pub(crate) use hooks::WorkerHooks;
pub(crate) use keeper::keep;
pub(crate) use line::{Line, Order};

pub(crate) use machine::{Engine, Settings};
pub(crate) use notice::{QUICK, REPORT, TINY};
pub(crate) use pace::{Measured, Pace};
pub(crate) use patience::Patience;
pub(crate) use porter::{carried, is_porter_of};
pub(crate) use staff::Post;
pub(crate) use tally::{Counter, Fate};
pub(crate) use timers::{Alarm, Deadline};
pub(crate) use watch::Watch;

#[cfg(all(test, loom))]
#[path = "loom_tests.rs"]
mod loom;

/// What differs between a pool of threads and one of async tasks.
#[doc(hidden)]
pub trait Kind: Debug + Sized + Send + Sync + 'static {
    /// What a builder says of it.
    type Plan: Send + 'static;
    /// What waits in the line.
    type Work: Send + 'static;
    /// Where a parked worker sleeps.
    type Bed: Default + Send + Sync;
    /// What is left of a worker when it has ended.
    type Hand: Send + 'static;
    /// The turn of a task to run inside of the one that hands it over.
    type Turn: Default + Send;

    /// Whether a worker can run a task to its end without awaiting it.
    const RUNS_AT_ONCE: bool;

    /// Follows a plan, unless something is missing in it.
    fn open(plan: &Self::Plan) -> Result<Self, BuildFault>;

    /// Why no task is let in once the door is closed.
    fn refusal(&self) -> Refusal {
        Refusal::Closed
    }

    /// Whether the owner, where it is dropped, may wait for the workers to go.
    fn may_block(&self) -> bool;

    /// Wakes whoever sleeps there.
    fn rouse(bed: &Self::Bed);

    /// Starts a worker.
    fn start(engine: &Arc<Engine<Self>>, worker: WorkerId) -> io::Result<Self::Hand>;

    /// Waits until a worker that has ended is really gone.
    fn bury(hand: Self::Hand);

    /// Runs a task for its submitter, beside the workers.
    fn run_here(engine: &Arc<Engine<Self>>, work: Self::Work);

    /// Ready when it is its turn to run in the place of the task that is being polled.
    fn poll_turn(turn: &mut Self::Turn, context: &Context<'_>) -> Poll<()>;

    /// Runs a task for its submitter, who awaits its end.
    fn run_inside(
        engine: &Arc<Engine<Self>>,
        work: Self::Work,
        turn: Self::Turn,
    ) -> impl Future<Output = ()> + Send;

    /// Does what is left to do with a task for which there is no worker and none can be started.
    fn strand(engine: &Arc<Engine<Self>>, work: Self::Work);

    /// Tells whoever waits for a task that it does not run. False: somebody has counted it.
    fn give_up(work: &mut Self::Work, fate: Fate) -> bool;

    /// Takes a task off the books, if it is still to run, and says whether it was.
    fn hand_back(work: &mut Self::Work) -> bool;

    /// The class of a task, if it has one.
    fn class(work: &Self::Work) -> Option<Name>;

    /// Whether a task has ended in the line. If so, it is not counted as a shell any more: whoever
    /// asks takes it out.
    fn take_shell(work: &Self::Work) -> bool;
}
