//! The factor of A under some hyperparameters.

use gpbench_sdk::exact::SingleFactor;
use gpbench_sdk::kernel::Kernel;
use gpbench_sdk::ndarray::{Array2, ArrayRef2, ShapeBuilder, s};
use gpbench_sdk::precondition::Precondition;
use gpbench_sdk::{Error, Inputs, LogLevel, Problem, Result, Workers};

/// First shift of the diagonal where A is not positive definite to single precision, as a share of n times its entries.
const SHIFT: f64 = f32::EPSILON as f64 / 16.0;

/// Factor between one shift and the next.
const GROWTH: f64 = 4.0;

/// Shifts that are tried: the last is a hundredth of the diagonal at 10,000 rows.
const SHIFTS: usize = 9;

/// Hyperparameters of A.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Hyperparameters {
    pub(crate) signal_scale: f64,
    pub(crate) noise_scale: f64,
    pub(crate) length_scale: Vec<f64>,
}

impl Hyperparameters {
    pub(crate) fn of(inputs: &Inputs<'_>) -> Hyperparameters {
        let Inputs { signal_scale, noise_scale, length_scale, .. } = *inputs;
        Hyperparameters { signal_scale, noise_scale, length_scale: length_scale.to_vec() }
    }
}

/// A Cholesky factor, in single precision, of A under some hyperparameters, with a shift of the diagonal.
#[derive(Debug)]
pub(crate) struct Factor {
    pub(crate) of: Hyperparameters,
    pub(crate) shift: f64,
    /// Factor of A / `unit`, whose diagonal is near 1.
    lower: SingleFactor,
    unit: f64,
}

impl Factor {
    /// Kernel entries of a factorisation.
    pub(crate) fn entries(n: usize) -> usize {
        SingleFactor::entries(n)
    }

    /// Bytes of a factor.
    pub(crate) fn bytes(n: usize) -> usize {
        SingleFactor::bytes(n)
    }

    /// Factorises the problem's A, with the smallest shift that makes it positive definite to single precision.
    /// Charges the entries that it evaluates.
    pub(crate) fn new(problem: &Problem<'_>) -> Result<Factor> {
        let (operator, workers) = (problem.operator(), problem.workers());
        let inputs = operator.inputs()?;
        let of = Hyperparameters::of(&inputs);
        let mut shift = 0.0;
        for _ in 0..=SHIFTS {
            operator.charge(Factor::entries(operator.n()))?;
            match Factor::under(of.clone(), shift, &inputs, workers) {
                Err(Error::NotPositiveDefinite { .. }) => {}
                factor => return factor,
            }
            let diagonal = of.signal_scale.powi(2) + of.noise_scale.powi(2);
            shift = if shift == 0.0 { SHIFT * operator.n() as f64 * diagonal } else { GROWTH * shift };
            let line = format!(
                "A is not positive definite to single precision: its diagonal is shifted by {shift:e}"
            );
            problem.log(LogLevel::Info, &line);
        }
        Err(Error::NotPositiveDefinite { minor: operator.n() })
    }

    /// Factorises A under these hyperparameters, with this shift.
    pub(crate) fn under(
        of: Hyperparameters,
        shift: f64,
        inputs: &Inputs<'_>,
        workers: Workers<'_>,
    ) -> Result<Factor> {
        let Hyperparameters { signal_scale, noise_scale, length_scale } = of.clone();
        let kernel = Kernel { family: inputs.family, signal_scale, length_scale };
        let noise = noise_scale * noise_scale + shift;
        let unit = signal_scale * signal_scale + noise;
        let negligible = f64::from(SingleFactor::NEGLIGIBLE);
        let (n, x) = (inputs.x.nrows(), inputs.x);
        let lower = SingleFactor::new(
            n,
            |rows, columns, mut tile| {
                let mut entries = Array2::zeros(tile.dim().f());
                let points = |rows| x.slice(s![rows, ..]);
                kernel.gram_into(
                    &points(rows.clone()),
                    &points(columns.clone()),
                    &mut entries,
                    Workers::new(1),
                );
                if let Some(scales) = inputs.scales {
                    let (left, right) = (&scales[rows.clone()], &scales[columns.clone()]);
                    entries.indexed_iter_mut().for_each(|((i, j), entry)| *entry *= left[i] * right[j]);
                }
                if rows.start == columns.start {
                    entries.diag_mut().mapv_inplace(|entry| entry + noise);
                }
                tile.zip_mut_with(&entries, |single, &entry| {
                    let entry = entry / unit;
                    // Not left to the factorisation, since making a subnormal number is slow too.
                    *single = if entry.abs() < negligible { 0.0 } else { entry as f32 };
                });
            },
            workers,
        )?;
        Ok(Factor { of, shift, lower, unit })
    }
}

impl Precondition for Factor {
    fn apply(&self, v: &ArrayRef2<f64>, workers: Workers<'_>) -> Array2<f64> {
        self.lower.solve(v, workers) / self.unit
    }

    fn rounding(&self) -> f64 {
        f64::from(f32::EPSILON)
    }
}
