//! What a parked worker takes of the memory.
//!
//! A process that has run other pools before has memory left over from them, which would hide what
//! the next one takes. So each pool is measured in a process of its own: this program starts
//! itself again with the name of the pool.

use std::env;
use std::process::Command;

use super::Pool;
use super::contest::{Scenario, Title, everybody};
use super::process::resident_kb;
use super::tally::warm;

const FLAG: &str = "--memory-of";

/// Memory for each of the workers, measured in another process.
pub(super) struct Memory {
    pub(super) workers: usize,
}

impl Scenario for Memory {
    fn titles(&self) -> Vec<Title> {
        vec![(format!("memory: for each of {} parked workers, no task", self.workers), "kB")]
    }

    fn takes<P: Pool>(&self) -> bool {
        P::MAY_BLOCK && self.workers <= P::THREADS_MAX
    }

    fn round<P: Pool>(&self) -> Vec<f64> {
        let program = env::current_exe().expect("a program knows where it is");
        let workers = self.workers.to_string();
        let output = Command::new(program).args([FLAG, P::NAME, &workers]).output();
        let output = output.expect("this program can start itself");
        let said = String::from_utf8_lossy(&output.stdout);
        vec![said.trim().parse().expect("the other process says one figure")]
    }
}

/// The same, in this process.
struct MemoryHere(Memory);

impl Scenario for MemoryHere {
    fn titles(&self) -> Vec<Title> {
        self.0.titles()
    }

    fn takes<P: Pool>(&self) -> bool {
        self.0.takes::<P>()
    }

    fn round<P: Pool>(&self) -> Vec<f64> {
        let before = resident_kb();
        let pool: P = warm(self.0.workers);
        let grown = resident_kb().saturating_sub(before);
        drop(pool);
        vec![grown as f64 / self.0.workers as f64]
    }
}

/// Where this process was started to measure the memory of one pool, does that and prints the
/// figure.
pub fn print_memory_if_asked() -> bool {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [flag, name, workers] = arguments.as_slice() else { return false };
    if flag != FLAG {
        return false;
    }
    let workers = workers.parse().expect("a number of workers follows the name");
    let contestants = everybody(|| MemoryHere(Memory { workers }));
    let wanted = contestants.iter().find(|contestant| contestant.name() == name);
    println!("{:.3}", wanted.expect("such a pool is known").round()[0]);
    true
}
