//! Why a store could not be opened.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use headcount_core::jobs::port::StoreError;

/// Why a store could not be opened. Nothing was changed.
///
/// ```
/// use headcount_queue::embedded::OpenError;
///
/// let error = OpenError::InUse { path: "/var/lib/headcount/lock".into(), pid: Some(17) };
/// assert_eq!(
///     error.to_string(),
///     "/var/lib/headcount/lock is held by process 17; one process has a store at a time, so ask \
///      that one (headcount commands do when it serves), or stop it",
/// );
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// Another process has it.
    InUse {
        /// The file that says so.
        path: PathBuf,
        /// Who that is, if it wrote it down.
        pid: Option<u32>,
    },
    /// The file holds what this version does not read.
    Format {
        /// Which file.
        file: String,
        /// What was found.
        found: String,
    },
    /// The file is damaged.
    Damaged {
        /// Which file.
        file: String,
        /// What was found.
        found: String,
    },
    /// The disk did not do what it was asked.
    Disk {
        /// Which file.
        file: String,
        /// What it said.
        error: Arc<io::Error>,
    },
}

impl OpenError {
    pub(crate) fn disk(file: impl fmt::Display, error: io::Error) -> Self {
        Self::Disk { file: file.to_string(), error: Arc::new(error) }
    }

    pub(crate) fn damaged(file: impl fmt::Display, found: impl fmt::Display) -> Self {
        Self::Damaged { file: file.to_string(), found: found.to_string() }
    }

    pub(crate) fn format(file: impl fmt::Display, found: impl fmt::Display) -> Self {
        Self::Format { file: file.to_string(), found: found.to_string() }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse { path, pid } => {
                let path = path.display();
                let who = pid.map_or("another process".to_owned(), |pid| format!("process {pid}"));
                write!(
                    f,
                    "{path} is held by {who}; one process has a store at a time, so ask that one \
                     (headcount commands do when it serves), or stop it",
                )
            }
            Self::Format { file, found } => write!(f, "{file}: {found}"),
            Self::Damaged { file, found } => write!(
                f,
                "{file} is damaged: {found}; it was left as it is, so put it aside or bring back \
                 a copy of the whole folder",
            ),
            Self::Disk { file, error } => write!(f, "{file}: {error}"),
        }
    }
}

impl std::error::Error for OpenError {}

impl From<OpenError> for StoreError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Format { .. } | OpenError::Damaged { .. } => Self::Format(error.to_string()),
            OpenError::InUse { .. } => Self::unreachable(error),
            OpenError::Disk { .. } => Self::unwritable(error),
        }
    }
}
