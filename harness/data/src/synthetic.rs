//! Data sets that are drawn from a seed: the one-dimensional toys of the papers, and draws from a Gaussian process, which
//! may be asked again at other points.
//!
//! Every number depends on the seed and the sizes alone, never on the number of threads. Test targets carry the same
//! noise as training targets, and the rows are scaled as those of a file are.

mod gp_draw;
mod objective;
mod toy;

pub use gp_draw::{DrawError, gp_draw};
pub use objective::{Design, DrawnObjective, largest, random_search};
pub use toy::{GRID_SPACING, TOYS, Toy, UnknownToy, toy};
