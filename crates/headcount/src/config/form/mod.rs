//! What may stand in a file: one table, from which everything else follows.
//!
//! A [`Section`] lists its fields with their kinds, defaults and a sentence each. The check of a
//! file, what `show` prints, the JSON Schema and the test of the reference manual all read the same
//! table, so they cannot disagree. Defaults are asked of the types that a file is made into.

mod kind;
mod words;
mod needs;
mod check;
mod guess;
mod write;
mod canon;
mod schema;

mod deciders;
mod file;
mod guards;
mod health;
mod peers;
mod pool;
mod queues;
mod signals;

pub(crate) use canon::{canonical, said_twice};
pub(crate) use check::{Checking, Found, unknown};
pub(crate) use file::FILE;
pub(crate) use guess::{listed, meant_or_there_are, nearest};
pub(crate) use health::HEALTH_RULES;
pub(crate) use kind::{Kind, Part, Section, Tagged};
pub(crate) use pool::POOL;
pub(crate) use schema::schema;
pub(crate) use words::{duration, seconds_value, span_of};
pub(crate) use write::write;

#[cfg(test)]
mod table_tests;
