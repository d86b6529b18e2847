//! One thing that is wrong, and where.

use std::fmt;

/// Reads `path:line: what is wrong, the value, what is allowed`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fault {
    path: String,
    line: usize,
    what: String,
}

impl Fault {
    /// Lines count from 1, as editors count them.
    pub(crate) fn new(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}
