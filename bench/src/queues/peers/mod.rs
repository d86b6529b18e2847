//! Those we compare ourselves with.

mod apalis;
mod sidekiq;
mod scripts;

pub(super) use apalis::Apalis;
pub(super) use scripts::{Program, bullmq, dramatiq};
pub(super) use sidekiq::Sidekiq;
