//! `headcount redis`: looks at a Redis before jobs are kept in it.

use std::io::Write;

use headcount::jobs::redis::{Role, acl};
use serde_json::json;

use super::reach::{Place, connect, waited};
use crate::Stop;

/// What the command takes.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Prints the least that a user of the Redis must be allowed, as a line of its ACL file.
    Acl {
        /// What the user is called.
        #[arg(default_value = "headcount")]
        user: String,
        /// For one who only looks.
        #[arg(long)]
        reader: bool,
    },
    /// Says what of its settings could cost jobs; the exit code is 1 where something could.
    Check {
        /// Where it is: redis://HOST:PORT or rediss://HOST:PORT.
        place: Place,
        /// Prints JSON.
        #[arg(long)]
        json: bool,
    },
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Stop> {
    match &arguments.command {
        Command::Acl { user, reader } => {
            let role = if *reader { Role::Reader } else { Role::Node };
            Ok(writeln!(out, "{}", acl(user, role))?)
        }
        Command::Check { place, json } => waited(check(place, *json, out)),
    }
}

async fn check(place: &Place, as_json: bool, out: &mut impl Write) -> Result<(), Stop> {
    let store = connect(place).await?;
    let warnings = store.check().await.map_err(|error| Stop::Failed(error.to_string()))?;
    let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    match as_json {
        true => writeln!(out, "{}", json!({"store": place.to_string(), "warnings": warnings}))?,
        false if warnings.is_empty() => writeln!(out, "{place}: nothing could cost jobs")?,
        false => warnings.iter().try_for_each(|warning| writeln!(out, "{warning}"))?,
    }
    if warnings.is_empty() { Ok(()) } else { Err(Stop::Told) }
}
