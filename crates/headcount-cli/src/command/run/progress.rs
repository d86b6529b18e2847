//! Tells how far a run is: a line that stays at the bottom of a terminal, or a line now and then.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::pace::Pace;
use super::settling::Run;
use super::sizing::Crew;
use crate::command::duration::shown;

/// How often it tells, on a terminal and elsewhere.
const EVERY: Duration = Duration::from_millis(200);
const EVERY_PLAIN: Duration = Duration::from_secs(5);
/// The width that is assumed where a terminal does not tell its own.
const WIDTH: usize = 80;

/// Where it tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Bottom,
    Lines,
}

/// What there is to tell.
#[derive(Clone, Debug, Default, PartialEq)]
struct Report {
    ended: u64,
    failed: u64,
    /// How many there are in all, once that is known.
    total: Option<u64>,
    per_second: f64,
    busy: u32,
    ceiling: u32,
    why: String,
}

impl Report {
    fn line(&self) -> String {
        let mut parts = vec![match self.total {
            Some(total) => format!("{}/{total} done", self.ended),
            None => format!("{} done", self.ended),
        }];
        if 0 < self.failed {
            parts.push(format!("{} failed", self.failed));
        }
        parts.push(format!("{:.1}/s", self.per_second));
        parts.extend(self.left());
        parts.push(format!("{} of {} at work", self.busy, self.ceiling));
        let why = if self.why.is_empty() { String::new() } else { format!(" ({})", self.why) };
        parts.join(", ") + &why
    }

    /// How long it still takes. Once all are at work, it takes as long as the longest of them, and
    /// how many ended before says nothing of that.
    fn left(&self) -> Option<String> {
        let left = self.total?.saturating_sub(self.ended);
        if left <= u64::from(self.busy) {
            return None;
        }
        let eta = Duration::try_from_secs_f64(left as f64 / self.per_second).ok()?;
        Some(format!("{} left", shown(eta)))
    }
}

/// Tells until it is dropped.
#[derive(Debug)]
pub(super) struct Progress {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    pub(super) fn start(run: &Arc<Run>, crew: Crew, place: Place) -> std::io::Result<Self> {
        let (stop, stopped) = channel();
        let run = Arc::clone(run);
        let thread = thread::Builder::new()
            .name("progress".to_owned())
            .spawn(move || tell(&run, &crew, place, &stopped))?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.stop = None;
        // It only draws; that it panicked would have been said.
        let _ended = self.thread.take().map(JoinHandle::join);
    }
}

fn tell(run: &Run, crew: &Crew, place: Place, stopped: &Receiver<()>) {
    let every = if place == Place::Bottom { EVERY } else { EVERY_PLAIN };
    let (begun, mut pace) = (Instant::now(), Pace::new());
    while stopped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
        let ended = run.tally.ended();
        let (busy, ceiling, why) = crew.now();
        let report = Report {
            ended,
            failed: run.tally.failed.load(Relaxed),
            total: run.total(),
            per_second: pace.per_second(begun.elapsed(), ended),
            busy,
            ceiling,
            why,
        };
        match place {
            Place::Bottom => run.screen.draw(Some(cut(&report.line(), width()))),
            Place::Lines => run.screen.say(&report.line()),
        }
    }
    run.screen.draw(None);
}

/// No longer than a line of the terminal, which could not be taken away again.
fn cut(line: &str, width: usize) -> String {
    line.chars().filter(|c| !c.is_control()).take(width.saturating_sub(1)).collect()
}

fn width() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stderr()).ok();
    // A terminal that was never told its own has none.
    let columns = size.map(|size| usize::from(size.ws_col)).filter(|columns| 0 < *columns);
    columns.unwrap_or(WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_tells_what_is_known() {
        let mut report =
            Report { ended: 40, per_second: 8.0, busy: 3, ceiling: 4, ..Report::default() };
        assert_eq!(report.line(), "40 done, 8.0/s, 3 of 4 at work");
        report.total = Some(1000);
        report.failed = 2;
        report.why = "hold 4".to_owned();
        let line = "40/1000 done, 2 failed, 8.0/s, 2m00s left, 3 of 4 at work (hold 4)";
        assert_eq!(report.line(), line);
    }

    #[test]
    fn the_last_ones_take_as_long_as_they_take() {
        let report = Report { ended: 97, total: Some(100), per_second: 0.01, ..Report::default() };
        let with = |busy| Report { busy, ceiling: 8, ..report.clone() }.line();
        assert_eq!(with(2), "97/100 done, 0.0/s, 5m00s left, 2 of 8 at work");
        assert_eq!(with(3), "97/100 done, 0.0/s, 3 of 8 at work");
        let stalled = Report { per_second: 0.0, ..report };
        assert_eq!(stalled.line(), "97/100 done, 0.0/s, 0 of 0 at work");
    }

    #[test]
    fn it_fits_on_one_line() {
        assert_eq!(cut("abc\tdef", 5), "abcd");
    }
}
