//! What is set now, and how a change is made.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::config::{Throttling, ThrottlingFault};
use super::file::{self, Written};
use crate::pools::Pools;

/// How many pools may have settings of their own.
const POOLS_MAX: usize = 1000;

/// What is set now.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    path: Option<PathBuf>,
    /// Held while a change is written and applied, so that changes follow one another.
    written: Arc<Mutex<Written>>,
}

/// What became of a change: for each pool that it concerns, why it did not take it, if so.
pub(crate) type Applied = BTreeMap<String, Option<String>>;

impl Settings {
    /// What the file holds, if there is to be one.
    pub(crate) fn open(path: Option<PathBuf>) -> Result<Self, String> {
        let written = path.as_deref().map(file::read).transpose()?.unwrap_or_default();
        Ok(Self { path, written: Arc::new(Mutex::new(written)) })
    }

    pub(crate) fn is_kept(&self) -> bool {
        self.path.is_some()
    }

    /// What holds for a pool, and whether somebody set it. Without a name: for those that have no
    /// settings of their own.
    pub(crate) fn of(&self, pool: Option<&str>) -> (Throttling, bool) {
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let set = written.of(pool);
        (set.unwrap_or_default(), set.is_some())
    }

    /// Applies what was set before, when everything begins.
    pub(crate) fn apply_all(&self, pools: &dyn Pools) -> Applied {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).apply(pools, |_| true)
    }

    /// Changes what a pool has, or what those have that have no settings of their own, by a
    /// document that may leave any field out.
    pub(crate) fn change(
        &self,
        pool: Option<&str>,
        document: &Value,
        pools: &dyn Pools,
    ) -> Result<Applied, Unchanged> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let current = written.of(pool).unwrap_or_default();
        let changed = current.changed_by(document).map_err(Unchanged::Faulty)?;
        let mut next = written.clone();
        match pool {
            None => next.common = Some(changed),
            Some(pool) => drop(next.pools.insert(pool.to_owned(), changed)),
        }
        self.replace(&mut written, next)?;
        Ok(written.apply(pools, |name| match pool {
            Some(pool) => pool == name,
            None => !written.pools.contains_key(name),
        }))
    }

    /// Takes a pool's own settings away, so that it has what the others have.
    pub(crate) fn forget(&self, pool: &str, pools: &dyn Pools) -> Result<Applied, Unchanged> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = written.clone();
        next.pools.remove(pool);
        self.replace(&mut written, next)?;
        Ok(written.apply(pools, |name| pool == name))
    }

    /// First in the file, so that what was answered is so after a restart.
    fn replace(&self, written: &mut Written, next: Written) -> Result<(), Unchanged> {
        if POOLS_MAX < next.pools.len() {
            let sentence = format!("at most {POOLS_MAX} pools can have settings of their own");
            return Err(Unchanged::Unwritten(sentence));
        }
        if let Some(path) = &self.path {
            file::write(path, &next).map_err(|error| {
                let path = path.display();
                let sentence = format!("nothing was changed: {path} cannot be written: {error}");
                Unchanged::Unwritten(sentence)
            })?;
        }
        *written = next;
        Ok(())
    }
}

/// Why nothing was changed.
pub(crate) enum Unchanged {
    /// These things are wrong with what was sent.
    Faulty(Vec<ThrottlingFault>),
    /// It could not be written down.
    Unwritten(String),
}

impl Written {
    fn of(&self, pool: Option<&str>) -> Option<Throttling> {
        pool.and_then(|pool| self.pools.get(pool)).copied().or(self.common)
    }

    fn apply(&self, pools: &dyn Pools, concerns: impl Fn(&str) -> bool) -> Applied {
        let names = pools.pools().into_iter().map(|pool| pool.name).filter(|name| concerns(name));
        let apply = |name: String| {
            let throttling = self.of(Some(&name))?;
            let error = pools.throttle(&name, &throttling).err().map(|error| error.to_string());
            Some((name, error))
        };
        names.filter_map(apply).collect()
    }
}
