//! How many workers a load needs, which bounds to set, and what would change that.
//!
//! A [`Question`] goes in, a [`Plan`] with every figure on the way comes out, or [`NoPlan`] where
//! no number of workers would do. [`Stages`] is the same for work that passes several pools;
//! [`Rates`] is how a record of arrivals becomes a question.

mod bounds;
mod no_plan;
mod planned;
mod question;
mod rates;
mod stages;
mod standing;
mod what_if;

pub use bounds::{Bounds, Floor};
pub use no_plan::NoPlan;
pub use planned::{Doubling, Memory, Plan, Present};
pub use question::Question;
pub use rates::Rates;
pub use stages::{Narrowest, Stage, StagePlan, Stages, StagesPlan};
pub use standing::Standing;
pub use what_if::{Change, WhatIf};
