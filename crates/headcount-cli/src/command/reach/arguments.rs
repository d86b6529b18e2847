//! The flags that all commands about jobs share.

use super::{Place, Remote};
use crate::Stop;

/// Where the jobs are, and how answers are printed.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Reach {
    /// Where the jobs are: a directory, redis://HOST:PORT, rediss://HOST:PORT, or http://HOST:PORT
    /// of a server. Otherwise `$HEADCOUNT_DATA`, otherwise ./headcount-data.
    #[arg(long, value_name = "PLACE", help_heading = "Where", global = true)]
    pub(crate) store: Option<Place>,
    /// Prints JSON in place of a table.
    #[arg(long, help_heading = "Where", global = true)]
    pub(crate) json: bool,
}

impl Reach {
    /// The place that is meant.
    pub(crate) fn place(&self) -> Result<Place, Stop> {
        match &self.store {
            Some(place) => Ok(place.clone()),
            None => Place::usual().map_err(Stop::Misused),
        }
    }

    /// Whoever answers for it.
    pub(crate) async fn remote(&self) -> Result<Remote, Stop> {
        Remote::of(&self.place()?).await
    }
}
