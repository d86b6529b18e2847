//! Reads items on a thread of its own, so that a slow source holds up no retry.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::sync::mpsc::SyncSender;
use std::thread;

use super::plan::Source;
use super::split::{Delimiter, next_item};

/// How much is read at once.
const BUFFER: usize = 64 << 10;

/// What the feeder hears.
#[derive(Debug)]
pub(super) enum Message {
    /// The items of the next job.
    Items(Vec<Vec<u8>>),
    /// There are no more.
    End,
    /// They could not be read; the sentence says why.
    Fault(String),
    /// Something else has changed: look.
    Wake,
}

/// Opens the source and starts to read it.
pub(super) fn read(
    source: Source,
    delimiter: Delimiter,
    each: usize,
    to: SyncSender<Message>,
) -> io::Result<()> {
    let reader: Box<dyn FnOnce() + Send> = match source {
        Source::Words(words) => Box::new(move || send_words(words, each, &to)),
        Source::Stdin => Box::new(move || {
            send_all(&mut io::stdin().lock(), "standard input", delimiter, each, &to);
        }),
        Source::File(path) => {
            let file = open(&path)?;
            let name = path.display().to_string();
            let mut input = BufReader::with_capacity(BUFFER, file);
            Box::new(move || send_all(&mut input, &name, delimiter, each, &to))
        }
    };
    thread::Builder::new().name("input".to_owned()).spawn(reader)?;
    Ok(())
}

fn open(path: &Path) -> io::Result<File> {
    let named = |error: io::Error| {
        io::Error::new(error.kind(), format!("{} cannot be read: {error}", path.display()))
    };
    let file = File::open(path).map_err(named)?;
    match file.metadata().map_err(named)?.is_dir() {
        true => Err(named(io::Error::from(io::ErrorKind::IsADirectory))),
        false => Ok(file),
    }
}

fn send_words(words: Vec<Vec<u8>>, each: usize, to: &SyncSender<Message>) {
    let mut words = words.into_iter();
    loop {
        let items: Vec<_> = words.by_ref().take(each).collect();
        let message = if items.is_empty() { Message::End } else { Message::Items(items) };
        let is_last = matches!(message, Message::End);
        if to.send(message).is_err() || is_last {
            return;
        }
    }
}

/// Sends all items; ends early when nobody listens any more.
fn send_all(
    input: &mut impl BufRead,
    name: &str,
    delimiter: Delimiter,
    each: usize,
    to: &SyncSender<Message>,
) {
    let mut items = Vec::new();
    loop {
        let (message, is_last) = match next_item(input, delimiter) {
            Ok(Some(item)) => {
                items.push(item);
                if items.len() < each {
                    continue;
                }
                (Message::Items(std::mem::take(&mut items)), false)
            }
            Ok(None) if !items.is_empty() => (Message::Items(std::mem::take(&mut items)), false),
            Ok(None) => (Message::End, true),
            Err(error) => (Message::Fault(format!("{name} cannot be read: {error}")), true),
        };
        if to.send(message).is_err() || is_last {
            return;
        }
    }
}
