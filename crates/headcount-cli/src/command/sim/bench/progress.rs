//! Tells how far a benchmark is, where somebody watches.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::command::duration::shown;

/// Counts the cells that are done, and says so where standard error is a terminal.
#[derive(Debug)]
pub(super) struct Progress {
    began: Instant,
    total: usize,
    done: AtomicUsize,
    is_watched: bool,
}

impl Progress {
    pub(super) fn of(total: usize) -> Self {
        let is_watched = io::stderr().is_terminal();
        Self { began: Instant::now(), total, done: AtomicUsize::new(0), is_watched }
    }

    /// One turn is over; a cell counts.
    pub(super) fn done(&self, is_cell: bool) {
        let done = self.done.fetch_add(usize::from(is_cell), Relaxed) + usize::from(is_cell);
        if self.is_watched {
            let line = line(done, self.total, self.began.elapsed());
            // Nobody is served by a failure to say how far we are.
            let _unheard = write!(io::stderr(), "\r{line}\x1b[K");
        }
    }

    /// Takes the line away.
    pub(super) fn over(&self) {
        if self.is_watched {
            let _unheard = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

fn line(done: usize, total: usize, passed: Duration) -> String {
    let cells = format!("{done}/{total} cells");
    match done {
        0 => cells,
        _ => {
            let left = passed.mul_f64(total.saturating_sub(done) as f64 / done as f64);
            format!("{cells}, {} left", shown(left))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_follows_from_what_is_done() {
        let minute = Duration::from_secs(60);
        assert_eq!(line(0, 90, minute), "0/90 cells");
        assert_eq!(line(30, 90, minute), "30/90 cells, 2m00s left");
    }
}
