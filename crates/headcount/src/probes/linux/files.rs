//! Reads small files below a root.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Longer files are cut off: a table of mounts may be long, no other file that we read is.
const LEN_MAX: u64 = 4 << 20;

/// Files below a root, one at a time, through one buffer.
#[derive(Debug)]
pub(super) struct Files {
    root: PathBuf,
    buffer: Vec<u8>,
}

impl Files {
    pub(super) fn below(root: PathBuf) -> Self {
        Self { root, buffer: Vec::new() }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Where the absolute path of the system lies below the root.
    pub(super) fn place(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The text of a file. `None`: it cannot be read or is no text.
    pub(super) fn text(&mut self, place: &Path) -> Option<&str> {
        str::from_utf8(self.bytes(place)?).ok()
    }

    /// The text of a file in which others may have written what is no text.
    pub(super) fn tolerant_text(&mut self, place: &Path) -> Option<Cow<'_, str>> {
        self.bytes(place).map(String::from_utf8_lossy)
    }

    fn bytes(&mut self, place: &Path) -> Option<&[u8]> {
        self.buffer.clear();
        let file = File::open(place).ok()?;
        file.take(LEN_MAX).read_to_end(&mut self.buffer).ok()?;
        Some(&self.buffer)
    }

    /// The beginning of a file whose end does not matter to us.
    pub(super) fn beginning(&mut self, place: &Path) -> Option<&str> {
        const LEN: usize = 512;
        self.buffer.resize(LEN, 0);
        let len = File::open(place).ok()?.read(&mut self.buffer).ok()?;
        str::from_utf8(&self.buffer[..len]).ok()
    }

    /// The only number in a file.
    pub(super) fn number(&mut self, place: &Path) -> Option<u64> {
        self.text(place)?.trim().parse().ok()
    }
}

/// How many entries a directory has.
pub(super) fn entries(place: &Path) -> Option<u64> {
    Some(fs::read_dir(place).ok()?.count() as u64)
}
