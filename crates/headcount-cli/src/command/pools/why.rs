//! Says why a pool has as many workers as it has.

use std::io::Write;

use super::{chosen, held, server};
use crate::Stop;
use crate::command::reach::{Path, Reach};

pub(super) async fn run(
    reach: &Reach,
    pool: Option<&str>,
    out: &mut impl Write,
) -> Result<(), Stop> {
    let remote = server(reach).await?;
    let pool = chosen(&remote, pool).await?;
    let why = remote.get(&Path::of(&["pools", &pool, "why"])).await?;
    if reach.json {
        return Ok(writeln!(out, "{why:#}")?);
    }
    let said = why["why"].as_str().unwrap_or("nothing has been decided yet");
    writeln!(out, "{pool}: {}", said.trim_end())?;
    let view = remote.get(&Path::of(&["pools", &pool])).await?;
    match held::told(&view["held"]) {
        Some(held) => Ok(writeln!(out, "  {held}")?),
        None => Ok(()),
    }
}
