//! The least that a Redis user must be allowed.

/// What a user does with the store.
///
/// ```
/// use headcount_queue::redis::{Role, acl};
///
/// let rule = acl("reports", Role::Reader);
/// assert!(rule.starts_with("user reports on "), "{rule}");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// Submits, works and steers: all that a node of headcount does.
    Node,
    /// Only looks: numbers and lists.
    Reader,
}

/// What makes a connection, and finds out what is at its other end.
const GREETING: &[&str] =
    &["auth", "evalsha", "hello", "info", "ping", "script|load", "select", "time"];

/// What scripts that read call, and the listing of queues.
const READING: &[&str] = &[
    "exists",
    "get",
    "hexists",
    "hget",
    "hgetall",
    "hkeys",
    "hlen",
    "hmget",
    "hscan",
    "lindex",
    "llen",
    "lrange",
    "scard",
    "sismember",
    "smembers",
    "type",
    "zcard",
    "zcount",
    "zrange",
    "zscore",
];

/// What scripts that write call, and the waiting.
const WRITING: &[&str] = &[
    "bzpopmin", "del", "hdel", "hincrby", "hset", "hsetnx", "lmove", "lpop", "lpush", "lrem",
    "rpush", "sadd", "set", "srem", "zadd", "zrem",
];

/// The rule, as a line of an ACL file, for a user with that role: exactly what the scripts use, on
/// our keys only. Give the user a password, as `>password` or `#hash`, in place of `resetpass`.
///
/// ```
/// use headcount_queue::redis::{Role, acl};
///
/// let rule = acl("worker", Role::Node);
/// assert!(rule.contains(" ~headcount:* "), "{rule}");
/// assert!(rule.contains(" +evalsha "), "{rule}");
/// assert!(!rule.contains("+eval "), "{rule}");
/// ```
#[must_use]
pub fn acl(user: &str, role: Role) -> String {
    let commands = match role {
        Role::Node => [GREETING, READING, WRITING].concat(),
        Role::Reader => [GREETING, READING].concat(),
    };
    let commands = commands.join(" +");
    format!("user {user} on resetpass resetkeys ~headcount:* resetchannels -@all +{commands}")
}
