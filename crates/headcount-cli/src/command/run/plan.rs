//! What is to be done: the flags, checked and put together.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::time::Duration;

use super::arguments::Arguments;
use super::halt::Halt;
use super::resume::Resume;
use super::split::Delimiter;
use super::template::Template;
use crate::Stop;

/// Where items come from.
#[derive(Debug)]
pub(super) enum Source {
    Stdin,
    File(PathBuf),
    Words(Vec<Vec<u8>>),
}

/// What happens to the output of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Printing {
    /// All of a job at once.
    Grouped,
    /// Lines as they come.
    Lines,
    /// Not by us.
    Inherited,
}

/// What is to be done with each item.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(super) struct Plan {
    pub(super) template: Template,
    pub(super) printing: Printing,
    pub(super) keep_order: bool,
    pub(super) is_tagged: bool,
    pub(super) is_verbose: bool,
    pub(super) is_quiet: bool,
    pub(super) tries_max: u32,
    pub(super) retry_delay: Duration,
    pub(super) timeout: Option<Duration>,
    pub(super) kill_after: Duration,
    pub(super) halt: Halt,
    pub(super) resume: Option<Resume>,
}

impl Plan {
    pub(super) fn of(arguments: &Arguments, command: &[OsString]) -> Self {
        let printing = match (arguments.ungroup, arguments.line_buffer) {
            (true, _) => Printing::Inherited,
            (false, true) => Printing::Lines,
            (false, false) => Printing::Grouped,
        };
        let resume = match (arguments.resume_failed, arguments.resume) {
            (true, _) => Some(Resume::Succeeded),
            (false, true) => Some(Resume::Ended),
            (false, false) => None,
        };
        Self {
            template: Template::parse(command, arguments.replace.as_deref(), arguments.shell),
            printing,
            keep_order: arguments.keep_order,
            is_tagged: arguments.tag,
            is_verbose: arguments.verbose,
            is_quiet: arguments.quiet,
            tries_max: arguments.retries,
            retry_delay: arguments.retry_delay,
            timeout: arguments.timeout,
            kill_after: arguments.kill_after,
            halt: if arguments.fail_fast { Halt::Now(1) } else { arguments.halt },
            resume,
        }
    }
}

/// Tells the command from the items: `COMMAND... ::: ITEMS...`, `COMMAND... :::: FILE`.
pub(super) fn split_command(arguments: &Arguments) -> Result<(Vec<OsString>, Source), Stop> {
    let is_mark = |word: &OsString| word == ":::" || word == "::::";
    let words = &arguments.command;
    let stdin_or_file = || match &arguments.arg_file {
        Some(file) if file != OsStr::new("-") => Source::File(file.clone()),
        _ => Source::Stdin,
    };
    let Some(at) = words.iter().position(is_mark) else {
        return named(words).map(|command| (command, stdin_or_file()));
    };
    let (command, items) = (named(&words[..at])?, &words[at + 1..]);
    if arguments.arg_file.is_some() {
        let mark = words[at].display();
        return misused(format!("items come from --arg-file and from {mark}; give one of them"));
    }
    if let Some(again) = items.iter().find(|word| is_mark(word)) {
        let again = again.display();
        return misused(format!("{again} stands a second time; headcount takes one list of items"));
    }
    match (words[at] == "::::", items) {
        (true, [file]) => Ok((command, Source::File(PathBuf::from(file)))),
        (true, files) => misused(format!(":::: takes one file, and not {}", files.len())),
        (false, items) => {
            let items = items.iter().map(|item| item.clone().into_vec()).collect();
            Ok((command, Source::Words(items)))
        }
    }
}

fn named(words: &[OsString]) -> Result<Vec<OsString>, Stop> {
    match words {
        [] => misused("there is no command to run; try `headcount run echo {} ::: a b`".to_owned()),
        words => Ok(words.to_vec()),
    }
}

fn misused<T>(sentence: String) -> Result<T, Stop> {
    Err(Stop::Misused(sentence))
}

/// How items are told apart.
pub(super) fn delimiter(arguments: &Arguments) -> Delimiter {
    match (arguments.null, arguments.delimiter) {
        (true, _) => Delimiter::Byte(0),
        (false, Some(delimiter)) => delimiter,
        (false, None) => Delimiter::Line,
    }
}
