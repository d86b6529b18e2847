//! Waiting for a permit: for a task as a future, for a thread as the same future and a place to
//! sleep.

use std::fmt;
use std::future::Future;
use std::mem::replace;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use headcount_core::{Clock, Timestamp};

use super::error::{AcquireTimeoutError, Closed};
use super::gate::Ticket;
use super::handle::Limiter;
use super::permit::Permit;
use super::stopwatch::Timing;
use crate::clock::Monotonic;
use crate::park::Parker;
use crate::sync::WakerArc;

/// Waits for a permit, on whichever runtime polls it.
///
/// It joins the queue when it is first polled. To drop it is to give up, and nothing is lost by
/// that, not even when its turn has come at that moment: the turn goes to the next one. A future
/// whose turn has come holds its place, polled or not; so drop those you no longer want.
///
/// ```
/// use headcount_pool::Limiter;
/// use std::pin::pin;
/// use std::task::{Context, Waker};
///
/// let limiter = Limiter::new(1);
/// let held = limiter.acquire()?;
///
/// let mut context = Context::from_waker(Waker::noop());
/// let mut waits = pin!(limiter.acquire_async());
/// assert!(waits.as_mut().poll(&mut context).is_pending());
/// drop(held);
/// assert!(waits.as_mut().poll(&mut context).is_ready());
/// # Ok::<(), headcount_pool::Closed>(())
/// ```
#[must_use = "a future does nothing until it is awaited"]
pub struct Acquire {
    stage: Stage,
}

enum Stage {
    Asking(Limiter),
    Waiting(Limiter, Ticket, Timestamp),
    Done,
}

impl Acquire {
    pub(super) fn new(limiter: Limiter) -> Self {
        Self { stage: Stage::Asking(limiter) }
    }

    /// Now, or later and then it waits from here on.
    fn ask(&mut self, waker: &Waker) -> Poll<Result<Option<Timing>, Closed>> {
        match &self.stage {
            Stage::Done => panic!("polled again after it was ready; acquire anew"),
            Stage::Waiting(limiter, ticket, since) => limiter.look(ticket, *since, waker),
            Stage::Asking(limiter) => match limiter.ask(waker) {
                Asked::Admitted(timing) => Poll::Ready(Ok(timing)),
                Asked::Closed => Poll::Ready(Err(Closed)),
                Asked::Waiting(ticket, since) => {
                    self.stage = Stage::Waiting(self.limiter(), ticket, since);
                    Poll::Pending
                }
            },
        }
    }

    /// Takes the limiter along into what comes after this stage.
    fn limiter(&mut self) -> Limiter {
        match replace(&mut self.stage, Stage::Done) {
            Stage::Asking(limiter) | Stage::Waiting(limiter, ..) => limiter,
            Stage::Done => panic!("it was asked for the last time before it was done"),
        }
    }
}

impl Future for Acquire {
    type Output = Result<Permit, Closed>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = self.ask(context.waker());
        answer.map(|answer| {
            let limiter = self.limiter();
            answer.map(|timing| Permit::new(limiter, timing))
        })
    }
}

impl Drop for Acquire {
    fn drop(&mut self) {
        if let Stage::Waiting(limiter, ticket, _) = replace(&mut self.stage, Stage::Done) {
            limiter.give_up(ticket);
        }
    }
}

impl fmt::Debug for Acquire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = match self.stage {
            Stage::Asking(_) => "asking",
            Stage::Waiting(..) => "waiting",
            Stage::Done => "done",
        };
        f.debug_struct("Acquire").field("stage", &stage).finish_non_exhaustive()
    }
}

/// What somebody is told who asks for the first time.
pub(super) enum Asked {
    Admitted(Option<Timing>),
    Closed,
    Waiting(Ticket, Timestamp),
}

/// A thread that waits.
pub(super) struct Blocked {
    acquire: Acquire,
    parker: WakerArc<Parker>,
    waker: Waker,
}

impl Blocked {
    pub(super) fn new(acquire: Acquire) -> Self {
        let parker = WakerArc::new(Parker::default());
        let waker = Waker::from(parker.clone());
        Self { acquire, parker, waker }
    }

    pub(super) fn wait(mut self) -> Result<Permit, Closed> {
        loop {
            match self.look() {
                Poll::Ready(answer) => return answer,
                Poll::Pending => self.parker.park(),
            }
        }
    }

    pub(super) fn wait_for(
        mut self,
        timeout: Duration,
        clock: Monotonic,
    ) -> Result<Permit, AcquireTimeoutError> {
        let deadline = clock.now() + timeout;
        loop {
            if let Poll::Ready(answer) = self.look() {
                return Ok(answer?);
            }
            if !self.parker.park_until(deadline, &clock) {
                break;
            }
        }
        // A turn that came with the deadline is taken.
        match self.look() {
            Poll::Ready(answer) => Ok(answer?),
            Poll::Pending => Err(AcquireTimeoutError::TimedOut),
        }
    }

    fn look(&mut self) -> Poll<Result<Permit, Closed>> {
        Pin::new(&mut self.acquire).poll(&mut Context::from_waker(&self.waker))
    }
}
