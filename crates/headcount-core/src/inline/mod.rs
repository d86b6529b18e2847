//! Names and lists that live where they stand.
//!
//! A decision carries names, readings and rulings, and is made without touching the heap. Both
//! types have a limit, and say so when it is reached.

mod list;
mod name;

pub use list::List;
pub use name::{Name, NameError};
