//! What a host may know of a problem beside the matrix: random features, basis points, and the parts of
//! pathwise right-hand sides.

use std::ffi::c_void;

use gpbench_abi as abi;
use gpbench_abi::Status;
use ndarray::{Array2, ShapeBuilder};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::DenseProblem;
use super::world::{World, on_world};
use crate::matrix::{view, view_mut};
use crate::{Error, Result};

/// Random features, for solvers that ask.
#[derive(Debug, Clone)]
pub(super) enum Features {
    /// The same for every seed; m x count.
    Fixed(Array2<f64>),
    /// A factor of what they are a factor of on average; m x r.
    Drawn(Array2<f64>),
}

impl DenseProblem {
    /// Offers random features Phi = `root` G / sqrt(count), with signs G (r x count) drawn from each
    /// seed: E\[Phi Phi^T\] = `root` `root`^T, with `root` m x r.
    #[must_use]
    pub fn random_features(mut self, root: Array2<f64>) -> Self {
        self.features = Some(Features::Drawn(root));
        self
    }

    /// Offers these features (m x count) whatever the seed, to solvers that ask for as many.
    #[must_use]
    pub fn fixed_features(mut self, phi: Array2<f64>) -> Self {
        self.features = Some(Features::Fixed(phi));
        self
    }

    /// Tells the parts of the probes, each n x (number of probes); that they sum to the probes is not
    /// checked.
    #[must_use]
    pub fn pathwise(mut self, f: &Array2<f64>, noise: &Array2<f64>) -> Self {
        self.parts = Some([by_columns(f), by_columns(noise)]);
        self
    }

    /// Tells that A = K(X, Z) for basis points Z (m x d); of problems with a kernel.
    #[must_use]
    pub fn basis(mut self, z: &Array2<f64>) -> Self {
        self.basis = Some(by_columns(z));
        self
    }
}

/// A column-major copy, which the interface takes as it is.
pub(super) fn by_columns(matrix: &Array2<f64>) -> Array2<f64> {
    let mut columns = Array2::zeros(matrix.dim().f());
    columns.assign(matrix);
    columns
}

/// A column-major matrix as it crosses the interface, to be read only.
pub(super) fn mat(matrix: &Array2<f64>) -> abi::Mat {
    let (rows, cols) = matrix.dim();
    abi::Mat { data: matrix.as_ptr().cast_mut(), rows: rows as i64, cols: cols as i64, ld: rows as i64 }
}

impl Features {
    pub(super) fn table() -> abi::Features {
        abi::Features {
            size: size_of::<abi::Features>() as u32,
            reserved: 0,
            apply: Some(apply),
            apply_transposed: Some(apply_transposed),
        }
    }

    /// The features of a seed; m x count.
    fn of(&self, seed: u64, count: i64) -> Result<Array2<f64>> {
        let count = usize::try_from(count).unwrap_or(0);
        match self {
            Features::Fixed(phi) if phi.ncols() == count => Ok(phi.clone()),
            Features::Fixed(phi) => {
                let text = format!("{count} features were asked for, of {} fixed ones", phi.ncols());
                Err(Error::InvalidArgument(text))
            }
            Features::Drawn(root) => {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                let length = (count as f64).sqrt().recip();
                let signs = Array2::from_shape_simple_fn((root.ncols(), count), || {
                    if rng.random::<bool>() { length } else { -length }
                });
                Ok(root.dot(&signs))
            }
        }
    }

    fn of_world(world: &World<'_>, seed: u64, count: i64) -> Result<Array2<f64>> {
        let features = world.problem.features.as_ref();
        features.ok_or_else(|| Error::Unsupported("no features here".into()))?.of(seed, count)
    }
}

unsafe extern "C" fn apply(
    op: *const abi::Operator,
    seed: u64,
    count: i64,
    w: *const abi::Mat,
    y: *mut abi::Mat,
) -> Status {
    // SAFETY: the operator's caller passes live matrices that do not overlap.
    unsafe {
        on_world(op, |world, _| {
            let phi = Features::of_world(world, seed, count)?;
            view_mut(&*y, "y")?.assign(&phi.dot(&view(&*w, "w")?));
            Ok(())
        })
    }
}

unsafe extern "C" fn apply_transposed(
    op: *const abi::Operator,
    seed: u64,
    count: i64,
    y: *const abi::Mat,
    w: *mut abi::Mat,
) -> Status {
    // SAFETY: as in `apply`.
    unsafe {
        on_world(op, |world, _| {
            let phi = Features::of_world(world, seed, count)?;
            view_mut(&*w, "w")?.assign(&phi.t().dot(&view(&*y, "y")?));
            Ok(())
        })
    }
}

/// The parts of pathwise right-hand sides as they cross the interface.
pub(super) fn targets(parts: &[Array2<f64>; 2]) -> abi::Targets {
    let [f, noise] = parts;
    abi::Targets { size: size_of::<abi::Targets>() as u32, reserved: 0, f: mat(f), noise: mat(noise) }
}

/// What is offered, or null.
pub(super) fn answer<T>(table: Option<&T>) -> *const c_void {
    table.map_or(std::ptr::null(), |table| (&raw const *table).cast())
}
