//! Right-hand sides beside y, or what stands in place of systems.
//!
//! | key | default | meaning |
//! |---|---|---|
//! | `method` | the table's own name | `pathwise`, `standard`; to train also `exact`; to train and to estimate the likelihood `rff`, `ss-rff` |
//! | `probes` | 64 | right-hand sides beside y |
//! | `features` | 2000 | sines and cosines, counted together: of a prior draw, of `rff`, or the fewest of `ss-rff` |
//! | `step` | 100 | features from one term of the series of `ss-rff` to the next |
//! | `frequencies` | `multivariate_t` | `multivariate_t`, `product_t`, `exact` |
//! | `probe_distribution` | `normal` | `normal`, `rademacher`: of standard probes |
//! | `warm_start` | false | to train only: start from the last step's solutions, for right-hand sides drawn once; `"extrapolated"`: from the line through the last two |
//! | `second_solve` | false | solve for y twice, so that a randomised solver without bias gives a gradient without |
//!
//! To train, prior draws are there for every method: what ends a case is a prediction from pathwise
//! samples.

use gpbench_record::{Estimator, EstimatorMethod, Frequencies, ProbeDistribution, Task};

use crate::error::Mistakes;
use crate::nearest;
use crate::source::{At, START};
use crate::typed::{EstimatorTable, Root, WarmStart};

/// Methods, and whether tasks have them that solve or predict, that train, and that estimate the likelihood.
const METHODS: [(&str, EstimatorMethod, [bool; 3]); 5] = [
    ("pathwise", EstimatorMethod::Pathwise, [true, true, true]),
    ("standard", EstimatorMethod::Standard, [true, true, true]),
    ("exact", EstimatorMethod::Exact, [false, true, false]),
    ("rff", EstimatorMethod::Rff, [false, true, true]),
    ("ss-rff", EstimatorMethod::SsRff, [false, true, true]),
];
const DISTRIBUTIONS: [&str; 2] = ["normal", "rademacher"];
const FREQUENCIES: [&str; 3] = ["multivariate_t", "product_t", "exact"];
const PROBES: usize = 64;
const FEATURES: usize = 2000;
const STEP: usize = 100;

/// The estimator of a spec without an estimator axis.
pub(crate) fn default_name(task: Task) -> String {
    match task {
        Task::Solve | Task::Likelihood => "standard".to_owned(),
        Task::Posterior | Task::Train => "pathwise".to_owned(),
    }
}

/// What [`default_name`] stands for; `[estimator.NAME]` may refine it.
pub(crate) fn default(root: &Root, task: Task, mistakes: &mut Mistakes) -> Option<Estimator> {
    resolve(&At { value: default_name(task), at: START }, root, task, mistakes)
}

pub(crate) fn resolve(
    name: &At<String>,
    root: &Root,
    task: Task,
    mistakes: &mut Mistakes,
) -> Option<Estimator> {
    let table = root.estimators.iter().find(|t| t.name.value == name.value);
    let method_name = table.and_then(|t| t.method.as_ref()).unwrap_or(name);
    let of_task = match task {
        Task::Solve | Task::Posterior => 0,
        Task::Train => 1,
        Task::Likelihood => 2,
    };
    let fitting = METHODS.iter().filter(|(_, _, tasks)| tasks[of_task]).map(|(name, ..)| *name);
    let Some(&(_, method, tasks)) = METHODS.iter().find(|(name, ..)| *name == method_name.value) else {
        let other = &method_name.value;
        let tables = root.estimators.iter().map(|t| &t.name.value).filter(|name| *name != other);
        let hint = nearest::hint(other, fitting.chain(tables.map(String::as_str)));
        mistakes.add(&method_name.at, format!("unknown estimator `{other}`"), hint);
        return None;
    };
    if task == Task::Posterior && method == EstimatorMethod::Standard {
        let hint = "task \"posterior\" predicts from pathwise samples: use `pathwise`".to_owned();
        mistakes.add(&method_name.at, "the standard estimator gives no posterior samples", hint);
    }
    if !tasks[of_task] {
        let what = format!("this task has no estimator `{}`", method_name.value);
        let hint =
            format!("use {}", fitting.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or "));
        mistakes.add(&method_name.at, what, hint);
    }
    let probes = match table.and_then(|t| t.probes.as_ref()) {
        None => PROBES,
        Some(given) => {
            let traces = matches!(method, EstimatorMethod::Pathwise | EstimatorMethod::Standard);
            if given.value == 0 && traces && matches!(task, Task::Train | Task::Likelihood) {
                let hint = "the trace is estimated from at least one".to_owned();
                mistakes.add(&given.at, "0 probes are impossible for this task", hint);
            }
            if given.value < 0 {
                let hint = "0 solves for y alone".to_owned();
                mistakes.add(&given.at, format!("{} probes are impossible", given.value), hint);
            }
            given.value as usize
        }
    };
    let (features, frequencies) = match method {
        EstimatorMethod::Pathwise | EstimatorMethod::Rff | EstimatorMethod::SsRff => {
            prior_draw(table, mistakes)
        }
        EstimatorMethod::Standard | EstimatorMethod::Exact if task == Task::Train => {
            prior_draw(table, mistakes)
        }
        EstimatorMethod::Standard | EstimatorMethod::Exact => {
            for key in table.iter().flat_map(|t| {
                [t.features.as_ref().map(|f| &f.at), t.frequencies.as_ref().map(|f| &f.at)]
                    .into_iter()
                    .flatten()
            }) {
                mistakes.add(key, "standard probes draw no prior functions: this has no effect", None);
            }
            (0, Frequencies::MultivariateT)
        }
    };
    if let (Frequencies::Exact, Some(typed), true) =
        (frequencies, table.and_then(|t| t.frequencies.as_ref()), method.is_of_features())
    {
        let hint = "use `multivariate_t` or `product_t`".to_owned();
        mistakes.add(&typed.at, format!("`{}` is made of random features", method_name.value), hint);
    }
    let (warm_start, extrapolate) = warm_start(table, task, mistakes);
    Some(Estimator {
        name: name.value.clone(),
        method,
        probes,
        features,
        frequencies,
        probe_distribution: probe_distribution(table, method, mistakes),
        warm_start,
        extrapolate,
        second_solve: second_solve(table, task, method, mistakes),
        feature_step: feature_step(table, method, mistakes),
    })
}

/// Whether an outer step starts from the last one's solutions, and whether it goes on along their line.
fn warm_start(table: Option<&EstimatorTable>, task: Task, mistakes: &mut Mistakes) -> (bool, bool) {
    let Some(At { value, at }) = table.and_then(|t| t.warm_start.as_ref()) else { return (false, false) };
    let found = match value {
        WarmStart::Truth(truth) => (*truth, false),
        WarmStart::Named(name) if name == "extrapolated" => (true, true),
        WarmStart::Named(name) => {
            let hint = "write true, false or \"extrapolated\"".to_owned();
            mistakes.add(at, format!("unknown warm start `{name}`"), hint);
            return (false, false);
        }
    };
    if found.0 && task != Task::Train {
        let hint = "it carries solutions from one outer step of task \"train\" to the next".to_owned();
        mistakes.add(at, "`warm_start` has no effect: this task has no outer steps", hint);
    }
    found
}

/// Whether y is solved for twice.
fn second_solve(
    table: Option<&EstimatorTable>,
    task: Task,
    method: EstimatorMethod,
    mistakes: &mut Mistakes,
) -> bool {
    let Some(&At { value: true, ref at }) = table.and_then(|t| t.second_solve.as_ref()) else { return false };
    let solves = matches!(method, EstimatorMethod::Pathwise | EstimatorMethod::Standard);
    if !(solves && matches!(task, Task::Train | Task::Likelihood)) {
        let what = "`second_solve` has no effect: no gradient is made of this estimator's solutions";
        mistakes.add(at, what, None);
    }
    true
}

/// Features from one term of a series over their number to the next.
fn feature_step(table: Option<&EstimatorTable>, method: EstimatorMethod, mistakes: &mut Mistakes) -> usize {
    let given = table.and_then(|t| t.step.as_ref());
    if method != EstimatorMethod::SsRff {
        if let Some(given) = given {
            mistakes.add(
                &given.at,
                "`step` has no effect: only `ss-rff` sums over numbers of features",
                None,
            );
        }
        return 0;
    }
    let Some(given) = given else { return STEP };
    if given.value <= 0 || given.value % 2 != 0 {
        let hint = "sines and cosines are counted together: a positive even number".to_owned();
        mistakes.add(&given.at, format!("a step of {} features is impossible", given.value), hint);
    }
    given.value as usize
}

/// Law of the probes.
fn probe_distribution(
    table: Option<&EstimatorTable>,
    method: EstimatorMethod,
    mistakes: &mut Mistakes,
) -> ProbeDistribution {
    let Some(typed) = table.and_then(|t| t.probe_distribution.as_ref()) else {
        return ProbeDistribution::Normal;
    };
    if method != EstimatorMethod::Standard {
        mistakes.add(&typed.at, "only standard probes have a distribution: this has no effect", None);
    }
    match typed.value.as_str() {
        "normal" => ProbeDistribution::Normal,
        "rademacher" => ProbeDistribution::Rademacher,
        other => {
            let hint = nearest::hint(other, DISTRIBUTIONS);
            mistakes.add(&typed.at, format!("unknown distribution of probes `{other}`"), hint);
            ProbeDistribution::Normal
        }
    }
}

/// How prior functions are drawn.
fn prior_draw(table: Option<&EstimatorTable>, mistakes: &mut Mistakes) -> (usize, Frequencies) {
    let typed = table.and_then(|t| t.frequencies.as_ref());
    let frequencies = match typed.map(|f| f.value.as_str()) {
        None | Some("multivariate_t") => Frequencies::MultivariateT,
        Some("product_t") => Frequencies::ProductT,
        Some("exact") => Frequencies::Exact,
        Some(other) => {
            if let Some(typed) = typed {
                let hint = nearest::hint(other, FREQUENCIES);
                mistakes.add(&typed.at, format!("unknown law of frequencies `{other}`"), hint);
            }
            Frequencies::MultivariateT
        }
    };
    let features = match table.and_then(|t| t.features.as_ref()) {
        // An exact draw has no features; 0 keeps them out of the case's identity.
        None if frequencies == Frequencies::Exact => 0,
        None => FEATURES,
        Some(given) if frequencies == Frequencies::Exact => {
            mistakes.add(&given.at, "an exact prior draw has no features: this has no effect", None);
            0
        }
        Some(given) => {
            if given.value <= 0 || given.value % 2 != 0 {
                let hint = "sines and cosines are counted together: a positive even number".to_owned();
                mistakes.add(&given.at, format!("{} features are impossible", given.value), hint);
            }
            given.value as usize
        }
    };
    (features, frequencies)
}
