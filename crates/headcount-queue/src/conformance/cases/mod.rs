//! The cases, by what they are about.

pub(super) mod order;
pub(super) mod keys;
pub(super) mod limits;
pub(super) mod unique;
pub(super) mod dependence;
pub(super) mod endings;
pub(super) mod fences;
pub(super) mod turns;
pub(super) mod losses;
pub(super) mod keeping;
pub(super) mod steering;
pub(super) mod reading;
pub(super) mod waking;
