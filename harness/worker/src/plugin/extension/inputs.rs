//! `gpbench.inputs/1`: inputs, basis points and hyperparameters that the matrix is made of.

use gpbench_abi::{self as abi, Inputs, Mat, family};
use ndarray::{Array2, ArrayView2, ShapeBuilder};

use crate::plugin::session::{OperatorExtension, Session};
use crate::plugin::views;

pub(super) const EXTENSION: OperatorExtension = (abi::id::INPUTS, |session, _| {
    std::ptr::from_ref(session.objects.store.get_or_init(|| table(session))).cast()
});

/// Inputs and inducing points in the column-major order that plugins see.
struct ByColumns {
    inputs: Array2<f64>,
    basis: Option<Array2<f64>>,
}

impl Session<'_> {
    /// Whether the inputs are these, here and where plugins see them.
    pub fn has_inputs(&self, x: ArrayView2<f64>) -> bool {
        let seen = self.objects.store.get::<ByColumns>();
        self.objects.system.view().inputs == x && seen.is_none_or(|seen| seen.inputs == x)
    }
}

fn table(session: &Session) -> Inputs {
    let (system, view) = (session.objects.system, session.objects.system.view());
    let points = session.objects.store.get_or_init(|| ByColumns {
        inputs: by_columns(view.inputs.view()),
        basis: view.basis.map(|basis| by_columns(basis.view())),
    });
    let kernel = system.operator.kernel();
    let plain = kernel.family.number();
    let none = Mat { data: std::ptr::null_mut(), rows: 0, cols: 0, ld: 0 };
    Inputs {
        size: size_of::<Inputs>() as u32,
        family: if view.scales.is_some() { plain + family::SCALED } else { plain },
        x: views::mat(points.inputs.view()),
        basis: points.basis.as_ref().map_or(none, |basis| views::mat(basis.view())),
        signal_scale: kernel.signal_scale,
        noise_scale: system.operator.noise_scale(),
        length_scale: kernel.length_scale.as_ptr(),
        scales: view.scales.map_or(std::ptr::null(), |scales| scales.as_ptr()),
    }
}

/// A copy in the column-major order that plugins see.
pub(in crate::plugin) fn by_columns(points: ArrayView2<f64>) -> Array2<f64> {
    let mut columns = Array2::zeros(points.dim().f());
    columns.assign(&points);
    columns
}
