//! The workers of a process: what they do, how many there are, and how they end.
//!
//! Shared by `serve`, which has an API beside them, and `work`, which has none.

mod arguments;
mod plan;

mod built_in;
mod handlers;
mod hired;
mod unhandled;

mod farewell;
mod log;
mod signals;

pub(crate) use arguments::CrewArguments;
pub(crate) use farewell::farewell;
pub(crate) use hired::{Crew, Surroundings};
pub(crate) use log::{Log, say};
pub(crate) use plan::Plan;
pub(crate) use signals::Signals;
