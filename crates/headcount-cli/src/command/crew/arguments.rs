//! The flags that `serve` and `work` share.

use std::path::PathBuf;
use std::time::Duration;

use headcount::Workers;
use headcount_core::jobs::Label;

use crate::command::duration;
use crate::command::reach::Place;

/// Which jobs are run, and by how many workers.
#[derive(Debug, clap::Args)]
pub(crate) struct CrewArguments {
    /// Where the jobs are: a directory, redis://HOST:PORT or rediss://HOST:PORT. Otherwise what the
    /// file of --config says, otherwise `$HEADCOUNT_DATA`, otherwise ./headcount-data.
    #[arg(long, value_name = "PLACE")]
    pub(crate) store: Option<Place>,
    /// A file with queues, handlers, schedules and rules; docs/jobs.md says what it can hold.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Only this queue; may be said several times. Otherwise those of the file, or `default`.
    #[arg(short, long)]
    pub(crate) queue: Vec<Label>,
    /// How many jobs of a queue run at once, at least and at most: 4..=64, or 8 for exactly 8.
    #[arg(long, value_name = "MIN..=MAX", value_parser = workers)]
    pub(crate) workers: Option<Workers>,
    /// No job shall wait longer than this, as far as the workers allow; 1s.
    #[arg(long, value_name = "SPAN", value_parser = duration::parse)]
    pub(crate) slo: Option<Duration>,
    /// How long running jobs may go on after SIGTERM, Ctrl-C or SIGHUP.
    #[arg(long, value_name = "SPAN", value_parser = duration::parse, default_value = "25s")]
    pub(crate) grace: Duration,
    /// Tells every failure of a job, not only the last ones.
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

fn workers(text: &str) -> Result<Workers, String> {
    let refused = || format!("{text:?} is no number of workers; write 1..=64, ..=64 or 8");
    let number = |part: &str| part.trim().parse::<u32>().map_err(|_| refused());
    let workers = match text.split_once("..") {
        None => Workers::from(number(text)?),
        Some((min, max)) => {
            let min = if min.trim().is_empty() { 1 } else { number(min)? };
            Workers::from(min..=number(max.strip_prefix('=').unwrap_or(max))?)
        }
    };
    match workers {
        Workers { min, max } if max < min => Err(format!("at most {max} is below at least {min}")),
        Workers { max: 0, .. } => Err("0 workers would run nothing".to_owned()),
        workers => Ok(workers),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<(u32, u32)>) {
        let workers = workers(text).ok().map(|workers| (workers.min, workers.max));
        assert_eq!(workers, expected, "{text}");
    }

    #[test]
    fn workers_are_a_number_or_a_range() {
        check("8", Some((8, 8)));
        check("2..=64", Some((2, 64)));
        check("2..64", Some((2, 64)));
        check("..=64", Some((1, 64)));
        check("0..=4", Some((0, 4)));
        for text in ["", "0", "x", "5..=3", "1..=", "-1", "0..=0"] {
            check(text, None);
        }
    }
}
