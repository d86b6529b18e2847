//! Where something is written, and in which format.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Where a value comes from.
///
/// ```
/// use headcount::config::Place;
///
/// assert_eq!(Place::File { line: 14, column: 7 }.to_string(), "14:7");
/// assert_eq!(Place::Variable("HEADCOUNT_TICK".into()).to_string(), "HEADCOUNT_TICK");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Place {
    /// The file, at a line and a column that count from 1.
    File {
        /// The line.
        line: u32,
        /// The column, in characters.
        column: u32,
    },
    /// This variable of the environment.
    Variable(Arc<str>),
    /// The preset of this name.
    Preset(&'static str),
    /// Nowhere: it is the default.
    Default,
}

impl Place {
    /// The beginning of the file.
    pub(crate) const START: Self = Self::File { line: 1, column: 1 };

    pub(crate) fn is_variable(&self) -> bool {
        matches!(self, Self::Variable(_))
    }

    /// A line and a column that count from 1.
    pub(crate) fn at(line: usize, column: usize) -> Self {
        let short = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self::File { line: short(line), column: short(column) }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { line, column } => write!(f, "{line}:{column}"),
            Self::Variable(name) => f.write_str(name),
            Self::Preset(name) => write!(f, "preset {name}"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// How a file is written.
///
/// ```
/// use headcount::config::Format;
///
/// assert_eq!(Format::of("pools.yaml".as_ref()), Some(Format::Yaml));
/// assert_eq!(Format::of("pools.ini".as_ref()), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// YAML 1.2, `.yaml` or `.yml`.
    Yaml,
    /// TOML, `.toml`.
    Toml,
    /// JSON, `.json`.
    Json,
}

impl Format {
    /// The format that a file of this name has, by its extension.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "yaml" | "yml" => Some(Self::Yaml),
            "toml" => Some(Self::Toml),
            "json" => Some(Self::Json),
            _ => None,
        }
    }
}
