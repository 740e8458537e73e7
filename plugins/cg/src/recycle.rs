//! Ritz vectors kept from one outer step to the next, and taken out of its systems (deflation).
//!
//! The formulae of deflated conjugate gradients, with W scaled so that W^T A W = I: the iterate starts with the
//! best in W, x += W W^T r, and every preconditioned residual z gives up its part in W, z -= W (A W)^T z. A
//! step later, W holds those Ritz vectors of M^-1 A, over the old W and the directions of one right-hand side,
//! whose Ritz values are the largest: with a kernel matrix plus noise the smallest eigenvalues are many and
//! alike, and it is the largest that cost iterations.

use gpbench_sdk::ndarray::{Array2, ArrayRef2, ArrayView1, Axis, ShapeBuilder, concatenate, s};
use gpbench_sdk::precondition::Preconditioner;
use gpbench_sdk::{Result, Workers, lapack, tall};

/// Directions from which new Ritz vectors are made, for each vector that is kept.
const DIRECTIONS: usize = 3;

/// Eigenvalues of Z^T A Z, for columns with d^T A d = 1, up to which a combination of them is rounding error.
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

    /// Adds to the iterate X what W tells of it, and takes that out of the residual R: R becomes orthogonal
    /// to W. R is relative to the right-hand sides' norms `scales`.
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
    pub(crate) fn take_out_of(&self, z: &mut ArrayRef2<f64>, workers: Workers<'_>) {
        let coefficients = tall::product(&self.product, z, workers);
        tall::add_product(-1.0, &self.w, &coefficients, z, workers);
    }
}

/// What one right-hand side's directions tell of A.
pub(crate) struct Harvest {
    /// Vectors to keep.
    kept: usize,
    /// Directions d with d^T A d = 1.
    directions: Vec<Vec<f64>>,
    /// A d.
    products: Vec<Vec<f64>>,
}

impl Harvest {
    /// For `kept` vectors.
    pub(crate) fn new(kept: usize) -> Harvest {
        Harvest { kept, directions: Vec::new(), products: Vec::new() }
    }

    /// Takes a direction and its product with A, while there is room.
    pub(crate) fn take(&mut self, d: ArrayView1<'_, f64>, product: ArrayView1<'_, f64>) {
        let curvature = d.dot(&product);
        if self.directions.len() < DIRECTIONS * self.kept && curvature > 0.0 && curvature.is_finite() {
            let scale = curvature.sqrt().recip();
            self.directions.push(d.iter().map(|d| scale * d).collect());
            self.products.push(product.iter().map(|product| scale * product).collect());
        }
    }

    /// The Ritz vectors of M^-1 A with the largest values over the directions and the old `space`: stationary
    /// points of (A z)^T M^-1 (A z) / z^T A z. None if there is nothing to make them of.
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
        let largest = rayleigh.slice(s![.., rayleigh.ncols().saturating_sub(self.kept)..]);
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
