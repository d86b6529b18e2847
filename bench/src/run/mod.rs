//! `headcount run` against fixed numbers of jobs at once.
//!
//! Three heaps of jobs: jobs that compute, jobs that sleep, and jobs that call a server with a
//! knee. For the first two, the best fixed number can be found by a sweep; for the third only by
//! somebody who knows the server. Everybody runs the same program for the same items, each once a
//! round, in an order that rotates.

mod job;
mod server;
mod subject;
mod tools;

pub use job::job;

use crate::{Asked, Row, median_and_spread};
use subject::Subject;
use tools::{Tool, Tools};

const ROUNDS: usize = 3;

/// Measures what was asked for.
pub fn measure(asked: &Asked) -> Result<Vec<Row>, String> {
    let tools = Tools::find()?;
    let rounds = asked.rounds.unwrap_or(ROUNDS);
    let mut rows = Vec::new();
    for subject in subject::all().iter().filter(|subject| asked.wants(subject.row)) {
        rows.push(row(subject, &tools, rounds)?);
    }
    Ok(rows)
}

fn row(subject: &Subject, tools: &Tools, rounds: usize) -> Result<Row, String> {
    let runners = tools.runners(subject);
    let mut seconds = vec![Vec::new(); runners.len()];
    for round in 0..rounds {
        for turn in 0..runners.len() {
            let index = (turn + round) % runners.len();
            let took = subject.run(tools, &runners[index])?;
            eprintln!("{}: {} {took:.2} s", subject.row, runners[index]);
            seconds[index].push(took);
        }
    }
    let ours = runners.iter().position(|tool| *tool == Tool::Ours).unwrap_or_default();
    let named = runners.iter().zip(&seconds).filter(|(tool, _)| **tool != Tool::Ours);
    let peers = named.map(|(tool, rounds)| (tool.to_string(), median_and_spread(rounds).0));
    Ok(Row { peers: peers.collect(), ..Row::alone(subject.row, "s", &seconds[ours]) })
}
