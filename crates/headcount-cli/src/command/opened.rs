//! Files that are read; a folder in the place of one is told as such.

use std::fs::File;
use std::io;
use std::path::Path;

/// Opens a file. A folder can be opened as well, and fails at the first look into it.
pub(super) fn open(path: &Path) -> io::Result<File> {
    is_no_folder(path)?;
    File::open(path)
}

/// What is there is not a folder.
pub(super) fn is_no_folder(path: &Path) -> io::Result<()> {
    match path.is_dir() {
        true => Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory; give a file")),
        false => Ok(()),
    }
}
