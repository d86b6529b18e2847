//! Queues and jobs: the routes that show and steer them.

mod queues;
mod steer;
mod submission;
mod submit;
mod view;

mod list;

pub(crate) use list::{list, show};
pub(crate) use queues::{all, one, pause, purge, resume, rules, set_rules};
pub(crate) use steer::{act, bulk, single};
pub(crate) use submit::submit;
