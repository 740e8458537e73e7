//! The distance of learned hyperparameters to the optimum of the exact likelihood, wherever a row has their
//! likelihood.

use gpbench_record::{Metrics, ModelKind, Optimum, Row, names};

/// Adds the distance to the metrics of a row and to those of its steps, and the likelihood of the optimum to those of
/// the row.
pub(crate) fn insert(row: &mut Row, optimum: &Optimum) {
    // Random features are another covariance function, whose likelihood is not bounded by this optimum.
    let model = row.output.learning().and_then(|learning| learning.model);
    if model == Some(ModelKind::Features) {
        return;
    }
    let learning = row.case.task.learning();
    let of_learner = |metrics: &Metrics| Some(-metrics.get(names::NLML)? * optimum.n as f64);
    let likelihood = |metrics: &Metrics| match learning {
        Some(_) => of_learner(metrics),
        None => metrics.get(names::LOG_MARGINAL_LIKELIHOOD),
    };
    // Before the end, the likelihood of a learner's model may be that of fewer rows.
    let is_of_all_rows = learning.is_none_or(|learning| optimum.n <= learning.nlml_rows);
    let distance = |metrics: &Metrics| likelihood(metrics).map(|known| optimum.distance(known));
    let at_end = distance(&row.metrics);
    let mut steps = row.output.steps().to_vec();
    let known = steps.iter_mut().filter(|step| is_of_all_rows && !step.hyperparameters.is_empty());
    for step in known {
        if let Some(distance) = distance(&step.metrics) {
            step.metrics.insert(names::OPTIMUM_DISTANCE, distance);
        }
    }
    row.metrics.insert(names::OPTIMUM_LIKELIHOOD, optimum.log_marginal_likelihood);
    if let Some(distance) = at_end {
        row.metrics.insert(names::OPTIMUM_DISTANCE, distance);
    }
    row.output.set_steps(steps);
}

#[cfg(test)]
mod tests {
    use gpbench_record::{
        FinalPrediction, GradientEstimator, Hyperparameters, Learning, LearningOutput, ModelSelection,
        Probes, RateSchedule, Step, StopReason, Task, TaskKind, TaskOutput, Training, testing,
    };

    use super::*;

    fn optimum() -> Optimum {
        let hyperparameters = Hyperparameters::new();
        Optimum { log_marginal_likelihood: -20.0, hyperparameters, n: 40, evaluations: 9 }
    }

    /// A step with one metric, and hyperparameters where it has some.
    fn step(step: u64, (name, value): (&str, f64), has_scales: bool) -> Step {
        let scales = has_scales.then(|| ("noise_scale".to_owned(), 0.1));
        Step {
            step,
            hyperparameters: scales.into_iter().collect(),
            reason: StopReason::Converged,
            metrics: Metrics::from_iter([(name.to_owned(), value)]),
        }
    }

    fn distances(row: &Row) -> Vec<Option<f64>> {
        let steps = row.output.steps().iter().map(|step| step.metrics.get(names::OPTIMUM_DISTANCE));
        steps.chain([row.metrics.get(names::OPTIMUM_DISTANCE)]).collect()
    }

    #[test]
    fn training_is_compared_at_its_end_and_at_steps_of_known_likelihood() {
        let mut case = testing::case("cg");
        let Some(Probes::Pathwise(targets)) = case.task.probes() else { panic!("pathwise targets") };
        case.task = Task::Train(Box::new(Training {
            estimator: "exact".into(),
            gradient: GradientEstimator::Exact,
            steps: 2,
            learning_rate: 0.1,
            schedule: RateSchedule::Constant,
            shared_length_scale: false,
            fixed: vec![],
            replay: vec![],
            subset: None,
            landscape: None,
            optimum: true,
            prediction: FinalPrediction { targets, params: Default::default() },
        }));
        let mut row = testing::row(case, &[(names::LOG_MARGINAL_LIKELIHOOD, -19.0)]);
        row.output = TaskOutput::empty(TaskKind::Train);
        let likelihood = names::LOG_MARGINAL_LIKELIHOOD;
        row.output.set_steps(vec![step(0, (likelihood, -24.0), true), step(1, (names::EPOCHS, 3.0), true)]);
        insert(&mut row, &optimum());
        assert_eq!(distances(&row), [Some(0.1), None, Some(-0.025)]);
        assert_eq!(row.metrics.get(names::OPTIMUM_LIKELIHOOD), Some(-20.0));
    }

    #[test]
    fn learners_are_compared_where_their_likelihood_is_that_of_all_rows() {
        let of = |nlml_rows: usize, model: ModelKind| {
            let mut case = testing::case("svgp");
            case.task = Task::Learn(Box::new(Learning {
                passes: 2,
                looks: vec![1, 2],
                select: ModelSelection::Last,
                patience: 0,
                inducing: None,
                shared_length_scale: false,
                nlml_rows,
                exact_rows: Learning::EXACT_ROWS,
                variance_rank: None,
                optimum: true,
                grid: None,
            }));
            let mut row = testing::row(case, &[(names::NLML, 0.625)]);
            row.output = TaskOutput::Learn(Box::new(LearningOutput {
                looks: vec![step(0, (names::NLML, 0.75), true), step(1, (names::NLML, 0.75), false)],
                model: Some(model),
                ..LearningOutput::default()
            }));
            insert(&mut row, &optimum());
            distances(&row)
        };
        assert_eq!(of(40, ModelKind::Gp), [Some(0.25), None, Some(0.125)]);
        assert_eq!(of(39, ModelKind::Gp), [None, None, Some(0.125)]);
        assert_eq!(of(40, ModelKind::Features), [None; 3]);
    }
}
