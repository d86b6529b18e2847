//! Pools of async tasks, by what they do: on runtimes of one thread and of many, and without one.

#![cfg(feature = "tokio")]
mod stage;

mod work;
mod outcomes;
mod own_line;
mod many;
mod nesting;
mod lending;
mod policies;
mod lifetime;
