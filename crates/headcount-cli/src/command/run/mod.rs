//! `headcount run`: a command for every item, as many at once as help.
//!
//! ```text
//! input -- Message --> feeding -- Job --> pool of workers: child -- Ran --> settling
//!                         ^                    ^                              |
//!                      retries            sizing: tick, resize           screen, joblog
//! ```
//!
//! The feeder is the main thread. It blocks while the pool's short line is full, so memory does not
//! grow with the input. Each worker of the pool runs one child at a time and waits for it. What is
//! pure (templates, splitting, order, the log's format, exit codes) knows nothing of the rest.

mod arguments;
mod plan;

mod halt;
mod quote;
mod split;
mod template;

mod bounds;
mod child;
mod cpu;
mod exit;
mod family;
mod feeding;
mod input;
mod joblog;
mod order;
mod output;
mod pace;
mod program;
mod progress;
mod resume;
mod retries;
mod screen;
mod settling;
mod signals;
mod sizing;
mod slots;
mod tally;

pub(crate) use arguments::Arguments;
pub(crate) use exit::{OURS, OUTPUT_CLOSED};
pub(crate) use feeding::run;
pub(super) use quote::command_line;
