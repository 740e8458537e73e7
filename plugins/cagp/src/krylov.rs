//! The residuals of conjugate gradients as actions.
//!
//! On H v = r, H = K + s^2 I, from 0, the residuals are orthogonal and span the Krylov space of H and r, which is
//! that of K and r. They are computed by Lanczos' recurrence with every vector orthogonalised twice against all
//! before it: the search directions of conjugate gradients, and its residuals without that, lose their orthogonality
//! within some twenty steps, and variances then come out negative.

use gpbench_sdk::kernel::Kernel;
use gpbench_sdk::ndarray::{Array2, ArrayView1, ArrayView2, ShapeBuilder, s};
use gpbench_sdk::symmetric::column_major;
use gpbench_sdk::{Workers, tall};

use crate::bound::{column, inner};
use crate::{ActionMatrix, covariances};

/// Share of a product that is left by orthogonalisation where the Krylov space has no further direction.
const EXHAUSTED: f64 = 1e-12;

/// Actions and their covariances.
#[derive(Debug, Clone, PartialEq)]
pub struct Directions {
    /// S, n x i with orthonormal columns, column-major.
    pub actions: Array2<f64>,
    /// K S.
    pub covariances: Array2<f64>,
}

/// The first `count` residuals for the right-hand side `residual`, normalised; fewer if the Krylov space has fewer
/// dimensions, and at least one. Each takes n^2 kernel entries.
///
/// # Panics
/// If `count` is 0.
pub fn residual_directions(
    kernel: &Kernel,
    x: ArrayView2<'_, f64>,
    residual: ArrayView1<'_, f64>,
    count: usize,
    workers: Workers<'_>,
) -> Directions {
    assert!(count > 0, "at least one action");
    let n = x.nrows();
    let empty = || Array2::<f64>::zeros((n, count).f());
    let (mut actions, mut products) = (empty(), empty());
    let mut next = first(residual);
    let mut found = 0;
    loop {
        actions.slice_mut(s![.., found..=found]).assign(&next);
        next = covariances(kernel, x, x, &ActionMatrix::Dense(next), workers);
        products.slice_mut(s![.., found..=found]).assign(&next);
        found += 1;
        if found == count {
            break;
        }
        let whole = inner(&next, &next).sqrt();
        let earlier = actions.slice(s![.., ..found]);
        for _ in 0..2 {
            let shares = tall::product(&earlier, &next, workers);
            tall::add_product(-1.0, &earlier, &shares, &mut next, workers);
        }
        let rest = inner(&next, &next).sqrt();
        if rest <= EXHAUSTED * whole {
            break;
        }
        next /= rest;
    }
    let taken = |a: &Array2<f64>| column_major(&a.slice(s![.., ..found]));
    Directions { actions: taken(&actions), covariances: taken(&products) }
}

/// The right-hand side with length 1; one with equal entries where it is 0 or not finite.
fn first(residual: ArrayView1<'_, f64>) -> Array2<f64> {
    let mut first = column(residual);
    let mut length = inner(&first, &first).sqrt();
    if !length.is_normal() {
        first.fill(1.0);
        length = (residual.len() as f64).sqrt();
    }
    first /= length;
    first
}
