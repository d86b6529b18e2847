//! What the demo shows while it runs: a picture that is drawn over, or a line now and then.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

/// The longest bar.
const BAR: usize = 40;
/// How many jobs or workers a character of a bar stands for, at first.
const JOBS_EACH: u64 = 5;
/// The most characters of a line; a terminal breaks longer ones, and the picture with them.
const LINE_MAX: usize = 79;

/// The demo at one instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) at: Duration,
    pub(super) span: Duration,
    pub(super) submitted: u64,
    pub(super) waiting: u64,
    pub(super) done: u64,
    pub(super) retried: u64,
    pub(super) live: u32,
    pub(super) busy: u32,
    pub(super) max: u32,
    pub(super) why: String,
}

/// Where it is shown.
#[derive(Debug)]
pub(super) struct Picture {
    is_terminal: bool,
    /// How many lines the last one had.
    drawn: usize,
}

impl Picture {
    pub(super) fn new() -> Self {
        Self { is_terminal: io::stdout().is_terminal(), drawn: 0 }
    }

    /// How often it is worth showing another.
    pub(super) fn every(&self) -> Duration {
        Duration::from_millis(if self.is_terminal { 200 } else { 1000 })
    }

    pub(super) fn show(&mut self, moment: &Moment, out: &mut impl Write) -> io::Result<()> {
        if !self.is_terminal {
            writeln!(out, "{}", moment.line())?;
            return out.flush();
        }
        if 0 < self.drawn {
            // Up to where the last one began, and over it.
            write!(out, "\x1b[{}A", self.drawn)?;
        }
        let lines = moment.lines();
        for line in &lines {
            writeln!(out, "\x1b[K{}", cut(line))?;
        }
        self.drawn = lines.len();
        out.flush()
    }
}

impl Moment {
    /// All of it in one line.
    fn line(&self) -> String {
        format!(
            "{:>3} s  waiting {:>5}  workers {:>2} of {}  done {:>5}  tried again {:>3}  {}",
            self.at.as_secs(),
            self.waiting,
            self.live,
            self.max,
            self.done,
            self.retried,
            self.why,
        )
    }

    fn lines(&self) -> [String; 5] {
        let workers = format!("{}{}", "#".repeat(count(self.busy)), "-".repeat(self.idle()));
        [
            format!("  time     {} of {} s", self.at.as_secs(), self.span.as_secs()),
            format!("  waiting  {:<BAR$} {}", bar(self.waiting / JOBS_EACH), self.waiting),
            format!("  workers  {workers:<BAR$} {} of {}", self.live, self.max),
            format!(
                "  jobs     {} in, {} done, {} tried again",
                self.submitted, self.done, self.retried
            ),
            format!("  why      {}", self.why),
        ]
    }

    fn idle(&self) -> usize {
        count(self.live.saturating_sub(self.busy))
    }
}

fn count(number: u32) -> usize {
    usize::try_from(number).unwrap_or(BAR).min(BAR)
}

/// As long as the number, but no longer than there is room.
fn bar(len: u64) -> String {
    match usize::try_from(len) {
        Ok(len) if len <= BAR => "=".repeat(len),
        _ => "=".repeat(BAR - 1) + ">",
    }
}

fn cut(line: &str) -> String {
    line.chars().filter(|c| !c.is_control()).take(LINE_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment() -> Moment {
        Moment {
            at: Duration::from_secs(7),
            span: Duration::from_secs(30),
            submitted: 240,
            waiting: 30,
            done: 200,
            retried: 9,
            live: 4,
            busy: 3,
            max: 16,
            why: "grow 3 to 4".to_owned(),
        }
    }

    #[test]
    fn a_moment_fits_in_a_line() {
        let line =
            "  7 s  waiting    30  workers  4 of 16  done   200  tried again   9  grow 3 to 4";
        assert_eq!(moment().line(), line);
    }

    #[test]
    fn bars_end_where_there_is_no_more_room() {
        assert_eq!([0, 3].map(bar), ["", "==="]);
        assert_eq!(bar(41).len(), BAR);
        assert!(bar(u64::MAX).ends_with('>'));
    }

    #[test]
    fn a_picture_is_drawn_over_the_last() {
        let mut picture = Picture { is_terminal: true, drawn: 0 };
        let mut out = Vec::new();
        picture.show(&moment(), &mut out).expect("memory takes it");
        let first = out.len();
        picture.show(&moment(), &mut out).expect("memory takes it");
        let text = String::from_utf8(out).expect("it is text");
        assert!(!text[..first].contains("\x1b[5A"));
        assert!(text[first..].starts_with("\x1b[5A\x1b[K  time     7 of 30 s\n"), "{text}");
        assert!(text.contains("###-"), "{text}");
    }
}
