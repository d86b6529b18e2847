//! Everything that is printed goes through here, so that nothing is printed into something else.

use std::io::{self, IsTerminal, StdoutLock, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::order::Order;
use super::output::{Output, Stream};

/// How far jobs may run ahead of the one whose output is waited for.
pub(super) const AHEAD_MAX: u64 = 1_000;
/// Goes to the beginning of the line and clears it.
const CLEAR: &str = "\r\x1b[K";

/// Standard output and standard error, and a line at the bottom that says how far we are.
#[derive(Debug)]
pub(super) struct Screen {
    state: Mutex<State>,
    moved: Condvar,
}

#[derive(Debug)]
struct State {
    /// Holds back output, where its order is kept.
    order: Option<Order<Output>>,
    /// The line at the bottom, where one is shown.
    status: Option<String>,
    is_closed: bool,
}

impl Screen {
    pub(super) fn new(keeps_order: bool) -> Self {
        let order = keeps_order.then(Order::default);
        let state = State { order, status: None, is_closed: false };
        Self { state: Mutex::new(state), moved: Condvar::new() }
    }

    /// Whether somebody watches.
    pub(super) fn is_terminal() -> bool {
        io::stderr().is_terminal()
    }

    /// Shows what the job of this number printed, now or when it is its turn.
    pub(super) fn deliver(&self, number: u64, output: Option<Output>) {
        let mut state = self.lock();
        let due = match &mut state.order {
            Some(order) => order.put(number, output),
            None => output.into_iter().collect(),
        };
        state.show_all(due);
        drop(state);
        self.moved.notify_all();
    }

    /// Shows what is still held back, at the end of a run that left gaps.
    pub(super) fn deliver_rest(&self) {
        let mut state = self.lock();
        let rest = state.order.as_mut().map(Order::rest).unwrap_or_default();
        state.show_all(rest);
    }

    /// Waits until the job of this number is not too far ahead, but no longer than `timeout` or
    /// until somebody wakes it; says whether it is.
    pub(super) fn wait_for_turn(&self, number: u64, timeout: Duration) -> bool {
        let is_turn = |state: &State| {
            state.order.as_ref().is_none_or(|order| number < order.next() + AHEAD_MAX)
        };
        let state = self.lock();
        if is_turn(&state) {
            return true;
        }
        let waited = self.moved.wait_timeout(state, timeout);
        is_turn(&waited.unwrap_or_else(PoisonError::into_inner).0)
    }

    /// Whoever waits for a turn looks again.
    pub(super) fn wake(&self) {
        drop(self.lock());
        self.moved.notify_all();
    }

    /// Prints these bytes at once.
    pub(super) fn print(&self, stream: Stream, bytes: &[u8]) {
        let mut state = self.lock();
        state.around(|| match stream {
            Stream::Out => write_out(|out| out.write_all(bytes)),
            Stream::Err => {
                write_err(bytes);
                Ok(())
            }
        });
    }

    /// Says something of our own.
    pub(super) fn say(&self, sentence: &str) {
        self.print(Stream::Err, format!("headcount: {sentence}\n").as_bytes());
    }

    /// Puts another line at the bottom, or none.
    pub(super) fn draw(&self, status: Option<String>) {
        let mut state = self.lock();
        let had = state.status.is_some();
        state.status = status;
        match &state.status {
            Some(line) => write_err(format!("{CLEAR}{line}").as_bytes()),
            None if had => write_err(CLEAR.as_bytes()),
            None => {}
        }
    }

    /// Whether nobody reads our output any more.
    pub(super) fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn show_all(&mut self, outputs: Vec<Output>) {
        for mut output in outputs {
            self.around(|| {
                write_out(|out| output.show(Stream::Out, out))?;
                output.show(Stream::Err, &mut io::stderr().lock())
            });
        }
    }

    /// Takes the line at the bottom away, prints, and puts it back.
    fn around(&mut self, print: impl FnOnce() -> io::Result<()>) {
        if self.is_closed {
            return;
        }
        if self.status.is_some() {
            write_err(CLEAR.as_bytes());
        }
        self.is_closed = print().is_err();
        if let Some(line) = &self.status {
            write_err(line.as_bytes());
        }
    }
}

fn write_out(write: impl FnOnce(&mut StdoutLock<'_>) -> io::Result<()>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    write(&mut out)?;
    out.flush()
}

/// Where standard error is gone there is nobody left to tell.
fn write_err(bytes: &[u8]) {
    let _unheard = io::stderr().lock().write_all(bytes);
}
