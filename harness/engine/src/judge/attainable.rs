//! The residual that double precision allows.

use gpbench_record::{Kernel, Step, names};

use super::verdict::Answer;

/// The bound for the last systems of a case: under the kernel that training ended with or that was found in the data,
/// and on the rows of the last step where steps add rows.
pub(super) fn of_last(answer: &Answer<'_>) -> f64 {
    let Answer { case, solved, steps, .. } = *answer;
    let trained = solved.output.training().map(|training| &training.hyperparameters);
    let kernel = trained.or(solved.start.as_ref()).and_then(|named| case.kernel.with_hyperparameters(named));
    residual(kernel.as_ref().unwrap_or(&case.kernel), rows(answer, steps.last().copied()))
}

/// The bound for the systems of a step.
pub(super) fn of_step(answer: &Answer<'_>, step: &Step) -> f64 {
    let kernel = answer.case.kernel.with_hyperparameters(&step.hyperparameters);
    residual(kernel.as_ref().unwrap_or(&answer.case.kernel), rows(answer, Some(step)))
}

/// Training rows of a step, or of the case.
fn rows(answer: &Answer<'_>, step: Option<&Step>) -> usize {
    let of_step = step.and_then(|step| step.metrics.get(names::ROWS_OF_STEP));
    of_step.map_or(answer.solved.n, |rows| rows as usize)
}

/// A bound of the relative residual that rounding leaves in a solution that is as good as double precision allows:
/// machine epsilon times the condition number of H = K + noise_scale^2 I on `n` rows. No eigenvalue of K is above its
/// trace, n signal_scale^2, and none of H is below noise_scale^2 (Higham, Accuracy and Stability of Numerical
/// Algorithms, 2002, sections 7.1 and 10.1).
fn residual(kernel: &Kernel, n: usize) -> f64 {
    let noise = kernel.noise_scale.powi(2);
    let condition = (n as f64 * kernel.signal_scale.powi(2) + noise) / noise;
    f64::EPSILON * condition
}

#[cfg(test)]
mod tests {
    use gpbench_record::testing;

    use super::*;

    #[test]
    fn the_bound_is_the_condition_times_machine_epsilon() {
        let of = |noise_scale: f64| {
            let kernel = Kernel { signal_scale: 2.0, noise_scale, ..testing::case("cg").kernel };
            residual(&kernel, 250)
        };
        assert!((of(0.1) / (100_001.0 * f64::EPSILON) - 1.0).abs() < 1e-12);
        assert!((0.2..0.3).contains(&of(1e-6)), "{}", of(1e-6));
        assert!(of(1e-170).is_infinite());
    }
}
