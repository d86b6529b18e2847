//! Tasks that belong together.

mod mailbox;
mod tasks;

pub(crate) use mailbox::Messenger;
pub use tasks::Group;
