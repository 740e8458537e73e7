//! Right-hand sides beside y.
//!
//! | key | default | meaning |
//! |---|---|---|
//! | `method` | the table's own name | `pathwise`, `standard`, or to train `exact` |
//! | `probes` | 64 | right-hand sides beside y |
//! | `features` | 2000 | sines and cosines of a prior draw, counted together |
//! | `frequencies` | `multivariate_t` | `multivariate_t`, `product_t`, `exact` |
//! | `probe_distribution` | `normal` | `normal`, `rademacher`: of standard probes |
//! | `warm_start` | false | to train only: start from the last step's solutions, for right-hand sides drawn once |
//!
//! To train, prior draws are there for every method: what ends a case is a prediction from pathwise
//! samples.

use gpbench_record::{Estimator, EstimatorMethod, Frequencies, ProbeDistribution, Task};

use crate::error::Mistakes;
use crate::nearest;
use crate::source::{At, START};
use crate::typed::{EstimatorTable, Root};

const METHODS: [&str; 3] = ["pathwise", "standard", "exact"];
const DISTRIBUTIONS: [&str; 2] = ["normal", "rademacher"];
const FREQUENCIES: [&str; 3] = ["multivariate_t", "product_t", "exact"];
const PROBES: usize = 64;
const FEATURES: usize = 2000;

/// The estimator of a spec without an estimator axis.
pub(crate) fn default_name(task: Task) -> String {
    match task {
        Task::Solve => "standard".to_owned(),
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
    let method = match method_name.value.as_str() {
        "pathwise" => EstimatorMethod::Pathwise,
        "standard" => EstimatorMethod::Standard,
        "exact" => EstimatorMethod::Exact,
        other => {
            let tables = root.estimators.iter().map(|t| t.name.value.as_str());
            let methods = METHODS.into_iter().filter(|method| task == Task::Train || *method != "exact");
            let hint = nearest::hint(other, methods.chain(tables.filter(|t| *t != other)));
            mistakes.add(&method_name.at, format!("unknown estimator `{other}`"), hint);
            return None;
        }
    };
    if task == Task::Posterior && method == EstimatorMethod::Standard {
        let hint = "task \"posterior\" predicts from pathwise samples: use `pathwise`".to_owned();
        mistakes.add(&method_name.at, "the standard estimator gives no posterior samples", hint);
    }
    if task != Task::Train && method == EstimatorMethod::Exact {
        let hint = "use `pathwise` or `standard`".to_owned();
        mistakes.add(&method_name.at, "the exact estimator is for task \"train\" only", hint);
    }
    let probes = match table.and_then(|t| t.probes.as_ref()) {
        None => PROBES,
        Some(given) => {
            if given.value == 0 && task == Task::Train && method != EstimatorMethod::Exact {
                let hint = "the trace is estimated from at least one".to_owned();
                mistakes.add(&given.at, "0 probes are impossible for task \"train\"", hint);
            }
            if given.value < 0 {
                let hint = "0 solves for y alone".to_owned();
                mistakes.add(&given.at, format!("{} probes are impossible", given.value), hint);
            }
            given.value as usize
        }
    };
    let (features, frequencies) = match method {
        EstimatorMethod::Pathwise => prior_draw(table, mistakes),
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
    let warm_start = table.and_then(|t| t.warm_start.as_ref());
    if let Some(At { value: true, at }) = warm_start.filter(|_| task != Task::Train) {
        let hint = "it carries solutions from one outer step of task \"train\" to the next".to_owned();
        mistakes.add(at, "`warm_start` has no effect: this task has no outer steps", hint);
    }
    Some(Estimator {
        name: name.value.clone(),
        method,
        probes,
        features,
        frequencies,
        probe_distribution: probe_distribution(table, method, mistakes),
        warm_start: warm_start.is_some_and(|given| given.value),
    })
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
