//! Pictures of simulated runs: SVG, and one HTML page that needs nothing else.
//!
//! - [`timeline`] draws runs over one axis of time: size against demand, jobs that wait and how
//!   long, decisions as marks that tell their text.
//! - [`page`] puts that picture between a table and lists of decisions.
//! - [`Scatter`] compares policies by two numbers, on axes that count in powers of ten.
//!
//! Every text is escaped, whoever wrote it; no picture has a script or fetches anything. Colours
//! follow the reader's choice of light or dark.

mod series;
mod svg;
mod theme;
mod scale;
mod thin;
mod panel;
mod timeline;
mod scatter;
mod page;

#[cfg(test)]
mod picture_tests;

pub use page::{DECISIONS_LISTED_MAX, page};
pub use scatter::{Scatter, ScatterPoint};
pub use series::{Point, Remark, Report, Run, Table};
pub use thin::POINTS_MAX;
pub use timeline::timeline;
