//! The repository in memory, as the rules see it.
//!
//! Everything below the root is read, tracked or not: what is about to be committed counts. Build
//! output is recognised by the tag that cargo puts into it.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use super::source::Source;

/// A text longer than this is data, not something that somebody wrote.
const TEXT_BYTES_MAX: u64 = 4 << 20;

/// All files of the repository.
#[derive(Debug, Default)]
pub(crate) struct House {
    /// Those that are text, in order of their paths.
    pub(crate) files: Vec<File>,
    /// The paths of all files and directories, text or not.
    paths: BTreeSet<String>,
}

/// A text file.
#[derive(Debug)]
pub(crate) struct File {
    /// From the root, with `/` between the parts.
    pub(crate) path: String,
    pub(crate) text: String,
    /// Its parts, when it is Rust.
    pub(crate) source: Option<Source>,
}

impl House {
    pub(crate) fn read(root: &Path) -> io::Result<Self> {
        let mut house = Self::default();
        house.enter(root, "")?;
        house.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(house)
    }

    /// Whether a file or directory is there.
    pub(crate) fn has(&self, path: &str) -> bool {
        path.is_empty() || self.paths.contains(path)
    }

    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The documents.
    pub(crate) fn markdown(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| has_extension(&file.path, "md"))
    }

    /// The Rust files, with their parts.
    pub(crate) fn rust(&self) -> impl Iterator<Item = (&File, &Source)> {
        self.files.iter().filter_map(|file| Some((file, file.source.as_ref()?)))
    }

    fn enter(&mut self, directory: &Path, prefix: &str) -> io::Result<()> {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            let kind = entry.file_type()?;
            if kind.is_dir() && is_ours(&entry.path(), &name) {
                self.paths.insert(path.clone());
                self.enter(&entry.path(), &format!("{path}/"))?;
            } else if kind.is_file() {
                if entry.metadata()?.len() <= TEXT_BYTES_MAX {
                    self.take(&path, fs::read(entry.path())?);
                }
                self.paths.insert(path);
            }
        }
        Ok(())
    }

    fn take(&mut self, path: &str, bytes: Vec<u8>) {
        // What is not UTF-8 is a picture or the like: it has a path, and no words.
        let Ok(text) = String::from_utf8(bytes) else { return };
        let source = has_extension(path, "rs").then(|| Source::split(&text));
        self.files.push(File { path: path.to_owned(), text, source });
    }

    /// A made-up house.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let mut house = Self::default();
        for (path, text) in files {
            house.take(path, text.as_bytes().to_vec());
            let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
            house.paths.extend(ends.map(|end| path[..end].to_owned()));
        }
        house
    }
}

impl File {
    /// The lines with their numbers, from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        numbered(&self.text)
    }

    /// The part of the path after the last `/`.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

/// The lines of a text with their numbers, from 1.
pub(crate) fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(index, line)| (index + 1, line))
}

fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path).extension().is_some_and(|found| found == extension)
}

fn is_ours(directory: &Path, name: &str) -> bool {
    name != ".git" && !directory.join("CACHEDIR.TAG").exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_there_as_well_as_files() {
        let house = House::of(&[("docs/adr/0001-a.md", "")]);
        for path in ["", "docs", "docs/adr", "docs/adr/0001-a.md"] {
            assert!(house.has(path), "{path:?}");
        }
        assert!(!house.has("docs/ad"));
    }
}
