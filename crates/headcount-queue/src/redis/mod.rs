//! The store that several machines share: Redis 7.0 or later, or Valkey 9.
//!
//! `README.md` beside this file says which keys there are, what each script does and what a
//! failover can lose. Everything that touches the `redis` crate is in this module.

mod options;
mod store;
mod address;
mod homes;
mod link;
mod calls;
mod turn;
mod scripts;
mod write;
mod read;
mod batch;
mod wake;
mod faults;
mod check;
mod acl;

use std::hash::{BuildHasher, Hasher};

pub use acl::{Role, acl};
pub use check::Warning;
pub use options::{ConnectError, RedisOptions};
pub use store::RedisStore;

/// Between 0 and 1, different each time: for distances that must not be equal.
fn chance() -> f64 {
    let random = std::hash::RandomState::new().build_hasher().finish();
    (random >> 11) as f64 / (1_u64 << 53) as f64
}
