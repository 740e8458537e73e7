//! `[estimator.NAME]`: right-hand sides beside y, or the method that replaces linear systems.

use gpbench_record::{Frequencies, PointSelection, ProbeDistribution, Start};

use crate::keys::{
    COUNT_OR_ZERO, EVEN_COUNT, Keys, POSITIVE, Setting, choice, count, number, text, truth, whole,
};
use crate::source::At;

#[derive(Debug, Clone)]
pub(crate) struct Estimator {
    pub(crate) method: Option<At<String>>,
    pub(crate) probes: Setting<usize>,
    pub(crate) features: Setting<usize>,
    pub(crate) frequencies: Setting<Draw>,
    pub(crate) probe_distribution: Setting<ProbeDistribution>,
    pub(crate) warm_start: Setting<Start>,
    pub(crate) second_solve: Setting<bool>,
    pub(crate) step: Setting<usize>,
    pub(crate) points: Setting<usize>,
    pub(crate) select: Setting<PointSelection>,
    pub(crate) reselect: Setting<u64>,
    pub(crate) gap: Setting<f64>,
}

/// How prior functions are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Draw {
    Features(Frequencies),
    Exact,
}

pub(crate) fn read(keys: &mut Keys<'_>) -> Estimator {
    let extrapolated = choice("warm start", [("extrapolated", Start::Extrapolated)]);
    let warm_start = truth()
        .map(|warm| if warm.value { Start::Warm } else { Start::Cold })
        .or(extrapolated, "true, false or \"extrapolated\"");
    let even = || whole(EVEN_COUNT).hint("sines and cosines are counted together");
    Estimator {
        method: keys.derived(
            "method",
            text(),
            "NAME",
            "`pathwise` (prior draws) or `standard` (random probes); in training also `exact` and `cglb` (a lower \
             bound from inducing points); for likelihoods also `rff` and `ss-rff` (random features in place of linear \
             systems).",
        ),
        probes: keys.or(
            "probes",
            whole(COUNT_OR_ZERO).hint("0 solves for y alone"),
            64,
            "Right-hand sides beside y.",
        ),
        features: keys.or(
            "features",
            even(),
            2000,
            "Sines and cosines, counted together: of a prior draw, of `rff`, or the fewest of `ss-rff`.",
        ),
        frequencies: keys.or(
            "frequencies",
            choice(
                "law of frequencies",
                [
                    ("multivariate_t", Draw::Features(Frequencies::MultivariateT)),
                    ("product_t", Draw::Features(Frequencies::ProductT)),
                    ("exact", Draw::Exact),
                ],
            ),
            "multivariate_t",
            "Law of the features' frequencies; \"exact\" draws prior functions without features (small n only).",
        ),
        probe_distribution: keys.or(
            "probe_distribution",
            choice(
                "distribution of probes",
                ProbeDistribution::ALL.map(|law| (law.as_str(), law)),
            ),
            "normal",
            "Law of standard probes.",
        ),
        warm_start: keys.or(
            "warm_start",
            warm_start,
            false,
            "Whether a step of training starts from the last step's solutions, with right-hand sides drawn once; \
             \"extrapolated\": on the line through the last two.",
        ),
        second_solve: keys.or(
            "second_solve",
            truth(),
            false,
            "Whether y is solved for twice, so that a randomised solver without bias gives a gradient without bias.",
        ),
        step: keys.or("step", even(), 100, "Features from one term of the series of `ss-rff` to the next."),
        points: keys.or(
            "points",
            count(),
            512,
            "Inducing points of `cglb`; as many as there are training rows where these are fewer.",
        ),
        select: keys.or(
            "select",
            choice(
                "way to select inducing points",
                PointSelection::ALL.map(|selection| (selection.as_str(), selection)),
            ),
            "greedy",
            "How they are chosen: one by one, each the row whose variance those before it explain least, at the \
             scales of the step; a random subset of the rows; or centres of clusters.",
        ),
        reselect: keys.or(
            "reselect",
            whole(COUNT_OR_ZERO),
            20,
            "Steps of training after which greedy points are chosen anew; 0 keeps the first.",
        ),
        gap: keys.or(
            "gap",
            number(POSITIVE),
            1.0,
            "What the bound of `cglb` may lose by an inexact solution, in nats: it sets the tolerance of each step's \
             solve.",
        ),
    }
}
