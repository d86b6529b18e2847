//! Lists the pools of a server.

use std::io::Write;

use serde_json::Value;

use super::{held, pools, server};
use crate::Stop;
use crate::command::reach::Reach;
use crate::command::table::Table;

const HEADINGS: [&str; 7] = ["pool", "live", "busy", "waiting", "from..to", "state", "reason"];

pub(super) async fn run(reach: &Reach, out: &mut impl Write) -> Result<(), Stop> {
    let remote = server(reach).await?;
    let pools = pools(&remote).await?;
    if reach.json {
        return Ok(writeln!(out, "{:#}", Value::Array(pools))?);
    }
    let mut table = Table::new(&HEADINGS, &["live", "busy", "waiting"]);
    for pool in &pools {
        let number = |field: &str| pool[field].as_u64().unwrap_or(0).to_string();
        table.row(&[
            pool["name"].as_str().unwrap_or_default().to_owned(),
            number("live"),
            number("busy"),
            waiting(pool).to_string(),
            format!("{}..{}", number("floor"), number("ceiling")),
            pool["state"].as_str().unwrap_or_default().to_owned(),
            held::reason(&pool["held"]),
        ]);
    }
    Ok(table.write(out)?)
}

fn waiting(pool: &Value) -> u64 {
    let number = |field: &str| pool[field].as_u64().unwrap_or(0);
    number("demand").saturating_sub(number("busy"))
}
