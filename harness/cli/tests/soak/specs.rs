//! Specs of small cases of every task.

/// A part of the soak: a run, or shards of one that are merged.
pub(super) struct Part {
    /// Name of the spec.
    pub(super) name: &'static str,
    /// Percent of all cases.
    pub(super) share: usize,
    /// Number of shards; 1 for a whole run.
    pub(super) shards: usize,
    task: &'static str,
    axes: &'static str,
    rest: &'static str,
    /// Cases of one seed: data sets times solvers.
    cases_of_a_seed: usize,
}

/// Data sets and solvers of linear systems.
const SYSTEMS: &str = r#"dataset = ["draw", "table"]
estimator = ["pathwise"]
solver = ["cg", "cholesky", "block-cg"]"#;

const SEARCHES: &str = r#"dataset = ["objective"]
estimator = ["pathwise"]
solver = ["cg", "cholesky", "block-cg"]"#;

const LEARNERS: &str = r#"dataset = ["draw", "table"]
solver = ["poe", "svgp"]"#;

const TABLES: &str = r#"
[dataset.draw]
from = "gp-draw"
n = 40
d = 1

[dataset.table]
path = "rows.csv"
"#;

const BUDGET: &str = r#"
[budget]
tolerance = 1e-6
max_epochs = 500
"#;

const POSTERIOR: &str = r#"
[kernel.matern32]
hyperparameters = { signal_scale = 1.0, noise_scale = 0.3, length_scale = 1.0 }

[estimator.pathwise]
probes = 2
features = 20
"#;

const TRAINING: &str = r#"
[kernel.matern32]
hyperparameters = "ones"

[estimator.pathwise]
probes = 2
features = 20
warm_start = true

[train]
steps = 3
"#;

const LIKELIHOOD: &str = r#"
[kernel.matern32]
hyperparameters = { signal_scale = 1.0, noise_scale = 0.3, length_scale = 1.0 }

[estimator.pathwise]
method = "standard"
probes = 2

[likelihood]
repetitions = 3
"#;

const LEARNING: &str = r#"
[kernel.matern32]
hyperparameters = "ones"

[learn]
epochs = 4
every = 1

[solver.poe]
params = { points = 20 }

[solver.svgp]
inducing = { select = "kmeans", points = 10 }
params = { batch = 16 }
"#;

const SEARCH: &str = r#"
[dataset.objective]
n = 40
d = 1

[kernel.matern32]
hyperparameters = "generating"

[estimator.pathwise]
probes = 2
features = 20

[thompson]
steps = 3
candidates = { rounds = 2, points = 50 }
ascent.steps = 5
"#;

/// All parts.
pub(super) const PARTS: [Part; 6] = [
    part("posterior", "posterior", 40, SYSTEMS, POSTERIOR, 6),
    Part { shards: 3, ..part("shards", "posterior", 20, SYSTEMS, POSTERIOR, 6) },
    part("train", "train", 14, SYSTEMS, TRAINING, 6),
    part("likelihood", "likelihood", 10, SYSTEMS, LIKELIHOOD, 6),
    part("learn", "learn", 10, LEARNERS, LEARNING, 4),
    part("thompson", "thompson", 6, SEARCHES, SEARCH, 3),
];

const fn part(
    name: &'static str,
    task: &'static str,
    share: usize,
    axes: &'static str,
    rest: &'static str,
    cases_of_a_seed: usize,
) -> Part {
    Part { name, share, shards: 1, task, axes, rest, cases_of_a_seed }
}

impl Part {
    /// A spec of at least so many cases.
    pub(super) fn spec(&self, cases: usize) -> String {
        let Part { name, task, axes, rest, cases_of_a_seed, .. } = self;
        let seeds: Vec<usize> = (0..cases.div_ceil(*cases_of_a_seed)).collect();
        let tables = if axes.contains("table") { TABLES } else { "" };
        // A learner has no systems to solve.
        let budget = if axes.contains("estimator") { BUDGET } else { "" };
        format!(
            "schema = 1\nname = \"{name}\"\ntask = \"{task}\"\nseeds = {seeds:?}\n\n\
             [matrix]\nkernel = [\"matern32\"]\n{axes}\n{tables}{budget}{rest}"
        )
    }
}
