//! Inputs and hyperparameters of A, `gpbench.inputs/1`.

use gpbench_abi as abi;
use gpbench_terms::Covariance;
use ndarray::ArrayView2;

use crate::Operator;
use crate::error::{Error, Result};
use crate::matrix::view;

/// Inputs and hyperparameters of A: A = K + noise_scale^2 I, K = signal_scale^2 k(X, X); with basis points Z,
/// A = signal_scale^2 k(X, Z) without noise; with scales, A = S K S + noise_scale^2 I, S = diag(scales).
#[derive(Debug, Clone, Copy)]
pub struct Inputs<'a> {
    /// k: of a [`Fit`](crate::Fit) any covariance function, of an operator a stationary one.
    pub family: Covariance,
    /// Standardised inputs, n x d.
    pub x: ArrayView2<'a, f64>,
    /// Basis points of the columns, m x d; none if they are the inputs themselves.
    pub basis: Option<ArrayView2<'a, f64>>,
    /// Standard deviation of the latent function.
    pub signal_scale: f64,
    /// Standard deviation of the noise.
    pub noise_scale: f64,
    /// One length scale an input.
    pub length_scale: &'a [f64],
    /// One scale a row, where repeated inputs of a data set are collapsed: the square root of an input's count.
    pub scales: Option<&'a [f64]>,
}

impl<'a> Operator<'a> {
    /// Inputs and hyperparameters of A. Entries evaluated from it are to be reported by [`charge`](Self::charge).
    pub fn inputs(&self) -> Result<Inputs<'a>> {
        let inputs = self.extension::<abi::Inputs>(abi::id::INPUTS)?;
        // SAFETY: the extension and what it points to live as long as the operator, unchanged.
        unsafe { read_inputs(inputs, None) }
    }
}

/// Reads inputs of the interface, with as many length scales as inputs where it is not said otherwise.
///
/// # Safety
/// What they point to is readable and does not change during `'a`.
pub(crate) unsafe fn read_inputs<'a>(
    inputs: &abi::Inputs,
    length_scales: Option<usize>,
) -> Result<Inputs<'a>> {
    let is_scaled = inputs.family & abi::family::SCALED != 0;
    let code = inputs.family & !abi::family::SCALED;
    let family = Covariance::from_number(code)
        .ok_or_else(|| Error::Unsupported(format!("kernel family {code} is unknown to this SDK")))?;
    // SAFETY: promised by the caller.
    let x: ArrayView2<'a, f64> = unsafe { view(&inputs.x, "the inputs") }?;
    let basis = match inputs.basis.data.is_null() {
        true => None,
        // SAFETY: as above.
        false => Some(unsafe { view(&inputs.basis, "the basis points") }?),
    };
    if inputs.length_scale.is_null() {
        return Err(Error::InvalidArgument("the length scales are null".into()));
    }
    if is_scaled && inputs.scales.is_null() {
        return Err(Error::InvalidArgument("the scales are null".into()));
    }
    let count = length_scales.unwrap_or(x.ncols());
    // SAFETY: as above; so many by the interface.
    let length_scale = unsafe { std::slice::from_raw_parts(inputs.length_scale, count) };
    // SAFETY: as above; one scale a row.
    let scales = is_scaled.then(|| unsafe { std::slice::from_raw_parts(inputs.scales, x.nrows()) });
    let (signal_scale, noise_scale) = (inputs.signal_scale, inputs.noise_scale);
    Ok(Inputs { family, x, basis, signal_scale, noise_scale, length_scale, scales })
}
