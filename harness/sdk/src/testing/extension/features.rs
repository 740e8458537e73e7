//! Products with random features.

use std::ffi::c_void;

use gpbench_abi as abi;
use gpbench_abi::Status;
use ndarray::Array2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::answer;
use crate::matrix::{view, view_mut};
use crate::testing::DenseProblem;
use crate::testing::mock_problem::MockProblem;
use crate::{Error, Result};

/// Random features, as the test has set them.
#[derive(Debug, Clone)]
pub(in crate::testing) enum Features {
    /// The same for every seed; m x count.
    Fixed(Array2<f64>),
    /// A square root R of E\[Phi Phi^T\] = R R^T; m x r.
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
}

impl Features {
    /// The features of a seed; m x count.
    fn draw(&self, seed: u64, count: i64) -> Result<Array2<f64>> {
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
}

static TABLE: abi::Features = abi::Features {
    size: size_of::<abi::Features>() as u32,
    reserved: 0,
    apply: Some(apply),
    apply_transposed: Some(apply_transposed),
};

pub(super) fn find(problem: &MockProblem<'_>) -> *const c_void {
    answer(problem.given.features.as_ref().map(|_| &TABLE))
}

fn draw(problem: &MockProblem<'_>, seed: u64, count: i64) -> Result<Array2<f64>> {
    let features = problem.given.features.as_ref();
    features.ok_or_else(|| Error::Unsupported("this problem has no features".into()))?.draw(seed, count)
}

unsafe extern "C" fn apply(
    op: *const abi::Operator,
    seed: u64,
    count: i64,
    w: *const abi::Mat,
    y: *mut abi::Mat,
) -> Status {
    // SAFETY: the caller passes the operator and live matrices that do not overlap.
    unsafe {
        MockProblem::call(op, |problem, _| {
            let phi = draw(problem, seed, count)?;
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
        MockProblem::call(op, |problem, _| {
            let phi = draw(problem, seed, count)?;
            view_mut(&*w, "w")?.assign(&phi.t().dot(&view(&*y, "y")?));
            Ok(())
        })
    }
}
