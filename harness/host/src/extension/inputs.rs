//! `gpbench.inputs/1`: the inputs, basis points and hyperparameters that define the matrix.

use gpbench_abi::{self as abi, Inputs, Mat, family};
use gpbench_numerics::layout::column_major;
use ndarray::{Array2, ArrayView2};

use crate::session::{OperatorExtension, Session};
use crate::system::SystemInputs;
use crate::views;

/// Null where the system has no inputs.
pub(super) const EXTENSION: OperatorExtension = (abi::id::INPUTS, |session, _| {
    let Some(inputs) = session.objects.system.inputs() else { return std::ptr::null() };
    std::ptr::from_ref(session.objects.store.get_or_init(|| table(session, inputs))).cast()
});

/// Inputs and inducing points in the column-major order that plugins read.
struct ByColumns {
    inputs: Array2<f64>,
    basis: Option<Array2<f64>>,
}

impl Session<'_> {
    /// Whether the inputs equal `x`, both in the system and in the copy that plugins read.
    pub fn has_inputs(&self, x: ArrayView2<f64>) -> bool {
        let seen = self.objects.store.get::<ByColumns>();
        let inputs = self.objects.system.inputs();
        inputs.is_some_and(|inputs| inputs.x == x) && seen.is_none_or(|seen| seen.inputs == x)
    }
}

fn table(session: &Session, inputs: SystemInputs<'_>) -> Inputs {
    let points = session.objects.store.get_or_init(|| ByColumns {
        inputs: column_major(&inputs.x),
        basis: inputs.basis.map(|z| column_major(&z)),
    });
    let plain = inputs.family.number();
    let none = Mat { data: std::ptr::null_mut(), rows: 0, cols: 0, ld: 0 };
    Inputs {
        size: size_of::<Inputs>() as u32,
        family: if inputs.scales.is_some() { plain + family::SCALED } else { plain },
        x: views::mat(points.inputs.view()),
        basis: points.basis.as_ref().map_or(none, |basis| views::mat(basis.view())),
        signal_scale: inputs.signal_scale,
        noise_scale: inputs.noise_scale,
        length_scale: inputs.length_scale.as_ptr(),
        scales: inputs.scales.map_or(std::ptr::null(), <[f64]>::as_ptr),
    }
}
