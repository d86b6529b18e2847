//! The flags that all commands about jobs share.

use std::path::PathBuf;

use headcount::config::JobsConfig;

use super::{Place, Remote};
use crate::Stop;
use crate::command::jobs_config;

/// Where the jobs are, and how answers are printed.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Reach {
    /// Where the jobs are: a directory, redis://HOST:PORT, rediss://HOST:PORT, or http://HOST:PORT
    /// of a server. Otherwise what the file of --config says, otherwise `$HEADCOUNT_DATA`,
    /// otherwise ./headcount-data.
    #[arg(long, value_name = "PLACE", help_heading = "Where", global = true)]
    pub(crate) store: Option<Place>,
    /// The file of `headcount serve --config`, for the `store` in it, and for what it says of jobs
    /// that are submitted without a server.
    #[arg(long, value_name = "FILE", help_heading = "Where", global = true)]
    pub(crate) config: Option<PathBuf>,
    /// Prints JSON in place of a table.
    #[arg(long, help_heading = "Where", global = true)]
    pub(crate) json: bool,
}

impl Reach {
    /// The place that is meant.
    pub(crate) fn place(&self) -> Result<Place, Stop> {
        match &self.store {
            Some(place) => Ok(place.clone()),
            None => place_of(&self.file()?),
        }
    }

    /// What the file says; nothing without one.
    pub(crate) fn file(&self) -> Result<JobsConfig, Stop> {
        Ok(self.config.as_deref().map(jobs_config).transpose()?.unwrap_or_default())
    }

    /// Whoever answers for it.
    pub(crate) async fn remote(&self) -> Result<Remote, Stop> {
        let file = self.file()?;
        let place = match &self.store {
            Some(place) => place.clone(),
            None => place_of(&file)?,
        };
        Remote::of(&place, &file).await
    }
}

fn place_of(file: &JobsConfig) -> Result<Place, Stop> {
    match file.store.as_ref().and_then(Place::of) {
        Some(place) => Ok(place),
        None => Place::usual().map_err(Stop::Misused),
    }
}
