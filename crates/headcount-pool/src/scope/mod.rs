//! Tasks that borrow from whoever submits them.

mod borrowed;
mod erase;

pub use borrowed::Scope;
