//! Signal and noise scale by gradient descent with momentum, with a place for every fault.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use gpbench_sdk::kernel::Kernel;
use gpbench_sdk::likelihood::likelihood;
use gpbench_sdk::ndarray::{Array1, Array2, ArrayView2, Axis};
use gpbench_sdk::{
    Capabilities, Error, Fit, Learner, Model, Result, Saved, Scales, Stream, Work, Workers, lapack, params,
};

use crate::acts;
use crate::fit_fault::{FitFault, FitMutant};

params! {
    /// Parameters of all learners.
    pub struct DescentParams {
        /// Rows in a batch.
        pub batch: usize = 20, in 2..=1000;
        /// Length of a step of gradient descent on the logarithms of the scales.
        pub learning_rate: f64 = 0.05, in 0.0..;
    }
}

/// The velocity that all objects of one mutant share.
static SHARED: Mutex<[f64; 2]> = Mutex::new([0.0; 2]);

/// An exact Gaussian process whose scales are found on minibatches, with the fault of a mutant.
pub(crate) struct Descent<M: FitMutant> {
    params: DescentParams,
    /// Velocity of the logarithms. It is outside the state, so that mutants can keep it when they begin again, or
    /// lose it at a pause.
    velocity: Cell<[f64; 2]>,
    /// Whether a fit has begun and has not taken a step, for the mutant that aborts.
    unused: Cell<bool>,
    mutant: PhantomData<M>,
}

/// State of a fit.
pub(crate) struct State {
    steps: usize,
    /// Logarithms of the signal scale and of the noise scale.
    logs: [f64; 2],
    kernel: Kernel,
    x: Array2<f64>,
    y: Array1<f64>,
    mean: f64,
}

impl State {
    /// The state before the first step.
    fn new<M: FitMutant>(fit: &Fit<'_>) -> State {
        let inputs = fit.inputs();
        let length_scale = inputs.length_scale.to_vec();
        let kernel = Kernel { family: inputs.family, signal_scale: 1.0, length_scale };
        let mut y = fit.y().to_owned();
        if M::FAULT == FitFault::LeavesOutNan {
            y.mapv_inplace(|y| if y.is_nan() { 0.0 } else { y });
        }
        let logs = [inputs.signal_scale, inputs.noise_scale].map(f64::ln);
        State { steps: 0, logs, kernel, x: fit.x().to_owned(), y, mean: fit.mean() }
    }

    /// H = signal^2 k(x, x) + noise^2 I of these rows, and y - mean.
    fn system(&self, rows: &[usize], workers: Workers<'_>) -> (Array2<f64>, Array1<f64>) {
        let x = self.x.select(Axis(0), rows);
        let [signal, noise] = self.logs.map(|log| (2.0 * log).exp());
        let mut h = self.kernel.gram(&x, &x, workers);
        h *= signal;
        h.diag_mut().map_inplace(|entry| *entry += noise);
        (h, self.y.select(Axis(0), rows) - self.mean)
    }
}

impl<M: FitMutant> Descent<M> {
    fn velocity(&self) -> [f64; 2] {
        match M::FAULT {
            FitFault::SharesVelocity => *SHARED.lock().unwrap_or_else(PoisonError::into_inner),
            _ => self.velocity.get(),
        }
    }

    fn set_velocity(&self, velocity: [f64; 2]) {
        match M::FAULT {
            FitFault::SharesVelocity => *SHARED.lock().unwrap_or_else(PoisonError::into_inner) = velocity,
            _ => self.velocity.set(velocity),
        }
    }

    fn check(&self, fit: &Fit<'_>) -> Result<()> {
        let refuse = |what: &str| Err(Error::InvalidArgument(what.to_owned()));
        let x = fit.x();
        match M::FAULT {
            FitFault::NeedsThreeRows if fit.n() < 3 => refuse("fewer than three rows"),
            FitFault::NeedsTwoInputs if fit.d() < 2 => refuse("fewer than two inputs"),
            FitFault::RefusesRepeatedRows if (1..fit.n()).any(|i| x.row(i) == x.row(i - 1)) => {
                refuse("a row occurs twice")
            }
            FitFault::RefusesLargeBatch if self.params.batch > 4 * fit.n() && fit.n() > 10 => {
                refuse("too large a batch")
            }
            _ => Ok(()),
        }
    }

    /// The batch of a step.
    fn batch(&self, fit: &Fit<'_>) -> Result<Vec<usize>> {
        if M::FAULT == FitFault::DrawsFirst {
            fit.batch(Stream::new(1), self.params.batch)?;
        }
        let drawn = fit.batch(Stream::MAIN, self.params.batch);
        match M::FAULT {
            FitFault::SkipsShortBatch => {
                let rows = drawn?;
                let short = rows.len() < self.params.batch.min(fit.n());
                if short { fit.batch(Stream::MAIN, self.params.batch) } else { Ok(rows) }
            }
            _ => drawn,
        }
    }

    /// Faults of some mutants after a step.
    fn misbehave(state: &mut State, fit: &Fit<'_>) {
        match M::FAULT {
            FitFault::WritesTargets if fit.n() == 77 => acts::write_targets(fit),
            FitFault::Drifts => state.logs[1] += 1e-3,
            FitFault::Leaks => std::mem::forget(std::hint::black_box(vec![state.logs[0]; 1 << 13])),
            FitFault::LeavesThreads if state.steps == 1 && fit.workers().threads() > 1 => {
                acts::leave_thread()
            }
            FitFault::FlushesToZero => acts::flush_to_zero(),
            FitFault::RaisesBlas => acts::raise_blas(),
            FitFault::Prints if state.steps == 1 => println!("fitted"),
            _ => {}
        }
    }
}

impl<M: FitMutant> Learner for Descent<M> {
    type Params = DescentParams;
    const ID: &'static str = M::ID;
    const DOC: &'static str = M::DOC;
    const CAPABILITIES: Capabilities = M::CAPABILITIES;
    type State = State;

    fn new(params: DescentParams) -> Result<Self> {
        if M::FAULT == FitFault::RefusesEndOfRange && params.batch == 1000 {
            return Err(Error::InvalidArgument("such a large batch is unavailable".into()));
        }
        let (velocity, unused) = (Cell::new([0.0; 2]), Cell::new(false));
        Ok(Descent { params, velocity, unused, mutant: PhantomData })
    }

    fn begin(&self, fit: &Fit<'_>) -> Result<State> {
        static CALLS: AtomicU64 = AtomicU64::new(0);
        self.check(fit)?;
        let mut state = State::new::<M>(fit);
        if M::FAULT != FitFault::KeepsVelocity {
            self.set_velocity([0.0; 2]);
        }
        state.logs[0] += match M::FAULT {
            FitFault::CountsCalls => 1e-7 * CALLS.fetch_add(1, Ordering::Relaxed) as f64,
            FitFault::DependsOnProcess => 1e-12 * f64::from(std::process::id()),
            FitFault::HidesSeed => 1e-7 * fit.seed() as f64,
            FitFault::SumsByThreads => 1e-7 * fit.workers().threads() as f64,
            FitFault::DividesByRange => {
                let x = fit.x();
                let ranges = x.columns().into_iter().map(|column| {
                    let largest = column.iter().fold(f64::MIN, |a: f64, b| a.max(*b));
                    largest - column.iter().fold(f64::MAX, |a: f64, b| a.min(*b))
                });
                ranges.map(|range| if range > 0.0 { 0.0 } else { f64::NAN }).sum()
            }
            _ => 0.0,
        };
        self.unused.set(true);
        Ok(state)
    }

    fn step(&self, state: &mut State, fit: &Fit<'_>) -> Result<f64> {
        let rows = self.batch(fit)?;
        let (h, y) = state.system(&rows, fit.workers());
        let noise = (2.0 * state.logs[1]).exp();
        let mut signal = h.clone();
        signal.diag_mut().map_inplace(|entry| *entry -= noise);
        let found = likelihood(h, &y)?;
        if M::FAULT != FitFault::ChargesNothing {
            fit.charge(Work::entries(rows.len() * rows.len()))?;
        }
        let gradient = [2.0 * (&found.cotangent * &signal).sum(), 2.0 * noise * found.cotangent.diag().sum()];
        let velocity = self.velocity();
        let velocity = [0, 1].map(|k| 0.5 * velocity[k] - self.params.learning_rate * gradient[k]);
        state.logs = [0, 1].map(|k| state.logs[k] + velocity[k]);
        self.set_velocity(velocity);
        state.steps += 1;
        self.unused.set(false);
        Self::misbehave(state, fit);
        Ok(if M::FAULT == FitFault::WrongConstant { found.nlml - 0.9189 } else { found.nlml })
    }

    fn predict(
        &self,
        state: &State,
        x: ArrayView2<'_, f64>,
        workers: Workers<'_>,
    ) -> Result<(Array1<f64>, Array1<f64>)> {
        if M::FAULT == FitFault::LearnsNothing {
            return Ok((Array1::zeros(x.nrows()), Array1::ones(x.nrows())));
        }
        let rows: Vec<usize> = (0..state.x.nrows()).collect();
        let (mut h, y) = state.system(&rows, workers);
        lapack::cholesky(&mut h)?;
        let mut weights = y.insert_axis(Axis(1));
        lapack::cholesky_solve(&h, &mut weights)?;
        let [signal, noise] = state.logs.map(|log| (2.0 * log).exp());
        let (mut mean, mut variance) = (Array1::zeros(x.nrows()), Array1::zeros(x.nrows()));
        for (i, row) in x.axis_iter(Axis(0)).enumerate() {
            let row = row.insert_axis(Axis(0));
            let mut k = state.kernel.gram(&state.x, &row, workers);
            k *= signal;
            let mut solved = k.clone();
            lapack::cholesky_solve(&h, &mut solved)?;
            mean[i] = state.mean + (&k * &weights).sum();
            variance[i] = signal + noise - (&k * &solved).sum();
            match M::FAULT {
                FitFault::CountsPredictions => mean[i] += 1e-7 * i as f64,
                FitFault::NegativeFar if row[[0, 0]].abs() > 50.0 => variance[i] = -1.0,
                FitFault::ShrinksVariance => variance[i] *= 0.999,
                _ => {}
            }
        }
        Ok((mean, variance))
    }

    fn model(&self, state: &State) -> Result<Model> {
        if M::FAULT == FitFault::LearnsNothing {
            return Err(Error::Unsupported("no model".into()));
        }
        let [signal_scale, noise_scale] = state.logs.map(f64::exp);
        let length_scale = state.kernel.length_scale.clone();
        Ok(Model::gp(&Scales { signal_scale, noise_scale, length_scale, mean: state.mean }))
    }

    fn save(&self, state: &State, saved: &mut Saved) -> Result<()> {
        saved.put_list("logs", &state.logs);
        saved.put_number("steps", state.steps as f64);
        let velocity = if M::FAULT == FitFault::ForgetsVelocity { [0.0; 2] } else { self.velocity() };
        saved.put_list("velocity", &velocity);
        Ok(())
    }

    fn load(&self, fit: &Fit<'_>, saved: &Saved) -> Result<State> {
        let mut state = State::new::<M>(fit);
        let pair = |name: &str| {
            Ok::<_, Error>(saved.get_shaped(name, (2, 1))?).map(|two| [two[[0, 0]], two[[1, 0]]])
        };
        state.logs = pair("logs")?;
        self.set_velocity(pair("velocity")?);
        state.steps = saved.get_number("steps")? as usize;
        self.unused.set(state.steps == 0);
        Ok(state)
    }

    /// The host calls this at each pause.
    fn numbers(&self, _: &State) -> Vec<(&'static str, f64)> {
        if M::FAULT == FitFault::ForgetsAtPause {
            self.set_velocity([0.0; 2]);
        }
        Vec::new()
    }
}

impl<M: FitMutant> Drop for Descent<M> {
    fn drop(&mut self) {
        if M::FAULT == FitFault::AbortsUnused && self.unused.get() {
            std::process::abort();
        }
    }
}
