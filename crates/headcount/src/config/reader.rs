//! Reads a file: text, tree, variables, spread, defaults, check.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::num::NonZeroUsize;
use std::path::Path;

use super::build::{Built, build};
use super::form::Found;
use super::place::{Format, Place};
use super::registry::Registry;
use super::report::{Finding, Report};
use super::spread::spread;
use super::tree::{self, BYTES_MAX, Unreadable};
use super::types::Config;
use super::variables;

/// Reads files, in a given environment and for a given machine.
///
/// ```
/// use headcount::config::{Reader, Registry};
///
/// let reader = Reader::new(&Registry::new())
///     .cores(16)
///     .variables([("HEADCOUNT_POOLS__THUMBS__WORKERS__MIN", "4")]);
/// let reading = reader.parse("pools.yaml", "pools: {thumbs: {}}").expect("no fault");
/// let policy = &reading.config.pools[0].policy;
/// assert_eq!((policy.workers_min, policy.workers_max), (Some(4), Some(16)));
/// ```
#[derive(Clone, Debug)]
pub struct Reader {
    registry: Registry,
    variables: Vec<(String, String)>,
    cores: u32,
}

impl Reader {
    /// One that knows these parts of one's own, no variables, and the cores of this machine.
    #[must_use]
    pub fn new(registry: &Registry) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let cores = u32::try_from(cores).unwrap_or(u32::MAX);
        Self { registry: registry.clone(), variables: Vec::new(), cores }
    }

    /// Takes the variables of this process's environment, as they are now.
    #[must_use]
    pub fn environment(self) -> Self {
        // What is no text can be no value of a file.
        let texts = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        self.variables(texts)
    }

    /// Takes these variables.
    #[must_use]
    pub fn variables<K: Into<String>, V: Into<String>>(
        mut self,
        variables: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        let texts = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        self.variables = texts.collect();
        self
    }

    /// The cores of the machine: the most workers of a pool that does not say.
    #[must_use]
    pub fn cores(mut self, cores: u32) -> Self {
        self.cores = cores.max(1);
        self
    }

    /// Reads a file, whose extension says how it is written.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it, not only the first thing; or that it cannot be read.
    pub fn read(&self, path: &Path) -> Result<Reading, Report> {
        let name = path.display().to_string();
        let text = text_of(path).map_err(|advice| Report::of_file(&name, advice))?;
        self.parse(&name, &text)
    }

    /// Reads a text as if it were the file `name`.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it, not only the first thing.
    pub fn parse(&self, name: &str, text: &str) -> Result<Reading, Report> {
        let Some(format) = Format::of(Path::new(name)) else {
            let advice = "its name must end in .yaml, .yml, .toml or .json";
            return Err(Report::of_file(name, advice));
        };
        let mut root = tree::parse(text, format).map_err(|all| unreadable(name, all))?;
        let mut found = Found::new();
        variables::apply(&mut root, &self.variables, &mut found);
        let spread = spread(root, &mut found);
        match build(spread, &self.registry, self.cores, found) {
            Ok(Built { config, mut hints, origins }) => {
                hints.sort_by(|a, b| a.place.cmp(&b.place));
                Ok(Reading { config, hints, origins, file: name.to_owned() })
            }
            Err(found) => Err(Report::new(name, found)),
        }
    }
}

fn unreadable(name: &str, all: Vec<Unreadable>) -> Report {
    let finding = |one: Unreadable| Finding::new(&one.at, "", None, one.problem);
    Report::new(name, all.into_iter().map(finding).collect())
}

fn text_of(path: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| format!("it cannot be opened: {error}"))?;
    // One byte more than allowed is enough to see that it is too long.
    let read = file.take(BYTES_MAX as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("it cannot be read: {error}"))?;
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        format!("it is no text: the byte at {offset} is no UTF-8")
    })
}

/// A file that was read, with what is unwise about it and where everything comes from.
///
/// ```
/// use headcount::config::{Reader, Registry};
///
/// let text = "pools:\n  mail:\n    preset: gopipe\n    cooldown: {shrink: 2s}\n";
/// let reader = Reader::new(&Registry::new());
/// let reading = reader.parse("pools.yaml", text).expect("unwise is not wrong");
/// assert_eq!(reading.hints.len(), 1);
/// assert_eq!(reading.origin("pools.mail.guards.cooldown.shrink").to_string(), "4:24");
/// assert_eq!(reading.origin("pools.mail.guards.cooldown.grow").to_string(), "preset gopipe");
/// assert_eq!(reading.origin("pools.mail.idle").to_string(), "default");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Reading {
    /// What the file says.
    pub config: Config,
    /// What is legal and may be regretted, by line.
    pub hints: Vec<Finding>,
    /// Where each value is written, by its path in the long form.
    origins: BTreeMap<String, Place>,
    file: String,
}

impl Reading {
    /// Where the value at this path of the long form comes from.
    #[must_use]
    pub fn origin(&self, path: &str) -> Place {
        self.origins.get(path).cloned().unwrap_or(Place::Default)
    }

    /// The hints, a line each: where, what, and what would be better.
    #[must_use]
    pub fn hint_lines(&self) -> Vec<String> {
        let place = |place: &Place| match place {
            Place::File { .. } => format!("{}:{place}", self.file),
            Place::Variable(name) => name.to_string(),
            _ => self.file.clone(),
        };
        let line = |hint: &Finding| {
            format!("{}: hint: {}: {}", place(&hint.place), hint.path, hint.advice)
        };
        self.hints.iter().map(line).collect()
    }

    /// The file, as it was called when it was read.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }
}
