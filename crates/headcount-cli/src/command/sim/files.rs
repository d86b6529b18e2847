//! Files that are written, and how those that are wrong are told of.

use std::fs::{self, OpenOptions};
use std::path::Path;

use crate::Stop;

/// What is wrong with a file, with its name before it.
pub(super) fn refused(file: &Path, why: &str) -> Stop {
    Stop::Misused(format!("{}: {why}", file.display()))
}

/// An hour is a long time to find out that a file has no place.
pub(super) fn can_be_written(file: &Path) -> Result<(), Stop> {
    let opened = OpenOptions::new().create(true).append(true).open(file);
    opened.map(drop).map_err(|error| unwritten(file, &error))
}

/// Writes a whole file.
pub(super) fn put(file: &Path, text: &str) -> Result<(), Stop> {
    fs::write(file, text).map_err(|error| unwritten(file, &error))
}

fn unwritten(file: &Path, error: &std::io::Error) -> Stop {
    refused(file, &format!("it cannot be written: {error}"))
}
