//! What an error of Redis means to whoever called.

use headcount_core::jobs::port::StoreError;
use redis::{ErrorKind, RedisError};

/// The error as the port says it: passing, unwritable, or of another format.
pub(super) fn store_error(error: RedisError) -> StoreError {
    // A refusal inside of a script has its own code, or the code in the middle of its text.
    let text = error.to_string();
    let says = |word: &str| error.code() == Some(word) || text.contains(word);
    if ["OOM", "READONLY", "MISCONF", "NOREPLICAS"].into_iter().any(says) {
        return StoreError::unwritable(error);
    }
    if says("WRONGTYPE") {
        return StoreError::Format(format!(
            "a key of the queue belongs to another application ({text}); use another Redis, or \
             another database of it",
        ));
    }
    // A script that meets a right it has not says so in words only: those of Redis, of Valkey.
    if ["NOPERM", "can't run this command", "has no permissions"].into_iter().any(says) {
        return StoreError::Refused(format!(
            "the Redis user may not do this ({text}); make it with the rule that `acl` prints",
        ));
    }
    match error.kind() {
        ErrorKind::Parse | ErrorKind::UnexpectedReturnType => StoreError::Format(text),
        _ => StoreError::unreachable(error),
    }
}

/// Whether the connection is of no more use: it broke, fell silent, or leads to a server that no
/// longer takes writes.
pub(super) fn is_broken(error: &RedisError) -> bool {
    error.is_io_error()
        || error.is_timeout()
        || error.is_connection_dropped()
        || error.is_unrecoverable_error()
        || matches!(error.code(), Some("READONLY" | "MASTERDOWN"))
        || error.to_string().contains("READONLY")
}
