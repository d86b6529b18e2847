//! The scripts: every operation is one of them, so that it happens entirely or not at all.
//!
//! Fast paths stand before the definitions that only the slower ones need, because a script runs
//! from its top on every call. The first line says what Redis may allow: what only reads runs
//! anywhere; what makes room or keeps leases runs even when memory is full; what takes jobs in is
//! refused then, before it has written anything.

use std::sync::LazyLock;

/// A script and the name under which Redis knows it.
#[derive(Debug)]
pub(super) struct Script {
    pub(super) source: String,
    pub(super) hash: String,
}

/// All of them.
#[derive(Debug)]
pub(super) struct Scripts {
    pub(super) open: Script,
    pub(super) enqueue: Script,
    pub(super) lease: Script,
    pub(super) extend: Script,
    pub(super) settle: Script,
    pub(super) sweep: Script,
    pub(super) stats: Script,
    pub(super) list: Script,
    pub(super) steer: Script,
    pub(super) peek: Script,
}

const USUAL: &str = "#!lua\n";
const EVEN_WHEN_FULL: &str = "#!lua flags=allow-oom\n";
const READS: &str = "#!lua flags=no-writes\n";

const HEAD: &str = include_str!("scripts/head.lua");
const TIME: &str = include_str!("scripts/time.lua");
const FORGET: &str = include_str!("scripts/forget_fast.lua");
const TOOLS: &str = include_str!("scripts/tools.lua");
const LISTING: &str = include_str!("scripts/listing.lua");

pub(super) static SCRIPTS: LazyLock<Scripts> = LazyLock::new(|| Scripts {
    open: script(&[USUAL, include_str!("scripts/open.lua")]),
    enqueue: script(&[
        USUAL,
        HEAD,
        TIME,
        include_str!("scripts/enqueue_fast.lua"),
        TOOLS,
        include_str!("scripts/enqueue.lua"),
    ]),
    lease: script(&[
        EVEN_WHEN_FULL,
        HEAD,
        TIME,
        FORGET,
        include_str!("scripts/lease_fast.lua"),
        TOOLS,
        include_str!("scripts/lease.lua"),
    ]),
    extend: script(&[EVEN_WHEN_FULL, HEAD, TIME, TOOLS, include_str!("scripts/extend.lua")]),
    settle: script(&[
        EVEN_WHEN_FULL,
        HEAD,
        FORGET,
        include_str!("scripts/settle_fast.lua"),
        TIME,
        TOOLS,
        include_str!("scripts/settle.lua"),
    ]),
    sweep: script(&[
        EVEN_WHEN_FULL,
        HEAD,
        TIME,
        TOOLS,
        LISTING,
        include_str!("scripts/repair.lua"),
        include_str!("scripts/sweep.lua"),
    ]),
    stats: script(&[READS, HEAD, TIME, TOOLS, LISTING, include_str!("scripts/stats.lua")]),
    list: script(&[READS, HEAD, TIME, TOOLS, LISTING, include_str!("scripts/list.lua")]),
    steer: script(&[EVEN_WHEN_FULL, HEAD, TIME, TOOLS, LISTING, include_str!("scripts/steer.lua")]),
    peek: script(&[READS, HEAD, TIME, TOOLS, include_str!("scripts/peek.lua")]),
});

fn script(parts: &[&str]) -> Script {
    let source = parts.concat();
    let hash = redis::Script::new(&source).get_hash().to_owned();
    Script { source, hash }
}
