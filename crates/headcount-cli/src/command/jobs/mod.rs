//! `headcount jobs`: lists, shows, retries, cancels and deletes jobs.

mod arguments;
mod change;
mod list;
mod show;

use std::io::Write;

pub(crate) use arguments::Arguments;

use super::reach::waited;
use crate::Stop;
use arguments::Command;
use change::Change;

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Stop> {
    let reach = &arguments.reach;
    waited(async {
        match &arguments.command {
            Command::List(wanted) => list::run(reach, wanted, out).await,
            Command::Show { ids, queue } => show::run(reach, queue.as_ref(), ids, out).await,
            Command::Retry(which) => change::run(reach, Change::Retry, which, out).await,
            Command::Cancel(which) => change::run(reach, Change::Cancel, which, out).await,
            Command::Delete(which) => change::run(reach, Change::Delete, which, out).await,
        }
    })
}
