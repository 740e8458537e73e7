//! The Lanczos iteration: `log |H|` by stochastic quadrature, the largest eigenvalues, and an inverse of low rank, from
//! products with H alone.
//!
//! Functions here take a square, symmetric, positive definite matrix.
//!
//! For z with `E z z^T = I`, `log |H| = tr log H = E z^T log(H) z`. J steps of the iteration from z / |z| give a
//! tridiagonal T of J rows, and `|z|^2 e_1^T log(T) e_1` is the Gauss quadrature of `z^T log(H) z` with J nodes
//! (Golub and Meurant 1994; Ubaru, Chen and Saad 2017). The derivatives of log of even order are negative, so the
//! quadrature is an upper bound for every probe.
//!
//! Every new vector is made orthogonal to all earlier ones, twice: otherwise copies of converged eigenvalues
//! appear, and the tridiagonal depends on rounding.

use gpbench_numerics::lapack;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, ShapeBuilder, s};

use crate::KernelMatrix;

/// Below this share of the largest entry so far, the norm of a new vector is rounding error.
const EXHAUSTED: f64 = 1e-14;

/// The symmetric tridiagonal matrix of the Lanczos iteration from one start.
#[derive(Debug, Clone, PartialEq)]
pub struct Tridiagonal {
    /// Diagonal, one entry per iteration.
    pub diagonal: Vec<f64>,
    /// Off-diagonal, one entry fewer.
    pub off_diagonal: Vec<f64>,
}

impl Tridiagonal {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.diagonal.len()
    }

    /// Whether there are no rows, because the start was zero.
    pub fn is_empty(&self) -> bool {
        self.diagonal.is_empty()
    }

    /// The leading submatrix of `rows` rows, or the whole matrix if it has fewer.
    pub fn leading(&self, rows: usize) -> Tridiagonal {
        let rows = rows.min(self.len());
        let off_diagonal = rows.saturating_sub(1);
        Tridiagonal {
            diagonal: self.diagonal[..rows].to_vec(),
            off_diagonal: self.off_diagonal[..off_diagonal].to_vec(),
        }
    }

    /// `e_1^T f(T) e_1`; `None` without rows, or where LAPACK does not find the eigenvalues.
    pub fn quadrature(&self, f: impl Fn(f64) -> f64) -> Option<f64> {
        if self.is_empty() {
            return None;
        }
        let (nodes, vectors) = lapack::tridiagonal_eigen(&self.diagonal, &self.off_diagonal).ok()?;
        Some(nodes.iter().zip(vectors.row(0)).map(|(&node, first)| first * first * f(node)).sum())
    }
}

/// The tridiagonals of `steps` iterations from each column of `starts` (n x s), which need not be normalised. A
/// tridiagonal is shorter if its Krylov space is exhausted, and empty if its start is zero. Takes `steps` products
/// with n x s, and memory for `steps` blocks of that size.
pub fn tridiagonalise(op: &dyn KernelMatrix, starts: ArrayView2<f64>, steps: usize) -> Vec<Tridiagonal> {
    iterate(op, starts, steps).into_iter().map(Run::finish).collect()
}

/// The `count` largest Ritz values of H after `steps` iterations from the vector of ones, largest first, and their
/// orthonormal vectors (n x `count`), with signs such that no sum of entries is negative; `None` where there are
/// fewer. The largest eigenvalues of a kernel matrix are far apart, so that a few dozen steps find them; in any
/// case the values are the curvatures of `v^T H v / 2` along the vectors.
pub fn leading(op: &dyn KernelMatrix, steps: usize, count: usize) -> Option<(Vec<f64>, Array2<f64>)> {
    let run = iterate(op, Array2::ones((op.n(), 1).f()).view(), steps).pop()?;
    let (values, vectors) = lapack::tridiagonal_eigen(&run.diagonal, &run.off_diagonal).ok()?;
    let last: Vec<usize> = (0..values.len()).rev().take(count).collect();
    if last.len() < count {
        return None;
    }
    let basis = run.basis.slice(s![.., ..values.len()]);
    let mut ritz = basis.dot(&vectors.select(Axis(1), &last));
    for mut vector in ritz.columns_mut() {
        if vector.sum() < 0.0 {
            vector.mapv_inplace(|entry| -entry);
        }
    }
    Some((last.into_iter().map(|i| values[i]).collect(), ritz))
}

/// R (n x r, r at most `rank`) such that `R R^T = Q T^-1 Q^T`, for the orthonormal vectors Q and the tridiagonal T of `rank`
/// iterations from `start`: the inverse of H on their Krylov space, which is at most H^-1. `None` where the start is zero, or T
/// is not positive definite.
pub fn inverse_root(op: &dyn KernelMatrix, start: ArrayView1<f64>, rank: usize) -> Option<Array2<f64>> {
    let run = iterate(op, start.insert_axis(Axis(1)), rank).pop()?;
    let (values, mut vectors) = lapack::tridiagonal_eigen(&run.diagonal, &run.off_diagonal).ok()?;
    if values.is_empty() || values.iter().any(|value| !(*value > 0.0)) {
        return None;
    }
    for (mut vector, value) in vectors.columns_mut().into_iter().zip(&values) {
        vector /= value.sqrt();
    }
    Some(run.basis.slice(s![.., ..values.len()]).dot(&vectors))
}

/// Runs `steps` iterations from each of the `starts`.
fn iterate(op: &dyn KernelMatrix, starts: ArrayView2<f64>, steps: usize) -> Vec<Run> {
    let (n, columns) = starts.dim();
    assert_eq!(n, op.n(), "a start has n rows");
    let mut runs: Vec<Run> = starts.columns().into_iter().map(|start| Run::new(start, steps)).collect();
    let mut current = Array2::zeros((n, columns).f());
    let mut product = Array2::zeros((n, columns).f());
    for step in 0..steps.min(n) {
        for (run, mut column) in runs.iter().zip(current.columns_mut()) {
            match run.is_exhausted {
                true => column.fill(0.0),
                false => column.assign(&run.basis.column(step)),
            }
        }
        op.apply(current.view(), product.view_mut());
        for (run, product) in runs.iter_mut().zip(product.columns()) {
            run.advance(product.to_owned(), step);
        }
    }
    runs
}

/// The quadratures of `z^T log(H) z` with `nodes` nodes, one for each probe z, a column of `probes` (n x s). Their
/// mean estimates `log |H|`. An entry is `None` where it is not finite: H is not positive definite in double
/// precision.
pub fn log_det(op: &dyn KernelMatrix, probes: ArrayView2<f64>, nodes: usize) -> Vec<Option<f64>> {
    let tridiagonals = tridiagonalise(op, probes, nodes);
    let of = |(tridiagonal, z): (&Tridiagonal, ArrayView1<f64>)| {
        let value = z.dot(&z) * tridiagonal.quadrature(f64::ln)?;
        value.is_finite().then_some(value)
    };
    tridiagonals.iter().zip(probes.columns()).map(of).collect()
}

/// The iteration from one start.
struct Run {
    /// n x steps; after k steps the first k + 1 columns are orthonormal.
    basis: Array2<f64>,
    diagonal: Vec<f64>,
    off_diagonal: Vec<f64>,
    /// Largest entry of the tridiagonal so far.
    largest: f64,
    is_exhausted: bool,
}

impl Run {
    fn new(start: ArrayView1<f64>, steps: usize) -> Run {
        let norm = start.dot(&start).sqrt();
        let is_exhausted = !(norm > 0.0) || steps == 0;
        let mut basis = Array2::zeros((start.len(), steps.min(start.len())).f());
        if !is_exhausted {
            basis.column_mut(0).assign(&(&start / norm));
        }
        Run { basis, diagonal: Vec::new(), off_diagonal: Vec::new(), largest: 0.0, is_exhausted }
    }

    /// Adds a step, from the product of H with the last basis vector.
    fn advance(&mut self, mut next: Array1<f64>, step: usize) {
        if self.is_exhausted {
            return;
        }
        let known = self.basis.slice(s![.., ..=step]);
        let diagonal = known.column(step).dot(&next);
        for _ in 0..2 {
            next -= &known.dot(&known.t().dot(&next));
        }
        let off_diagonal = next.dot(&next).sqrt();
        self.diagonal.push(diagonal);
        self.largest = self.largest.max(diagonal.abs()).max(off_diagonal);
        self.is_exhausted = step + 1 == self.basis.ncols() || !(off_diagonal > EXHAUSTED * self.largest);
        if !self.is_exhausted {
            self.off_diagonal.push(off_diagonal);
            self.basis.column_mut(step + 1).assign(&(next / off_diagonal));
        }
    }

    fn finish(self) -> Tridiagonal {
        Tridiagonal { diagonal: self.diagonal, off_diagonal: self.off_diagonal }
    }
}

#[cfg(test)]
mod tests {
    use gpbench_numerics::LinearOperator;
    use ndarray::array;

    use super::*;
    use crate::fixtures::two_points;
    use crate::{Family, Kernel, KernelOperator};

    #[test]
    fn two_points_by_hand() {
        let op = two_points();
        // H = [[5, 2], [2, 5]], of eigenvalues 7 and 3: e_1 is half of each, (1, 1) an eigenvector.
        let starts = array![[3.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
        let [first, second, none] = tridiagonalise(&op, starts.view(), 5).try_into().unwrap();
        assert!((first.diagonal[0] - 5.0).abs() < 1e-14 && (first.off_diagonal[0] - 2.0).abs() < 1e-14);
        assert_eq!((first.diagonal.len(), second.diagonal.len(), none.diagonal.len()), (2, 1, 0));
        let values = log_det(&op, starts.view(), 5);
        assert!((values[0].unwrap() - 4.5 * 21.0_f64.ln()).abs() < 1e-13);
        assert!((values[1].unwrap() - 2.0 * 7.0_f64.ln()).abs() < 1e-13);
        assert_eq!(values[2], None);
        assert_eq!(first.leading(1), Tridiagonal { diagonal: vec![first.diagonal[0]], off_diagonal: vec![] });
    }

    #[test]
    fn the_largest_eigenvalues_come_first() {
        let kernel = Kernel::new(Family::Matern32, 1.0, &[1.0], 1);
        let x = Array2::from_shape_fn((60, 1), |(i, _)| 0.1 * i as f64);
        let op = KernelOperator::new(&kernel, 0.1, x.view(), 1);
        let (values, vectors) = leading(&op, 30, 2).unwrap();
        assert!(values[0] > values[1] && values[1] > 1.0, "{values:?}");
        let mut product = Array2::zeros((60, 2).f());
        op.apply(vectors.view(), product.view_mut());
        for (j, value) in values.iter().enumerate() {
            let rest = &product.column(j) - &(*value * &vectors.column(j));
            assert!(rest.dot(&rest).sqrt() < 1e-8 * value, "{j}");
        }
        let gram = vectors.t().dot(&vectors) - Array2::<f64>::eye(2);
        assert!(gram.iter().all(|entry| entry.abs() < 1e-13));
        assert!(leading(&op, 1, 2).is_none());
    }
}
