//! The least that any policy could have paid, had it known the future.
//!
//! Time is cut into slots. In slot `t` there are `n` workers, `u` of them newly hired, and `B` is
//! the work that has arrived and is not done at its end, all of them fractions if need be:
//!
//! ```text
//! minimise    slot x sum of n  +  (spawn cost + spawn delay) x sum of u
//! such that   arrived + B before - B  <=  n           nobody works faster than workers do
//!             0 <= B <= arrived and not yet due       no work before it is there, none late
//!             n before + u  >=  n  >=  workers_min
//!             arrived + B before - B  <=  knee        where there is one
//! ```
//!
//! Work may be cut up, put aside and given to any number of workers at once, which no pool can do;
//! and slots blur what happens inside them. Both only make it cheaper, so no policy that is never
//! late pays less. One that is late now and then may.
//!
//! The knee bounds the work that gets done and not the workers that are there: those who are idle
//! beyond it slow down nobody, and to keep them through a brown-out may be cheaper than to hire
//! again.
//!
//! What the solver says is not taken on trust. Its prices (the dual point) are moved to where they
//! are feasible to the last digit, and the bound is what they prove; its plan is mended in the same
//! way, and the difference between the two is reported as the gap.

mod config;
mod slots;
mod program;
mod proof;
mod clairvoyant;

#[cfg(test)]
mod brute_tests;

pub use clairvoyant::{Bound, BoundError};
pub use config::{BoundConfig, KneeStep};
pub use slots::SLOTS_MAX;
