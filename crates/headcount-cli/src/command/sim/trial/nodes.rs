//! How many nodes serve the load, and what they may run together.

use std::num::NonZeroU32;

use headcount_sim::run::{Dealing, PoolSetup, Setup};

use super::arguments::Arguments;
use crate::Stop;

/// The most nodes: with each of them every event takes longer.
const NODES_MAX: u32 = 64;

/// How many nodes there are, and how jobs get to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Nodes {
    count: NonZeroU32,
    by_chance: bool,
}

impl Nodes {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (count, by_chance) = match text.split_once(',') {
            None => (text, Some(false)),
            Some((count, "dealt=turn")) => (count, Some(false)),
            Some((count, "dealt=chance")) => (count, Some(true)),
            Some((count, _)) => (count, None),
        };
        let count = count.parse().ok().filter(|count: &NonZeroU32| count.get() <= NODES_MAX);
        let nodes = count.zip(by_chance).map(|(count, by_chance)| Self { count, by_chance });
        nodes.ok_or_else(|| {
            format!(
                "{text:?} is no number of nodes; write 1 to {NODES_MAX}, as in 3 or 3,dealt=chance"
            )
        })
    }

    pub(super) fn count(self) -> u32 {
        self.count.get()
    }

    fn dealing(self, seed: u64) -> Dealing {
        match self.by_chance {
            true => Dealing::ByChance(seed),
            false => Dealing::InTurn,
        }
    }
}

/// The pool on its nodes, within their budget.
pub(super) fn on_nodes(arguments: &Arguments, pool: &PoolSetup) -> Setup {
    let nodes = arguments.nodes;
    let setup = Setup::on_nodes(pool, nodes.count, nodes.dealing(arguments.seed));
    match arguments.budget {
        Some(budget) => setup.all_within(budget),
        None => setup,
    }
}

/// Every pool can have its minimum on every node, which nobody takes away.
pub(super) fn check(arguments: &Arguments, pools: &[PoolSetup]) -> Result<(), Stop> {
    let (Some(budget), nodes) = (arguments.budget, arguments.nodes.count()) else { return Ok(()) };
    for pool in pools {
        let min = pool.policy.bounds().min;
        let needed = min.saturating_mul(nodes).max(1);
        if budget < needed {
            return Err(Stop::Misused(format!(
                "--budget is {budget}, and the minimum of {} is {min} on each of {nodes} nodes; \
                 make it {needed} at least, or the minimum smaller",
                pool.name
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_a_number_and_may_be_dealt_to_by_chance() {
        let told = |text| Nodes::parse(text).map(|nodes| (nodes.count(), nodes.dealing(7)));
        assert_eq!(told("3"), Ok((3, Dealing::InTurn)));
        assert_eq!(told("3,dealt=turn"), Ok((3, Dealing::InTurn)));
        assert_eq!(told("64,dealt=chance"), Ok((64, Dealing::ByChance(7))));
        for text in ["", "0", "65", "-1", "x", "3,dealt=x", "3,chance"] {
            assert!(told(text).is_err(), "{text}");
        }
    }
}
