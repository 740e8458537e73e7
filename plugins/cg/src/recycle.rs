//! Ritz vectors saved from one outer step to the next, where they deflate the systems.
//!
//! Deflated conjugate gradients, with W scaled so that W^T A W = I: the iterate starts with the minimiser over W,
//! x += W W^T r, and every preconditioned residual z is made conjugate to W, z -= W (A W)^T z. In the next outer
//! step, W holds the Ritz vectors of M^-1 A with the largest Ritz values, over the old W and the directions of one
//! right-hand side. The largest are chosen because a kernel matrix plus noise has many small eigenvalues that are
//! nearly equal, while the large ones cost iterations.

use gpbench_sdk::ndarray::{Array2, ArrayRef2, ArrayView1, Axis, ShapeBuilder, concatenate, s};
use gpbench_sdk::precondition::Preconditioner;
use gpbench_sdk::{Result, Workers, lapack, tall};

/// Directions from which new Ritz vectors are computed, for each vector that is saved.
const DIRECTIONS: usize = 3;

/// Eigenvalues of Z^T A Z, for columns with d^T A d = 1, up to which a combination of the columns is rounding error.
const DEPENDENT: f64 = 1e-8;

/// Columns W with W^T A W = I, and A W.
pub(crate) struct Space {
    w: Array2<f64>,
    product: Array2<f64>,
}

impl Space {
    /// Scales W, given with A W. None if A is not positive definite on W to working precision.
    pub(crate) fn new(w: &Array2<f64>, product: &Array2<f64>, workers: Workers<'_>) -> Result<Option<Space>> {
        let mut core = tall::product(w, product, workers);
        if core.iter().any(|entry| !entry.is_finite()) || lapack::cholesky(&mut core).is_err() {
            return Ok(None);
        }
        let all: Vec<usize> = (0..w.ncols()).collect();
        let divide = |columns| tall::divide(columns, &all, &core, workers);
        Ok(Some(Space { w: divide(w)?, product: divide(product)? }))
    }

    /// Moves the iterate X to the minimiser over W and updates the residual R, which becomes orthogonal to W. R is relative to the right-hand sides' norms `scales`.
    pub(crate) fn start(
        &self,
        x: &mut ArrayRef2<f64>,
        r: &mut ArrayRef2<f64>,
        scales: &[f64],
        workers: Workers<'_>,
    ) {
        let mut coefficients = tall::product(&self.w, r, workers);
        tall::add_product(-1.0, &self.product, &coefficients, r, workers);
        coefficients.columns_mut().into_iter().zip(scales).for_each(|(mut column, scale)| column *= *scale);
        tall::add_product(1.0, &self.w, &coefficients, x, workers);
    }

    /// Z -= W (A W)^T Z, after which Z is conjugate to W.
    pub(crate) fn deflate(&self, z: &mut ArrayRef2<f64>, workers: Workers<'_>) {
        let coefficients = tall::product(&self.product, z, workers);
        tall::add_product(-1.0, &self.w, &coefficients, z, workers);
    }
}

/// Directions of one right-hand side and their products with A: a basis of its Krylov space.
pub(crate) struct KrylovBasis {
    /// Ritz vectors to compute from it.
    count: usize,
    /// Directions d with d^T A d = 1.
    directions: Vec<Vec<f64>>,
    /// A d.
    products: Vec<Vec<f64>>,
}

impl KrylovBasis {
    /// An empty basis, for `count` Ritz vectors.
    pub(crate) fn new(count: usize) -> KrylovBasis {
        KrylovBasis { count, directions: Vec::new(), products: Vec::new() }
    }

    /// Adds a direction with its product with A, up to the number needed.
    pub(crate) fn add(&mut self, d: ArrayView1<'_, f64>, product: ArrayView1<'_, f64>) {
        let curvature = d.dot(&product);
        if self.directions.len() < DIRECTIONS * self.count && curvature > 0.0 && curvature.is_finite() {
            let scale = curvature.sqrt().recip();
            self.directions.push(d.iter().map(|d| scale * d).collect());
            self.products.push(product.iter().map(|product| scale * product).collect());
        }
    }

    /// The Ritz vectors of M^-1 A with the largest values over the directions and the old `space`: stationary
    /// points of (A z)^T M^-1 (A z) / z^T A z. None if the basis is empty or not finite.
    pub(crate) fn ritz_vectors(
        self,
        space: Option<&Space>,
        preconditioner: Option<&Preconditioner>,
        workers: Workers<'_>,
    ) -> Result<Option<Array2<f64>>> {
        let (z, products) = match space {
            None => (columns(&self.directions), columns(&self.products)),
            Some(space) => (beside(&space.w, &self.directions), beside(&space.product, &self.products)),
        };
        if z.is_empty() {
            return Ok(None);
        }
        let mut gram = tall::product(&z, &products, workers);
        let preconditioned = preconditioner.map(|preconditioner| preconditioner.apply(&products, workers));
        let core = tall::product(&products, preconditioned.as_ref().unwrap_or(&products), workers);
        if gram.iter().chain(&core).any(|entry| !entry.is_finite()) {
            return Ok(None);
        }
        // Combinations B of the columns with B^T (Z^T A Z) B = I.
        let values = lapack::symmetric_eigen(&mut gram)?;
        let first = values.iter().take_while(|value| **value <= DEPENDENT).count();
        let mut basis = Array2::zeros((z.ncols(), values.len() - first).f());
        for (mut column, index) in basis.columns_mut().into_iter().zip(first..) {
            column.assign(&gram.column(index));
            column /= values[index].sqrt();
        }
        let mut rayleigh = Array2::zeros((basis.ncols(), basis.ncols()).f());
        rayleigh.assign(&basis.t().dot(&core).dot(&basis));
        lapack::symmetric_eigen(&mut rayleigh)?;
        let largest = rayleigh.slice(s![.., rayleigh.ncols().saturating_sub(self.count)..]);
        let mut combinations = Array2::zeros((z.ncols(), largest.ncols()).f());
        combinations.assign(&basis.dot(&largest));
        let mut vectors = Array2::zeros((z.nrows(), combinations.ncols()).f());
        tall::add_product(1.0, &z, &combinations, &mut vectors, workers);
        Ok(Some(vectors))
    }
}

/// Vectors as the columns of a matrix.
fn columns(vectors: &[Vec<f64>]) -> Array2<f64> {
    let n = vectors.first().map_or(0, Vec::len);
    let numbers = vectors.iter().flatten().copied().collect();
    Array2::from_shape_vec((n, vectors.len()).f(), numbers).expect("vectors of one length")
}

/// Vectors as further columns of a matrix.
fn beside(first: &Array2<f64>, vectors: &[Vec<f64>]) -> Array2<f64> {
    if vectors.is_empty() {
        return first.clone();
    }
    let mut both = Array2::zeros((first.nrows(), first.ncols() + vectors.len()).f());
    both.assign(&concatenate![Axis(1), *first, columns(vectors)]);
    both
}
