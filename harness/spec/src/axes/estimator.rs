//! Estimators: right-hand sides beside y, or the method that replaces linear systems.

use gpbench_record::{
    FeatureEstimator, Frequencies, InducingBound, PathwiseTargets, PointSelection, PriorSource, Probes,
    StandardProbes, Start,
};

use crate::error::Mistakes;
use crate::nearest;
use crate::source::{At, Location};
use crate::tables::estimator::{self as table, Draw};
use crate::tables::root::Root;
use crate::task_keys::{TaskKey, TaskKeys};

/// A method of estimation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Method {
    /// Prior function draws.
    Pathwise,
    /// Random probes.
    Standard,
    /// A Cholesky factor.
    Exact,
    /// A lower bound from inducing points.
    Cglb,
    /// Random features.
    Rff,
    /// A random number of random features.
    SsRff,
}

impl Method {
    const ALL: [Method; 6] =
        [Method::Pathwise, Method::Standard, Method::Exact, Method::Cglb, Method::Rff, Method::SsRff];

    fn name(self) -> &'static str {
        match self {
            Method::Pathwise => "pathwise",
            Method::Standard => "standard",
            Method::Exact => "exact",
            Method::Cglb => "cglb",
            Method::Rff => "rff",
            Method::SsRff => "ss-rff",
        }
    }

    /// Whether the trace is estimated from solutions of linear systems.
    fn has_probes(self) -> bool {
        matches!(self, Method::Pathwise | Method::Standard)
    }

    /// Whether random features replace the kernel.
    fn is_of_features(self) -> bool {
        matches!(self, Method::Rff | Method::SsRff)
    }
}

/// The quantities that estimates are computed from.
pub(crate) enum Basis {
    /// Solutions of linear systems with these right-hand sides beside y.
    Solutions(Probes),
    /// Random features in place of the kernel.
    Features(FeatureEstimator),
    /// A Cholesky factor.
    Exact,
    /// The solution for y, and this bound.
    Bound(InducingBound),
}

/// An entry of the estimator axis.
#[derive(Debug, Clone)]
pub(crate) struct EstimatorEntry {
    pub(crate) name: String,
    /// Where the axis names it.
    pub(crate) at: Location,
    pub(crate) method: Method,
    table: table::Estimator,
}

/// Resolves a name on the axis; `methods` are those of the task.
pub(crate) fn resolve(
    name: &At<String>,
    root: &Root,
    task: TaskKeys,
    methods: &[Method],
    mistakes: &mut Mistakes,
) -> Option<EstimatorEntry> {
    let table = root.estimators.get(&name.value).clone();
    let written = table.method.clone().unwrap_or_else(|| name.clone());
    let of_task = || methods.iter().map(|method| method.name());
    let Some(method) = Method::ALL.into_iter().find(|method| method.name() == written.value) else {
        let tables = root.estimators.names().map(|table| table.value.as_str());
        let known = of_task().chain(tables.filter(|table| *table != written.value));
        let hint = nearest::hint(&written.value, known);
        mistakes.add(&written.at, format!("unknown estimator `{}`", written.value), hint);
        return None;
    };
    let entry = EstimatorEntry { name: name.value.clone(), at: name.at.clone(), method, table };
    entry.check_keys(task, mistakes);
    if !methods.contains(&method) {
        let what = format!("task \"{}\" has no estimator `{}`", task.task, method.name());
        let hint = format!("use `{}`", of_task().collect::<Vec<_>>().join("` or `"));
        mistakes.add(&written.at, what, hint);
        return None;
    }
    Some(entry)
}

impl EstimatorEntry {
    /// Reports keys that have no effect.
    fn check_keys(&self, task: TaskKeys, mistakes: &mut Mistakes) {
        let EstimatorEntry { method, table, .. } = self;
        let mut no_effect = |at: Option<&Location>, why: &str| {
            if let Some(at) = at {
                mistakes.add(at, why, None);
            }
        };
        if *method != Method::Standard {
            no_effect(
                table.probe_distribution.at.as_ref(),
                "only standard probes have a distribution: this has no effect",
            );
        }
        if *method != Method::SsRff {
            no_effect(
                table.step.at.as_ref(),
                "`step` has no effect: only `ss-rff` sums over numbers of features",
            );
        }
        self.check_points(&mut no_effect);
        // A task that ends with a prediction draws prior functions for it.
        let draws = *method == Method::Pathwise || method.is_of_features() || task.has(TaskKey::Prediction);
        if !draws {
            let why = "standard probes draw no prior functions: this has no effect";
            no_effect(table.features.at.as_ref(), why);
            no_effect(table.frequencies.at.as_ref(), why);
        } else if table.frequencies.value == Draw::Exact {
            no_effect(table.features.at.as_ref(), "an exact prior draw has no features: this has no effect");
        }
        if let (Draw::Exact, Some(at), true) =
            (table.frequencies.value, &table.frequencies.at, method.is_of_features())
        {
            let hint = "use `multivariate_t` or `product_t`".to_owned();
            mistakes.add(at, format!("`{}` is made of random features", method.name()), hint);
        }
        let warm = table.warm_start.at.as_ref().filter(|_| table.warm_start.value.is_warm());
        task.check(TaskKey::WarmStart, warm, mistakes);
        let second = table.second_solve.at.as_ref().filter(|_| table.second_solve.value);
        if task.check(TaskKey::SecondSolve, second, mistakes)
            && !method.has_probes()
            && let Some(at) = second
        {
            let why = match method {
                Method::Cglb => "is the bound of one solution",
                _ => "solves no linear systems",
            };
            let what = format!("`second_solve` has no effect: `{}` {why}", method.name());
            mistakes.add(at, what, None);
        }
    }

    /// Reports keys of a bound where there is none, and one that its selection of points does not use.
    fn check_points(&self, no_effect: &mut impl FnMut(Option<&Location>, &str)) {
        let table::Estimator { points, select, reselect, gap, .. } = &self.table;
        if self.method != Method::Cglb {
            for at in [&points.at, &select.at, &reselect.at] {
                no_effect(at.as_ref(), "only `cglb` has inducing points: this has no effect");
            }
            no_effect(gap.at.as_ref(), "`gap` has no effect: only `cglb` is a bound");
        } else if select.value != PointSelection::Greedy {
            let why = "`reselect` has no effect: only greedy points depend on the scales";
            no_effect(reselect.at.as_ref(), why);
        }
    }

    /// Prior draws as right-hand sides.
    pub(crate) fn targets(&self) -> PathwiseTargets {
        self.targets_with(self.table.features.value)
    }

    /// Prior draws as right-hand sides, from so many features.
    pub(crate) fn targets_with(&self, features: usize) -> PathwiseTargets {
        let prior = match self.table.frequencies.value {
            Draw::Exact => PriorSource::Exact,
            Draw::Features(frequencies) => PriorSource::Features { features, frequencies },
        };
        PathwiseTargets { probes: self.table.probes.value, prior }
    }

    /// The quantities that estimates are computed from.
    pub(crate) fn basis(&self) -> Basis {
        let table = &self.table;
        let frequencies = match table.frequencies.value {
            Draw::Features(frequencies) => frequencies,
            // Reported for features.
            Draw::Exact => Frequencies::MultivariateT,
        };
        let (features, step) = (table.features.value, table.step.value);
        match self.method {
            Method::Pathwise => Basis::Solutions(Probes::Pathwise(self.targets())),
            Method::Standard => {
                let (probes, distribution) = (table.probes.value, table.probe_distribution.value);
                Basis::Solutions(Probes::Standard(StandardProbes { probes, distribution }))
            }
            Method::Exact => Basis::Exact,
            Method::Cglb => Basis::Bound(self.bound()),
            Method::Rff => Basis::Features(FeatureEstimator::Rff { features, frequencies }),
            Method::SsRff => Basis::Features(FeatureEstimator::SsRff { features, step, frequencies }),
        }
    }

    /// The bound of `cglb`.
    fn bound(&self) -> InducingBound {
        let table::Estimator { points, select, reselect, gap, .. } = &self.table;
        // Points that do not depend on the scales would be the same again.
        let reselect = if select.value == PointSelection::Greedy { reselect.value } else { 0 };
        InducingBound { points: points.value, select: select.value, reselect, gap: gap.value }
    }

    /// Reports that there are no right-hand sides from which traces could be estimated.
    pub(crate) fn check_traces(&self, mistakes: &mut Mistakes) {
        if let (true, 0, Some(at)) =
            (self.method.has_probes(), self.table.probes.value, &self.table.probes.at)
        {
            let hint = "the trace is estimated from at least one".to_owned();
            mistakes.add(at, "0 probes are impossible for this task", hint);
        }
    }

    /// Whether y is solved for twice.
    pub(crate) fn second_solve(&self) -> bool {
        self.table.second_solve.value
    }

    /// Where a step of training starts.
    pub(crate) fn start(&self) -> Start {
        self.table.warm_start.value
    }
}
