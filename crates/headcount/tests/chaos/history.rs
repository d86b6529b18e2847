//! What happened, as those to whom it happened wrote it down.
//!
//! Every process appends lines to a file of its own, one `write` for each, so that a line is there
//! or not whatever becomes of the process. Times are nanoseconds of the machine's monotonic clock,
//! which all processes of the machine share and nobody sets.

use std::fmt;
use std::str::FromStr;

use headcount_core::jobs::JobId;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    /// When, in nanoseconds.
    pub(crate) at: u64,
    /// To which process.
    pub(crate) pid: u32,
    pub(crate) what: What,
}

/// What can happen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum What {
    /// A producer is about to submit this job.
    Submitting(JobId),
    /// The store said that it has it.
    Accepted(JobId),
    /// A handler began.
    Start(JobId, u64),
    /// A handler ended, and is about to be settled.
    End(JobId, u64, End),
    /// The store took how it ended.
    Taken(JobId, u64),
    /// The store refused it: somebody else holds the job by now.
    Stale(JobId, u64),
    /// The process was killed, as seen by whoever killed it, just before it did.
    Killed,
    /// The process learnt that it must stop, and takes no more.
    Stopping,
    /// The process is about to exit by itself.
    Exit,
    /// A schedule's job ran for this tick, in milliseconds since 1970.
    Tick(JobId, u64),
}

/// How a handler ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Well,
    Badly,
    /// Given back, unfinished.
    Back,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, pid, what } = self;
        write!(f, "{at} {pid} ")?;
        match what {
            What::Submitting(id) => write!(f, "submitting {id}"),
            What::Accepted(id) => write!(f, "accepted {id}"),
            What::Start(id, epoch) => write!(f, "start {id} {epoch}"),
            What::End(id, epoch, End::Well) => write!(f, "well {id} {epoch}"),
            What::End(id, epoch, End::Badly) => write!(f, "badly {id} {epoch}"),
            What::End(id, epoch, End::Back) => write!(f, "back {id} {epoch}"),
            What::Taken(id, epoch) => write!(f, "taken {id} {epoch}"),
            What::Stale(id, epoch) => write!(f, "stale {id} {epoch}"),
            What::Killed => f.write_str("killed"),
            What::Stopping => f.write_str("stopping"),
            What::Exit => f.write_str("exit"),
            What::Tick(id, tick) => write!(f, "tick {id} {tick}"),
        }
    }
}

impl FromStr for Entry {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, Self::Err> {
        parsed(line).ok_or_else(|| format!("{line:?} is no line of a history"))
    }
}

fn parsed(line: &str) -> Option<Entry> {
    let mut words = line.split(' ');
    let at = words.next()?.parse().ok()?;
    let pid = words.next()?.parse().ok()?;
    let word = words.next()?;
    let mut id = || words.next()?.parse::<JobId>().ok();
    let what = match word {
        "submitting" => What::Submitting(id()?),
        "accepted" => What::Accepted(id()?),
        "killed" => What::Killed,
        "stopping" => What::Stopping,
        "exit" => What::Exit,
        word => {
            let id = id()?;
            let epoch = words.next()?.parse().ok()?;
            match word {
                "start" => What::Start(id, epoch),
                "well" => What::End(id, epoch, End::Well),
                "badly" => What::End(id, epoch, End::Badly),
                "back" => What::End(id, epoch, End::Back),
                "taken" => What::Taken(id, epoch),
                "stale" => What::Stale(id, epoch),
                "tick" => What::Tick(id, epoch),
                _ => return None,
            }
        }
    };
    Some(Entry { at, pid, what })
}

/// All entries of some histories, in the order of time.
///
/// The last line of a process that was killed may have been cut; nothing else may.
pub(crate) fn read(texts: &[String]) -> Result<Vec<Entry>, String> {
    let mut entries = Vec::new();
    for text in texts {
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        for line in whole.lines().filter(|line| !line.is_empty()) {
            entries.push(line.parse::<Entry>()?);
        }
    }
    entries.sort_by_key(|entry| entry.at);
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let id = JobId::new(5, 6);
        let all = [
            What::Submitting(id),
            What::Accepted(id),
            What::Start(id, 3),
            What::End(id, 3, End::Well),
            What::End(id, 3, End::Badly),
            What::End(id, 3, End::Back),
            What::Taken(id, 3),
            What::Stale(id, 3),
            What::Killed,
            What::Stopping,
            What::Exit,
            What::Tick(id, 17),
        ];
        for what in all {
            let entry = Entry { at: 1, pid: 2, what };
            assert_eq!(entry.to_string().parse(), Ok(entry));
        }
    }

    #[test]
    fn a_last_line_that_was_cut_is_left_out() {
        let entries = read(&["5 1 exit\n7 1 sto".to_owned(), "3 2 killed\n".to_owned()]);
        let told: Vec<String> = entries.iter().flatten().map(ToString::to_string).collect();
        assert_eq!(told, ["3 2 killed", "5 1 exit"]);
        assert!(read(&["5 1 nonsense\n7 1 exit\n".to_owned()]).is_err());
    }
}
