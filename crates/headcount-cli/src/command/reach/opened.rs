//! Opens a store itself.

use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

use headcount::config::DurabilityConfig;
use headcount::jobs::embedded::{Committed, Durability, Embedded, EmbeddedOptions};
use headcount::jobs::port::Backend;
use headcount::jobs::redis::{RedisOptions, RedisStore};

use super::Place;
use crate::Stop;

/// A store that this process has open.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    pub(crate) store: Arc<dyn Backend>,
    /// What is unwise about it.
    pub(crate) warnings: Vec<String>,
}

/// Opens the store for one command.
pub(super) async fn open(place: &Place) -> Result<Opened, Stop> {
    match place {
        Place::Directory(directory) => embedded(directory, DurabilityConfig::Synced, None),
        _ => Ok(Opened { store: Arc::new(connect(place).await?), warnings: Vec::new() }),
    }
}

/// Opens the store for a process that runs jobs; a directory that is not there is made.
/// `committed` is told how long commits to a directory take.
pub(crate) async fn open_for_work(
    place: &Place,
    durability: DurabilityConfig,
    committed: Option<Committed>,
) -> Result<Opened, Stop> {
    if let Place::Directory(directory) = place {
        std::fs::create_dir_all(directory).map_err(|error| failed(place, &error))?;
        return embedded(directory, durability, committed);
    }
    let store = connect(place).await?;
    let warnings = store.check().await.map_err(|error| failed(place, &error))?;
    let warnings = warnings.iter().map(ToString::to_string).collect();
    Ok(Opened { store: Arc::new(store), warnings })
}

/// The Redis at this place, which must be one.
pub(crate) async fn connect(place: &Place) -> Result<RedisStore, Stop> {
    let Place::Redis(url) = place else {
        return Err(Stop::Misused(format!(
            "{place} is not where jobs are kept; name a directory or a Redis"
        )));
    };
    let connecting = RedisStore::connect(url, RedisOptions::default());
    connecting.await.map_err(|error| failed(place, &error))
}

fn embedded(
    directory: &Path,
    durability: DurabilityConfig,
    committed: Option<Committed>,
) -> Result<Opened, Stop> {
    let durability = match durability {
        DurabilityConfig::Synced => Durability::Synced,
        DurabilityConfig::Interval(span) => Durability::Interval(span),
    };
    let options = EmbeddedOptions { durability, committed, ..EmbeddedOptions::default() };
    // What is wrong with it says itself where it is.
    let store = Embedded::open(directory, options);
    let store = store.map_err(|error| Stop::Failed(error.to_string()))?;
    Ok(Opened { store: Arc::new(store), warnings: Vec::new() })
}

fn failed(place: &Place, why: &dyn Display) -> Stop {
    Stop::Failed(format!("{place}: {why}"))
}
