//! One load of a storm on several nodes.

use std::num::NonZeroU32;
use std::time::Duration;

use super::world;
use crate::dice::{Dice, Purpose};
use crate::run::{Dealing, PoolSetup, Setup};

/// How often the first pool is one load on several nodes.
const SHARE: f64 = 0.3;

/// Now and then deals the jobs of the first pool to two, three or four nodes, which call the same
/// and are each on a machine of their own.
pub(super) fn on_nodes(setup: &mut Setup, span: Duration) {
    // Dice of their own: storms without nodes are what they were before there were any.
    let mut dice = Dice::new(setup.seed, Purpose::Nodes);
    if !dice.happens(SHARE) {
        return;
    }
    let nodes = NonZeroU32::MIN.saturating_add(1 + u32::try_from(dice.one_of(3)).unwrap_or(0));
    let dealing = match dice.happens(0.5) {
        true => Dealing::InTurn,
        false => Dealing::ByChance(setup.seed),
    };
    let nodes = setup.pools.remove(0).dealt(nodes, dealing);
    for node in nodes {
        setup.hosts.push(world::host(span, &mut dice));
        let host = Some(setup.hosts.len() - 1);
        setup.pools.push(PoolSetup { host, ..node });
    }
}
