//! `headcount pools`, `why` and `scale`: the workers of a server, and the reasons for their number.

mod held;
mod list;
mod scale;
mod why;

use std::io::Write;

use serde_json::Value;

use super::reach::{Path, Place, Reach, Remote, waited};
use headcount::config::JobsConfig;

use crate::Stop;

/// Where a server is looked for when its store is a Redis, which knows nothing of pools.
const USUAL: &str = "127.0.0.1:7878";

/// What `pools` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct PoolsArguments {
    #[command(flatten)]
    reach: Reach,
}

/// What `why` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct WhyArguments {
    /// The pool; may be left out where there is one only.
    pool: Option<String>,
    #[command(flatten)]
    reach: Reach,
}

pub(crate) use scale::Arguments as ScaleArguments;

pub(crate) fn run_pools(arguments: &PoolsArguments, out: &mut impl Write) -> Result<(), Stop> {
    waited(list::run(&arguments.reach, out))
}

pub(crate) fn run_why(arguments: &WhyArguments, out: &mut impl Write) -> Result<(), Stop> {
    waited(why::run(&arguments.reach, arguments.pool.as_deref(), out))
}

pub(crate) fn run_scale(arguments: &ScaleArguments, out: &mut impl Write) -> Result<(), Stop> {
    waited(scale::run(arguments, out))
}

/// The server whose pools are meant. Pools live in a process, so there must be one.
async fn server(reach: &Reach) -> Result<Remote, Stop> {
    let place = reach.place()?;
    let remote = match place {
        Place::Redis(_) => Remote::serving(&place, USUAL).await?,
        _ => Remote::of(&place, &JobsConfig::default()).await?,
    };
    match remote.is_served() {
        true => Ok(remote),
        false => Err(Stop::Failed(format!(
            "no server runs on {place}, and pools are part of one; start `headcount serve`"
        ))),
    }
}

/// The pools as the server tells them.
async fn pools(remote: &Remote) -> Result<Vec<Value>, Stop> {
    match remote.get(&Path::of(&["pools"])).await? {
        Value::Array(pools) => Ok(pools),
        _ => Ok(Vec::new()),
    }
}

/// The pool that is meant.
async fn chosen(remote: &Remote, asked: Option<&str>) -> Result<String, Stop> {
    let pools = pools(remote).await?;
    let names: Vec<&str> = pools.iter().filter_map(|pool| pool["name"].as_str()).collect();
    match (asked, names.as_slice()) {
        (Some(asked), names) if names.contains(&asked) => Ok(asked.to_owned()),
        (None, [only]) => Ok((*only).to_owned()),
        (Some(asked), names) => {
            Err(Stop::Failed(format!("no pool is called {asked:?}; there are {}", listed(names))))
        }
        (None, names) => Err(Stop::Misused(format!("say which pool; there are {}", listed(names)))),
    }
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
