//! What is run: how many jobs, which program, and which fixed numbers are tried beside ours.

use std::io::Write;
use std::process::Stdio;
use std::time::Instant;

use super::server::{CAPACITY, Server};
use super::tools::{Tool, Tools};

/// One heap of jobs.
pub(super) struct Subject {
    pub(super) row: &'static str,
    pub(super) sweep: &'static [u32],
    jobs: usize,
    kind: Kind,
}

enum Kind {
    Compute,
    Sleep,
    Call,
}

/// About 50 ms of computing.
const COMPUTE_ROUNDS: &str = "40000000";

pub(super) fn all() -> [Subject; 3] {
    assert_eq!(CAPACITY, 12, "the row says so");
    [
        Subject {
            row: "compute: 150 jobs of about 50 ms on all cores",
            sweep: &[1, 2, 3, 4, 8, 16],
            jobs: 150,
            kind: Kind::Compute,
        },
        Subject {
            row: "sleep: 3000 jobs of 100 ms",
            sweep: &[32, 64, 128, 192, 256],
            jobs: 3000,
            kind: Kind::Sleep,
        },
        Subject {
            row: "knee: 1500 calls of 50 ms to a server that serves 12 at once",
            sweep: &[4, 8, 12, 16, 32, 64],
            jobs: 1500,
            kind: Kind::Call,
        },
    ]
}

impl Subject {
    /// Runs all jobs once with this tool, and returns how many seconds that took.
    pub(super) fn run(&self, tools: &Tools, tool: &Tool) -> Result<f64, String> {
        let server = Server::start().map_err(|error| format!("no server: {error}"))?;
        let address = server.address.to_string();
        let words: Vec<&str> = match self.kind {
            Kind::Compute => vec![&tools.job, "job", "compute", COMPUTE_ROUNDS],
            Kind::Sleep => vec!["sleep", "0.1"],
            Kind::Call => vec![&tools.job, "job", "call", &address],
        };
        let mut command = tools.command(tool, &words);
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        let failed = |error: std::io::Error| format!("{tool} cannot be run: {error}");
        let start = Instant::now();
        let mut child = command.spawn().map_err(failed)?;
        // An item that changes nothing: nobody sleeps longer for it.
        let items = "0\n".repeat(self.jobs);
        let fed = child.stdin.take().map(|mut input| input.write_all(items.as_bytes()));
        fed.transpose().map_err(failed)?;
        match child.wait().map_err(failed)? {
            status if status.success() => Ok(start.elapsed().as_secs_f64()),
            status => Err(format!("{tool} ended with {status}")),
        }
    }
}
