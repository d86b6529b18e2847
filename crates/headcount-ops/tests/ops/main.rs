//! The admin API over real sockets, by effect.

mod support;

mod api;
mod documents;
mod endings;
mod metrics;
mod security;
mod throttling;
