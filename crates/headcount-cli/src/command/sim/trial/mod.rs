//! `headcount sim`: a few policies side by side on one load.
//!
//! ```text
//! load -- jobs --+
//! policies ------+--> running -- Trial --> table, JSON, decisions, pictures
//! world ---------+
//! ```
//!
//! Every policy meets the same jobs in the same world. What is described on the command line
//! (`described`, `arrivals`, `sizes`, `numbers`) is read without knowing the rest.

mod arguments;

mod numbers;
mod described;
mod arrivals;
mod sizes;

mod load;
mod policies;
mod nodes;
mod machine;
mod downstream;
mod world;
mod running;
mod diary;
mod table;
mod json;
mod pictures;
mod repeat;
mod output;

pub(super) use arguments::Arguments;
pub(super) use output::run;
