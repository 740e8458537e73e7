//! The last product of the matrix with the iterate.

use ndarray::{Array2, ArrayView2};

/// Most numbers of a product that is kept: 32 MiB.
const MOST: usize = 1 << 22;

/// A product A X that the operator computed in double precision for the solver's iterate X, and that X.
///
/// A solver that certifies its solution asks for this product last, so that the residual costs the host no second one. The host
/// copies both while its clock is paused.
#[derive(Debug, Clone, PartialEq)]
pub struct IterateProduct {
    x: Array2<f64>,
    product: Array2<f64>,
}

impl IterateProduct {
    /// Copies of X and A X; none where they are large.
    pub(crate) fn of(x: ArrayView2<'_, f64>, product: ArrayView2<'_, f64>) -> Option<IterateProduct> {
        let fits = x.len().max(product.len()) <= MOST;
        fits.then(|| IterateProduct { x: x.to_owned(), product: product.to_owned() })
    }

    /// A X, if `x` is that X.
    pub fn with(&self, x: ArrayView2<'_, f64>) -> Option<ArrayView2<'_, f64>> {
        (self.x == x).then(|| self.product.view())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_serves_its_own_iterate_only() {
        let (x, product) = (Array2::from_elem((3, 2), 0.5), Array2::from_elem((3, 2), 2.0));
        let kept = IterateProduct::of(x.view(), product.view()).unwrap();
        assert_eq!(kept.with(x.view()), Some(product.view()));
        let mut moved = x.clone();
        moved[[2, 1]] += f64::EPSILON;
        assert_eq!(kept.with(moved.view()), None);
        assert_eq!(kept.with(Array2::zeros((3, 1)).view()), None);
    }

    #[test]
    fn large_products_are_not_kept() {
        let x = Array2::<f64>::zeros((MOST / 2 + 1, 2));
        assert_eq!(IterateProduct::of(x.view(), x.view()), None);
    }
}
