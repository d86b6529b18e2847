//! Tells when a file has changed, and hands over what it says now.
//!
//! The directory is watched, not the file: editors put a new file in place of the old one, and
//! Kubernetes swaps a symbolic link beside it. What happens in quick succession is looked at once.
//! A hangup signal asks for a look too. A file that cannot be used changes nothing.

mod settle;
mod watcher;

pub use watcher::{Change, WatchError, Watcher};
