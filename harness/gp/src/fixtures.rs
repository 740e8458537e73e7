//! Systems that several unit tests share.

use ndarray::array;

use crate::{Family, Kernel, KernelOperator};

/// H = [[5, 2], [2, 5]].
pub(crate) fn two_points() -> KernelOperator {
    let kernel = Kernel::new(Family::Matern12, 2.0, &[1.0], 1);
    KernelOperator::new(&kernel, 1.0, array![[0.0], [2.0_f64.ln()]].view(), 1)
}
