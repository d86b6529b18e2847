//! The sampler: what it keeps, in virtual time, and what its thread does when a sensor misbehaves.

mod kept;
mod pools;
mod thread;
