//! Brings every way of writing a file into one: a name, and a section for each pool.
//!
//! A file has `pools`, by name or as a list, or it is about one pool and has `pool` with the policy
//! beside it. Short ways of writing are spelt out here: `cooldown`, `bounds`, `initial`, and the
//! options of `ants`. Every node keeps its place and its path, so messages speak of what was
//! written.

use headcount_core::Name;

use super::form::{FILE, Found, Kind, POOL, canonical, nearest, said_twice, unknown};
use super::report::Finding;
use super::tree::{Key, Node, Value};

/// How many pools a file may have.
pub(crate) const POOLS_MAX: usize = 256;

/// A file in its one form.
#[derive(Debug)]
pub(crate) struct Spread {
    /// What is shared: `service`, `budget`, `health`, `trace`, `state`.
    pub(crate) shared: Node,
    /// What holds for every pool that is silent.
    pub(crate) defaults: Option<Node>,
    /// Each pool by its name.
    pub(crate) pools: Vec<(Key, Node)>,
    /// The pool of each queue by the queue's name.
    pub(crate) queue_pools: Vec<(Key, Node)>,
}

/// Fields that a file of one pool has beside `pool`, and others may have as short ways.
const SHORT: [&str; 3] = ["cooldown", "bounds", "slo"];

pub(crate) fn spread(mut root: Node, found: &mut Found) -> Spread {
    if !matches!(root.value, Value::Map(_)) {
        let shown = if root.value == Value::Null { "empty".to_owned() } else { root.shown() };
        let advice = "it needs pools, such as `pools: {thumbs: {preset: slo}}`".to_owned();
        found.push(Finding::new(&root.at, "", Some(shown), advice));
        let shared = Node::empty(root.at, "");
        return Spread { shared, defaults: None, pools: Vec::new(), queue_pools: Vec::new() };
    }
    let defaults = root.take("defaults").map(|(_, node)| node);
    let mut pools = many(&mut root, found);
    if let Some(pool) = single(&mut root, pools.is_some(), found) {
        pools = Some(vec![pool]);
    }
    refuse_unknown(&mut root, found);
    canonical(&mut root, &Kind::Section(&FILE), found);
    drop_budget_type(&mut root, found);
    spell_out_store(&mut root);
    let mut queue_pools = take_queue_pools(&mut root);
    if pools.is_none() && !is_about_jobs(&root) {
        let advice = "are missing; such as `pools: {thumbs: {preset: slo}}`".to_owned();
        found.push(Finding::new(&root.at, "pools", None, advice));
    }
    let mut pools = pools.unwrap_or_default();
    let defaults = defaults.map(|mut node| {
        spell_out(&mut node, found);
        node
    });
    for (_, pool) in pools.iter_mut().chain(&mut queue_pools) {
        spell_out(pool, found);
    }
    Spread { shared: root, defaults, pools, queue_pools }
}

/// Whether it says anything of jobs: a store or queues without a value are as if left out.
fn is_about_jobs(root: &Node) -> bool {
    let has_no_queue = root.get("queues").is_some_and(|queues| queues.value == Value::Map(vec![]));
    root.says("store") || (root.says("queues") && !has_no_queue)
}

/// `store: jobs.d` and `store: redis://host` say all that is needed.
fn spell_out_store(root: &mut Node) {
    let Some(store) = root.get_mut("store") else { return };
    let Some(text) = store.text() else { return };
    let name = if text.contains("://") { "url" } else { "path" };
    let key = Key { name: name.to_owned(), at: store.at.clone() };
    let value = std::mem::replace(&mut store.value, Value::Null);
    let inner = Node { value, at: store.at.clone(), path: store.path.clone() };
    store.value = Value::Map(vec![(key, inner)]);
}

/// The pool of every queue; a queue that is silent on it has one all the same.
fn take_queue_pools(root: &mut Node) -> Vec<(Key, Node)> {
    let queues = root.get_mut("queues").and_then(Node::entries_mut).into_iter().flatten();
    let pool_of = |(key, queue): &mut (Key, Node)| {
        let silent = Node::empty(key.at.clone(), &format!("{}.pool", queue.path));
        (key.clone(), queue.take("pool").map_or(silent, |(_, pool)| pool))
    };
    queues.map(pool_of).collect()
}

/// The pools under `pools`, by name or as a list with names.
fn many(root: &mut Node, found: &mut Found) -> Option<Vec<(Key, Node)>> {
    let (_, pools) = root.take("pools")?;
    let (at, path, shown) = (pools.at.clone(), pools.path.clone(), pools.shown());
    let pools = match pools.value {
        Value::Map(entries) => entries,
        Value::List(items) => items.into_iter().filter_map(|item| named(item, found)).collect(),
        _ => {
            let advice = "pools are needed, by name or as a list".to_owned();
            found.push(Finding::new(&at, &path, Some(shown), advice));
            return Some(Vec::new());
        }
    };
    if pools.is_empty() {
        let advice = "is empty; at least one pool is needed".to_owned();
        found.push(Finding::new(&at, &path, None, advice));
    }
    if POOLS_MAX < pools.len() {
        let advice = format!("has {} pools; at most {POOLS_MAX} are allowed", pools.len());
        found.push(Finding::new(&at, &path, None, advice));
    }
    for (index, (key, node)) in pools.iter().enumerate() {
        check_name(key, node, found);
        if let Some((_, other)) = pools[..index].iter().find(|(known, _)| known.name == key.name) {
            let advice = format!("and so is {} at {}; give it another name", other.path, other.at);
            let value = Some(format!("called {:?}", key.name));
            found.push(Finding::new(&key.at, &node.path, value, advice));
        }
    }
    Some(pools.into_iter().take(POOLS_MAX).collect())
}

fn check_name(key: &Key, node: &Node, found: &mut Found) {
    if let Err(error) = Name::new(&key.name) {
        let value = Some(format!("called {}", super::tree::shorten(&key.name)));
        found.push(Finding::new(&key.at, &node.path, value, error.to_string()));
    }
}

/// A pool of a list, with the name that it gives itself.
fn named(mut item: Node, found: &mut Found) -> Option<(Key, Node)> {
    match item.take("name") {
        Some((_, Node { value: Value::Text(name), at, .. })) => Some((Key { name, at }, item)),
        Some((_, name)) => {
            let advice = "a name is needed, such as thumbs".to_owned();
            found.push(Finding::new(&name.at, &name.path, Some(name.shown()), advice));
            None
        }
        None => {
            let path = format!("{}.name", item.path);
            let advice = "is missing; a name is needed, such as thumbs".to_owned();
            found.push(Finding::new(&item.at, &path, None, advice));
            None
        }
    }
}

/// The one pool of a file that has `pool`, or its fields, at the top.
fn single(root: &mut Node, has_pools: bool, found: &mut Found) -> Option<(Key, Node)> {
    let service = root.get("service").and_then(Node::text).map(str::to_owned);
    let (at, path) = (root.at.clone(), root.path.clone());
    let (pool_key, mut pool) = root.take("pool").unzip();
    let is_beside = |name: &str| {
        SHORT.contains(&name) || (POOL.field(name).is_some() && FILE.field(name).is_none())
    };
    let entries = root.entries_mut()?;
    let mut beside = Vec::new();
    while let Some(index) = entries.iter().position(|(key, _)| is_beside(&key.name)) {
        beside.push(entries.remove(index));
    }
    if has_pools {
        let pool = pool.take().zip(pool_key);
        for (node, key) in pool.into_iter().chain(beside.into_iter().map(|(key, node)| (node, key)))
        {
            let advice = "stands beside pools; put it into a pool, or under defaults".to_owned();
            found.push(Finding::new(&key.at, &node.path, None, advice));
        }
        return None;
    }
    if pool.is_none() && beside.is_empty() {
        return None;
    }
    let mut pool = pool.unwrap_or_else(|| Node::empty(at.clone(), &path));
    let own_name = pool.take("name").and_then(|(key, node)| Some((key, node.text()?.to_owned())));
    let name = own_name.map(|(_, name)| name).or(service).unwrap_or_else(|| "pool".to_owned());
    let key = Key { name, at: pool.at.clone() };
    check_name(&key, &pool, found);
    if let Some(entries) = pool.entries_mut() {
        for (key, node) in beside {
            match entries.iter().position(|(known, _)| known.name == key.name) {
                Some(index) => found.push(said_twice(&key, &node, &entries[index].1)),
                None => entries.push((key, node)),
            }
        }
    }
    Some((key, pool))
}

fn refuse_unknown(root: &mut Node, found: &mut Found) {
    let Some(entries) = root.entries_mut() else { return };
    entries.retain(|(key, node)| {
        let is_known = FILE.fields.iter().any(|field| field.is_called(&key.name));
        if !is_known {
            let all = FILE.fields.iter().chain(POOL.fields).map(|field| field.name);
            let all: Vec<&str> = all.chain(["pools", "pool"]).chain(SHORT).collect();
            let own = FILE.fields.iter().map(|field| field.name).chain(["pools", "pool"]);
            let advice = match nearest(&key.name, all.iter().copied()) {
                Some(_) => unknown(&key.name, all.into_iter()),
                None => unknown(&key.name, own),
            };
            found.push(Finding::new(&key.at, &node.path, None, advice));
        }
        is_known
    });
}

/// `coordination: {type: budget}`: the budget is all there is here.
fn drop_budget_type(root: &mut Node, found: &mut Found) {
    let Some((_, kind)) = root.get_mut("budget").and_then(|budget| budget.take("type")) else {
        return;
    };
    if kind.text() != Some("budget") {
        let advice = "only \"budget\" is known here".to_owned();
        found.push(Finding::new(&kind.at, &kind.path, Some(kind.shown()), advice));
    }
}

/// Puts what was written the short way where it belongs, and gives all else its first name.
fn spell_out(pool: &mut Node, found: &mut Found) {
    if pool.get("type").and_then(Node::text) == Some("ants") {
        from_ants(pool, found);
    }
    if let Some((key, cooldown)) = pool.take("cooldown") {
        put(pool, "guards", (key, cooldown), found);
    }
    if let Some((key, slo)) = pool.take("slo") {
        from_slo(pool, key, slo, found);
    }
    if let Some((key, initial)) = pool.take("initial") {
        put(pool, "workers", (key, initial), found);
    }
    if let Some((key, mut bounds)) = pool.take("bounds") {
        match bounds.entries_mut() {
            Some(entries) => {
                for entry in entries.drain(..) {
                    put(pool, "workers", entry, found);
                }
            }
            None => {
                let advice = "a section is needed, with min and max".to_owned();
                found.push(Finding::new(&key.at, &bounds.path, Some(bounds.shown()), advice));
            }
        }
    }
    canonical(pool, &Kind::Section(&POOL), found);
}

/// `slo: 100ms`: the preset of that name, with this wait budget.
fn from_slo(pool: &mut Node, mut key: Key, budget: Node, found: &mut Found) {
    let preset = pool.get("preset").filter(|preset| preset.text() != Some("slo"));
    if let Some(other) = preset.or_else(|| pool.get("wait_budget")) {
        let advice = format!("and {} is {other}; leave one of them out", other.path);
        found.push(Finding::new(&key.at, &budget.path, Some(budget.shown()), advice));
        return;
    }
    let Some(entries) = pool.entries_mut() else { return };
    entries.retain(|(known, _)| known.name != "preset");
    let name = Key { name: "preset".to_owned(), at: key.at.clone() };
    entries.push((name, Node { value: Value::Text("slo".to_owned()), ..budget.clone() }));
    "wait_budget".clone_into(&mut key.name);
    entries.push((key, budget));
}

/// Puts an entry into a section of the pool, which is made where there is none.
fn put(pool: &mut Node, section: &str, entry: (Key, Node), found: &mut Found) {
    let (at, path) = (entry.1.at.clone(), entry.1.path.clone());
    if pool.get(section).is_none() {
        let key = Key { name: section.to_owned(), at: at.clone() };
        let Some(entries) = pool.entries_mut() else { return };
        entries.push((key, Node::empty(at, &path)));
    }
    // A section that is none is a fault of its own, told when it is checked.
    let Some(entries) = pool.get_mut(section).and_then(Node::entries_mut) else { return };
    match entries.iter().position(|(known, _)| known.name == entry.0.name) {
        None => entries.push(entry),
        Some(index) => match (entry.1.at.is_variable(), entries[index].1.at.is_variable()) {
            // Variables override the file, whichever name they call a thing by.
            (true, false) => entries[index] = entry,
            (false, true) => {}
            _ => found.push(said_twice(&entry.0, &entry.1, &entries[index].1)),
        },
    }
}

/// What `ants` calls its options, and where they belong here.
const ANTS: [&str; 3] = ["expiry_duration", "nonblocking", "max_blocking_tasks"];

/// A pool of `ants` is a pool of threads; its options are fields here.
fn from_ants(pool: &mut Node, found: &mut Found) {
    if let Some(kind) = pool.get_mut("type") {
        kind.value = Value::Text("threads".to_owned());
    }
    let Some((_, mut options)) = pool.take("options") else { return };
    let Some(entries) = options.entries_mut() else {
        let advice = "a section with options of ants is needed".to_owned();
        found.push(Finding::new(&options.at, &options.path, Some(options.shown()), advice));
        return;
    };
    for (mut key, mut node) in entries.drain(..) {
        match key.name.as_str() {
            "expiry_duration" => {
                "idle".clone_into(&mut key.name);
                match (pool.get("idle").cloned(), pool.entries_mut()) {
                    (Some(other), _) => found.push(said_twice(&key, &node, &other)),
                    (None, Some(entries)) => entries.push((key, node)),
                    (None, None) => {}
                }
            }
            "nonblocking" => {
                let Value::Bool(nonblocking) = node.value else {
                    let advice = "true or false is needed".to_owned();
                    found.push(Finding::new(&node.at, &node.path, Some(node.shown()), advice));
                    continue;
                };
                let overflow = if nonblocking { "reject" } else { "wait" };
                node.value = Value::Text(overflow.to_owned());
                "overflow".clone_into(&mut key.name);
                put(pool, "queue", (key, node), found);
            }
            "max_blocking_tasks" => {
                "len_max".clone_into(&mut key.name);
                put(pool, "queue", (key, node), found);
            }
            name => {
                let advice = unknown(name, ANTS.into_iter());
                found.push(Finding::new(&key.at, &node.path, None, advice));
            }
        }
    }
}
