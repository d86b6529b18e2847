//! `slo` in closed loop: with a downstream that has no knee, and with one that has.
//!
//! Each test is a story of stages told to a pool, event by event; what is asserted is what came
//! of it: the ceiling, who waited, who failed. On failure the story is shown in a line, as
//! `second:ceiling(waiting)`, with `?` while it probes and `!` while it is bound.

mod plant;
mod run;

mod free;
mod knee;
mod restart;
mod trust;
