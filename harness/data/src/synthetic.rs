//! Sets that are drawn rather than read: the one-dimensional toys of the papers,
//! and draws from a Gaussian process.
//!
//! Every number depends on the seed and the sizes alone, never on the number of
//! threads. Test targets carry the same noise as training targets, and everything
//! comes standardised, as a set from a file would.

mod gp_draw;
mod toy;

pub use gp_draw::{DRAW_FEATURES, DrawError, EXACT_LIMIT, GpDraw, gp_draw};
pub use toy::{GRID_SPACING, TOYS, Toy, UnknownToy, find_toy, toy, toy_grid, toy_infill, toy_sine};
