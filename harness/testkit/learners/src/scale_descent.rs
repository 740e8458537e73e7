//! Signal and noise scale by gradient descent on the likelihood of minibatches.

use std::f64::consts::PI;

use gpbench_sdk::ndarray::{Array1, Array2, ArrayView2, Axis, ShapeBuilder};
use gpbench_sdk::{
    Capabilities, Fit, Learner, Model, Reason, Result, Saved, Stream, Work, Workers, lapack, params,
};

use crate::kernel::Kernel;

params! {
    /// Parameters of [`ScaleDescent`].
    pub struct ScaleDescentParams {
        /// Rows in a batch.
        pub batch: usize = 50, in 2..;
        /// Length of a step of gradient descent on the logarithms of the scales.
        pub learning_rate: f64 = 0.2, in 0.0..;
        /// Steps after which the fit ends by itself; 0 for no limit.
        pub limit: usize = 0;
    }
}

/// An exact Gaussian process whose signal and noise scale are found by gradient descent, each step on the negative log
/// marginal likelihood of a minibatch. Length scales and mean stay as they are given.
pub struct ScaleDescent {
    params: ScaleDescentParams,
}

/// State of a fit.
pub struct State {
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
    fn new(fit: &Fit<'_>) -> Result<State> {
        let inputs = fit.inputs();
        let kernel = Kernel::of(&inputs)?;
        let logs = [inputs.signal_scale, inputs.noise_scale].map(f64::ln);
        let (x, y) = (fit.x().to_owned(), fit.y().to_owned());
        Ok(State { steps: 0, logs, kernel, x, y, mean: fit.mean() })
    }

    /// Cholesky factor of H = signal_scale^2 k(x, x) + noise_scale^2 I, and H^-1 (y - mean), of these rows.
    fn posterior(&self, rows: &[usize]) -> Result<(Array2<f64>, Array2<f64>)> {
        let [signal, noise] = self.logs;
        let x = self.x.select(Axis(0), rows);
        let mut h = self.kernel.gram(x.view(), x.view()) * (2.0 * signal).exp();
        h.diag_mut().map_inplace(|entry| *entry += (2.0 * noise).exp());
        lapack::cholesky(&mut h)?;
        let mut weights = (self.y.select(Axis(0), rows) - self.mean).insert_axis(Axis(1));
        lapack::cholesky_solve(&h, &mut weights)?;
        Ok((h, weights))
    }

    /// Negative log marginal likelihood per row of these rows, and its derivatives by the logarithms of the scales.
    fn objective(&self, rows: &[usize]) -> Result<(f64, [f64; 2])> {
        let (factor, weights) = self.posterior(rows)?;
        let b = rows.len() as f64;
        let mut inverse = Array2::zeros(factor.dim().f());
        inverse.diag_mut().fill(1.0);
        lapack::cholesky_solve(&factor, &mut inverse)?;
        let trace = inverse.diag().sum();
        let fit: f64 =
            rows.iter().zip(&weights).map(|(&row, weight)| (self.y[row] - self.mean) * weight).sum();
        let norm = weights.iter().map(|weight| weight * weight).sum::<f64>();
        let determinant = 2.0 * factor.diag().mapv(f64::ln).sum();
        let variance = (2.0 * self.logs[1]).exp();
        let signal = (b - variance * trace) - (fit - variance * norm);
        let noise = variance * (trace - norm);
        Ok(((fit + determinant + b * (2.0 * PI).ln()) / (2.0 * b), [signal / b, noise / b]))
    }
}

impl Learner for ScaleDescent {
    type Params = ScaleDescentParams;
    const ID: &'static str = "scale-descent";
    const DOC: &'static str = "Signal and noise scale by gradient descent on minibatches";
    const CAPABILITIES: Capabilities = Capabilities::KERNEL.and(Capabilities::RANDOMIZED);
    type State = State;

    fn new(params: ScaleDescentParams) -> Result<Self> {
        Ok(ScaleDescent { params })
    }

    fn begin(&self, fit: &Fit<'_>) -> Result<State> {
        State::new(fit)
    }

    fn step(&self, state: &mut State, fit: &Fit<'_>) -> Result<f64> {
        let rows = fit.batch(Stream::MAIN, self.params.batch)?;
        let (objective, gradient) = state.objective(&rows)?;
        fit.charge(Work::entries(rows.len() * rows.len()))?;
        state.logs = [0, 1].map(|k| state.logs[k] - self.params.learning_rate * gradient[k]);
        state.steps += 1;
        fit.note("gradient_norm", gradient[0].hypot(gradient[1]))?;
        Ok(objective)
    }

    fn finished(&self, state: &State) -> Option<Reason> {
        (self.params.limit > 0 && state.steps >= self.params.limit).then_some(Reason::Iterations)
    }

    fn predict(
        &self,
        state: &State,
        x: ArrayView2<'_, f64>,
        _: Workers<'_>,
    ) -> Result<(Array1<f64>, Array1<f64>)> {
        let rows: Vec<usize> = (0..state.x.nrows()).collect();
        let (factor, weights) = state.posterior(&rows)?;
        let [signal, noise] = state.logs.map(|log| (2.0 * log).exp());
        let (mut mean, mut variance) = (Array1::zeros(x.nrows()), Array1::zeros(x.nrows()));
        // Row by row, so that none depends on the others.
        for (i, row) in x.axis_iter(Axis(0)).enumerate() {
            let k = state.kernel.gram(state.x.view(), row.insert_axis(Axis(0))) * signal;
            let mut solved = k.clone();
            lapack::cholesky_solve(&factor, &mut solved)?;
            mean[i] = state.mean + (&k * &weights).sum();
            variance[i] = signal + noise - (&k * &solved).sum();
        }
        Ok((mean, variance))
    }

    fn model(&self, state: &State) -> Result<Model> {
        let [signal_scale, noise_scale] = state.logs.map(f64::exp);
        let length_scale = state.kernel.length_scale.clone();
        Ok(Model::gp(&gpbench_sdk::Scales { signal_scale, noise_scale, length_scale, mean: state.mean }))
    }

    fn save(&self, state: &State, saved: &mut Saved) -> Result<()> {
        saved.put_list("logs", &state.logs);
        saved.put_integers("steps", [state.steps as u64]);
        Ok(())
    }

    fn load(&self, fit: &Fit<'_>, saved: &Saved) -> Result<State> {
        let mut state = State::new(fit)?;
        let logs = saved.get_shaped("logs", (2, 1))?;
        state.logs = [logs[[0, 0]], logs[[1, 0]]];
        state.steps = saved.get_integers("steps")?.first().map_or(0, |&steps| steps as usize);
        Ok(state)
    }

    fn numbers(&self, state: &State) -> Vec<(&'static str, f64)> {
        vec![("noise_scale", state.logs[1].exp())]
    }
}
