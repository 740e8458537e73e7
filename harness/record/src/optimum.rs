//! The optimum of the exact likelihood, with which training is compared.

use serde::{Deserialize, Serialize};

use crate::hash::hash_json;
use crate::{Case, ExactRequest, Hyperparameters, Kernel, OriginBase, Scale, Task};

/// The greatest exact log marginal likelihood that a search from several starts has found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Optimum {
    /// The log marginal likelihood.
    pub log_marginal_likelihood: f64,
    /// The hyperparameters that have it.
    pub hyperparameters: Hyperparameters,
    /// Training rows.
    pub n: usize,
    /// Evaluations of the likelihood of all rows that the search took.
    pub evaluations: usize,
}

impl Optimum {
    /// By how much a log marginal likelihood is below this one, per row. Negative where it is above.
    pub fn distance(&self, log_marginal_likelihood: f64) -> f64 {
        (self.log_marginal_likelihood - log_marginal_likelihood) / self.n as f64
    }
}

/// Input of `gpbench-worker optimum`: a search for the hyperparameters of the greatest exact likelihood.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OptimumRequest {
    /// [`crate::SCHEMA`].
    pub schema: u32,
    /// Rows, files and threads. Of the kernel's scales, those that are fixed count. Its mean, where it has one, is
    /// sought.
    pub system: ExactRequest,
    /// Whether one length scale, shared by all inputs, is sought rather than one for each.
    pub shared_length_scale: bool,
    /// Scales that keep their values.
    pub fixed: Vec<Scale>,
}

impl OptimumRequest {
    /// The request for the optimum that a case is compared with, if it is compared with one, without its files.
    pub fn of(case: &Case, threads: usize) -> Option<OptimumRequest> {
        let (shared, fixed) = match &case.task {
            Task::Train(training) => (training.shared_length_scale, &training.fixed[..]),
            Task::Learn(learning) => (learning.shared_length_scale, &[][..]),
            _ => return None,
        };
        case.task.optimum().then(|| OptimumRequest::new(ExactRequest::of(case, threads), shared, fixed))
    }

    /// The request for the rows and the kernel of `system`. It is the same whatever the scales are that training
    /// starts from, except for those that are `fixed`. Where these are yet to be found in the data, the kernel says
    /// how.
    fn new(system: ExactRequest, shared_length_scale: bool, fixed: &[Scale]) -> OptimumRequest {
        let Kernel { noise_scale, signal_scale, length_scale, start, .. } = system.kernel.clone();
        let start = start.filter(|start| fixed.iter().any(|scale| !start.keep.contains(scale)));
        let fixed_or_found = |scale: Scale| fixed.contains(&scale) || start.is_some();
        let kept = |scale: Scale, value: f64| if fixed_or_found(scale) { value } else { 1.0 };
        let kernel = Kernel {
            noise_scale: kept(Scale::NoiseScale, noise_scale),
            signal_scale: kept(Scale::SignalScale, signal_scale),
            length_scale: match fixed_or_found(Scale::LengthScale) {
                true => length_scale,
                false => vec![1.0],
            },
            mean: system.kernel.mean.map(|_| 0.0),
            origin: OriginBase::Ones.into(),
            start,
            ..system.kernel
        };
        let mut fixed = fixed.to_vec();
        fixed.sort_by_key(|scale| scale.as_str());
        OptimumRequest {
            schema: system.schema,
            system: ExactRequest { kernel, ..system },
            shared_length_scale,
            fixed,
        }
    }

    /// Cache key: a hash of everything that the optimum depends on, so without paths and threads.
    pub fn key(&self, dataset_sha256: Option<&str>, worker_sha256: &str) -> String {
        let system = self.system.key(dataset_sha256, worker_sha256);
        hash_json(&("optimum", system, self.shared_length_scale, &self.fixed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DataStart, testing};

    fn request(fixed: &[Scale], change: impl FnOnce(&mut ExactRequest)) -> OptimumRequest {
        let mut system = ExactRequest::of(&testing::case("cg"), 1);
        change(&mut system);
        OptimumRequest::new(system, false, fixed)
    }

    #[test]
    fn the_start_changes_the_key_of_fixed_scales_alone() {
        let key = |request: OptimumRequest| request.key(None, "w");
        let plain = key(request(&[], |_| {}));
        assert_eq!(key(request(&[], |system| system.kernel.noise_scale = 7.0)), plain);
        assert_eq!(key(request(&[], |system| system.kernel.length_scale = vec![2.0, 3.0])), plain);
        assert_eq!(key(request(&[], |system| system.threads = 8)), plain);
        let different = [
            request(&[], |system| system.seed = 1),
            request(&[], |system| system.kernel.mean = Some(0.5)),
            request(&[Scale::NoiseScale], |_| {}),
            request(&[Scale::NoiseScale], |system| system.kernel.noise_scale = 7.0),
            OptimumRequest { shared_length_scale: true, ..request(&[], |_| {}) },
        ];
        let keys: Vec<String> = different.into_iter().map(key).collect();
        for (i, one) in keys.iter().enumerate() {
            assert!(*one != plain && !keys[..i].contains(one), "{i}");
        }
        // A start from the data counts where it gives a fixed scale.
        let from_data = |fixed: &[Scale], keep: &[Scale]| {
            let start = DataStart { restarts: 5, keep: keep.to_vec() };
            request(fixed, |system| system.kernel.start = Some(start))
        };
        assert_eq!(key(from_data(&[], &[])), plain);
        let (noise, given) = ([Scale::NoiseScale], key(request(&[Scale::NoiseScale], |_| {})));
        assert_eq!(key(from_data(&noise, &noise)), given);
        let found = from_data(&noise, &[]);
        assert!(found.system.kernel.start.is_some() && key(found) != given);
        let both = [Scale::SignalScale, Scale::NoiseScale];
        let turned = [Scale::NoiseScale, Scale::SignalScale];
        assert_eq!(key(request(&both, |_| {})), key(request(&turned, |_| {})));
    }

    #[test]
    fn distances_are_per_row() {
        let optimum = Optimum {
            log_marginal_likelihood: -20.0,
            hyperparameters: Hyperparameters::new(),
            n: 40,
            evaluations: 1,
        };
        assert_eq!((optimum.distance(-24.0), optimum.distance(-19.0)), (0.1, -0.025));
    }
}
