//! How far a promise is, and what is left of a task that has ended.

use std::task::Waker;

use super::error::TaskError;
use crate::engine::carried;
use crate::group::Messenger;
use crate::unhurt::{drop_quietly, quietly};

/// How far a promise is.
pub(super) struct State<F, T> {
    pub(super) stage: Stage<F, T>,
    /// Who waits for the outcome.
    pub(super) waiting: Option<Waker>,
    /// Who announces the end when it is dropped.
    pub(super) herald: Option<Messenger>,
}

impl<F, T> State<F, T> {
    pub(super) fn is_waiting(&self) -> bool {
        matches!(self.stage, Stage::Waiting(_))
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(self.stage, Stage::Running(_))
    }

    /// Who polls the future that runs, if somebody does. `None`: it does not run.
    pub(super) fn runner(&mut self) -> Option<&mut Option<Waker>> {
        match &mut self.stage {
            Stage::Running(runner) => Some(runner),
            _ => None,
        }
    }
}

pub(super) enum Stage<F, T> {
    Waiting(F),
    /// With whoever polls it, if it is a future.
    Running(Option<Waker>),
    Done(Result<T, TaskError>),
    Over,
}

/// What is left of a task that has ended, to be dropped, told and woken; all of it the user's.
pub(super) struct Ended<F, T> {
    pub(super) before: Stage<F, T>,
    pub(super) herald: Option<Messenger>,
    pub(super) waiting: Option<Waker>,
}

impl<F: Send + 'static, T: Send + 'static> Ended<F, T> {
    pub(super) fn announce(self) {
        match self.before {
            // What it held may block where it is dropped, which is not the keeper's to wait for.
            Stage::Waiting(task) => carried(move || drop_quietly(task)),
            Stage::Running(None) => {}
            other => drop_quietly(other),
        }
        drop(self.herald);
        if let Some(waker) = self.waiting {
            quietly(|| waker.wake());
        }
    }
}
