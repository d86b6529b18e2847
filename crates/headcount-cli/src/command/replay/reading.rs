//! Reads the rows of a trace, and hands each to the tale of its pool.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use headcount::trace::{self, Row, TraceReader};

use super::Arguments;
use super::another::AnotherTale;
use super::other::Other;
use super::same::SameTale;
use super::tale::Tale;
use crate::Stop;
use crate::command::opened::is_no_folder;

/// What was found in a trace.
pub(super) struct Found {
    pub(super) tales: Vec<Box<dyn Tale>>,
    /// The pools of which nothing could be replayed, as their policy is not there.
    pub(super) unplayed: Vec<String>,
    /// Whether the last line was cut off, and is left out.
    pub(super) is_cut_off: bool,
}

/// The pools of a trace.
struct Pools<'a> {
    arguments: &'a Arguments,
    other: Option<Rc<Other>>,
    /// All that there are.
    names: BTreeSet<String>,
    /// Those that are replayed.
    tales: BTreeMap<String, Box<dyn Tale>>,
}

/// Reads a trace to its end.
pub(super) fn read(arguments: &Arguments) -> Result<Found, Stop> {
    let other = Other::of(arguments)?.map(Rc::new);
    let (names, tales) = (BTreeSet::new(), BTreeMap::new());
    let mut pools = Pools { arguments, other, names, tales };
    let mut is_cut_off = false;
    for file in files(arguments) {
        is_cut_off = pools.read(&file)?;
    }
    pools.check()?;
    let unplayed = pools.unplayed();
    Ok(Found { tales: pools.tales.into_values().collect(), unplayed, is_cut_off })
}

fn files(arguments: &Arguments) -> Vec<PathBuf> {
    match arguments.rotated {
        true => trace::files(&arguments.file),
        false => vec![arguments.file.clone()],
    }
}

impl Pools<'_> {
    /// Reads a file, and says whether it was cut off.
    fn read(&mut self, file: &Path) -> Result<bool, Stop> {
        let shown = file.display();
        let refused = |error: &dyn std::fmt::Display| Stop::Misused(format!("{shown}: {error}"));
        is_no_folder(file).map_err(|error| refused(&error))?;
        let mut reader = TraceReader::open(file).map_err(|error| refused(&error))?;
        while let Some(row) = reader.next() {
            let row = row.map_err(|error| refused(&error))?;
            self.hear(&row, &|| format!("{shown}:{}", reader.line_number()))?;
        }
        Ok(reader.is_cut_off())
    }

    fn hear(&mut self, row: &Row, place: &dyn Fn() -> String) -> Result<(), Stop> {
        let Some(tale) = self.tale_of(row.pool()) else { return Ok(()) };
        match row {
            Row::Tick { observation, decision, .. } => tale.tick(observation, decision, place),
            Row::Policy { pool, policy, notes, extras } => {
                tale.policy(policy, extras, notes).map_err(|stop| match stop {
                    Stop::Misused(why) => Stop::Misused(format!("{}: pool {pool}: {why}", place())),
                    stop => stop,
                })?;
            }
        }
        Ok(())
    }

    fn tale_of(&mut self, pool: &str) -> Option<&mut Box<dyn Tale>> {
        if !self.names.contains(pool) {
            self.names.insert(pool.to_owned());
        }
        if self.arguments.pool.as_deref().is_some_and(|only| only != pool) {
            return None;
        }
        if !self.tales.contains_key(pool) {
            self.tales.insert(pool.to_owned(), self.begin(pool));
        }
        self.tales.get_mut(pool)
    }

    fn begin(&self, pool: &str) -> Box<dyn Tale> {
        let &Arguments { explain, limit, slo, .. } = self.arguments;
        match &self.other {
            None => Box::new(SameTale::new(pool, explain, limit)),
            Some(other) => Box::new(AnotherTale::new(pool, Rc::clone(other), slo, explain, limit)),
        }
    }

    fn unplayed(&self) -> Vec<String> {
        let nothing = |tale: &dyn Tale| tale.replayed() == 0 && 0 < tale.decisions();
        let pools = self.tales.iter().filter(|(_, tale)| nothing(tale.as_ref()));
        pools.map(|(pool, _)| pool.clone()).collect()
    }

    /// Whether there is something to tell of.
    fn check(&self) -> Result<(), Stop> {
        let file = self.arguments.file.display();
        if self.names.is_empty() {
            return Err(Stop::Misused(format!("{file}: it has no pool; nothing can be replayed")));
        }
        if let Some(pool) = self.arguments.pool.as_ref().filter(|_| self.tales.is_empty()) {
            let names: Vec<_> = self.names.iter().map(String::as_str).collect();
            let names = names.join(", ");
            return Err(Stop::Misused(format!(
                "{file}: no pool is called {pool:?}; there are {names}"
            )));
        }
        if self.tales.values().all(|tale| tale.decisions() == 0) {
            let why = "nothing was decided in it; there is nothing to replay";
            return Err(Stop::Misused(format!("{file}: {why}")));
        }
        Ok(())
    }
}
