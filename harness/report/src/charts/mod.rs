//! Charts, as SVG texts.
//!
//! All charts follow the same rules. A solver has one colour and one marker throughout a report, from Okabe and Ito's
//! palette, which stays distinguishable for colour-blind readers and in print. The legend is above the axes, where it covers no
//! data. A chart that the data cannot fill is not drawn.

mod axes;
pub(crate) mod convergence;
pub(crate) mod curve;
pub(crate) mod distance;
mod field;
pub(crate) mod figure;
pub(crate) mod grid;
pub(crate) mod learning;
pub(crate) mod likelihood;
mod panel;
pub(crate) mod pareto;
pub(crate) mod paths;
pub(crate) mod posterior;
pub(crate) mod probes;
pub(crate) mod profile;
pub(crate) mod progress;
mod scale;
pub(crate) mod seconds;
pub(crate) mod section;
pub(crate) mod size;
pub(crate) mod spectrum;
mod style;
pub(crate) mod sweep;
pub(crate) mod training;
pub(crate) mod truncation;
