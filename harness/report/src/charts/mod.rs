//! Charts, as SVG texts.
//!
//! All charts follow the same rules. A solver has one colour and one marker throughout a report (`palette`, `marker`), which
//! can be distinguished by colour-blind readers and in grey print. The legend is above the axes, where it covers no data; few curves
//! are also named at their ends (`labels`). The elements of a series stand in groups of the SVG (`series`). A chart that the data
//! cannot fill is not drawn.

pub(crate) mod acquisition;
mod axes;
pub(crate) mod beside;
pub(crate) mod calibration;
pub(crate) mod convergence;
pub(crate) mod curve;
pub(crate) mod distance;
mod field;
pub(crate) mod figure;
pub(crate) mod form;
pub(crate) mod gains;
pub(crate) mod grid;
pub(crate) mod history;
mod labels;
pub(crate) mod learning;
mod legend;
pub(crate) mod likelihood;
mod marker;
pub(crate) mod optimum;
pub(crate) mod palette;
mod panel;
pub(crate) mod pareto;
pub(crate) mod paths;
pub(crate) mod posterior;
pub(crate) mod precision;
pub(crate) mod probes;
pub(crate) mod profile;
pub(crate) mod progress;
pub(crate) mod runtime;
mod scale;
pub(crate) mod search;
pub(crate) mod search_steps;
pub(crate) mod seconds;
pub(crate) mod section;
mod series;
mod sheet;
pub(crate) mod size;
pub(crate) mod spectrum;
mod style;
mod svg;
pub(crate) mod sweep;
pub(crate) mod training;
pub(crate) mod truncation;
