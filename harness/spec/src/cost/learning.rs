//! Estimated cost of a learner.
//!
//! A learner's method is unknown. Known are its capabilities, the kernel, its parameters `batch`, `points`,
//! `neighbours`, `inducing`, `actions` and `features` if it has them, and what the harness computes at each look. A learner
//! that takes inducing points has as many as the spec chooses, or `points`; of others, `points` are the rows of an expert.
//! Without a parameter `batch` a step takes all rows. A step on b of n rows takes
//!
//! | learner | flops |
//! |---|---|
//! | with M inducing points | 5 M^2 b + 13/3 M^3, and M (M + b) kernel entries |
//! | of finite dimension D | 2 b D^2 + 3 D^3 |
//! | with a kernel alone | b^3, and b^2 kernel entries |
//! | of experts, which have `points` b | b^2 (b / 3 + 500), and b^2 kernel entries; each expert on a thread of its own |
//! | of `neighbours` k, beside M `inducing` points | b (k^3 + k^2 M + M^2), and b k^2 + b M kernel entries |
//! | of `actions` i | 8 n i^2, and 2 n^2 kernel entries; with the policy `cg` 2 n^2 i more, and (1 + i) n^2 entries |
//!
//! plus the feature map forward and backward, and the optimiser's work on each parameter. A look takes predictions and the
//! exact likelihood, or the bound where there are inducing points.

use gpbench_record::{Capability, Case, Covariance, Learning, ParamValue};

use super::inducing;

/// Assumed number of actions where a learner chooses it: with one action a row, of a quarter of the rows at most, and with
/// conjugate gradients.
const ACTIONS: usize = 256;
const KRYLOV_ACTIONS: usize = 32;

/// Assumed number of random features where neither kernel nor parameters state it.
const FEATURES: usize = 1000;

/// Order of a matrix that is factorised at half the usual rate.
const SMALL: f64 = 128.0;

/// Order of an expert's matrix above which its factor and inverse run mainly at the rate of the largest products, three
/// times the usual one; a third of it.
const LARGE: f64 = 500.0;

/// Experts that take a step at the same time, each on one thread.
const EXPERTS_TOGETHER: f64 = 4.0;

/// Flops of the optimiser for each parameter: roots and quotients in order.
const FLOPS_PER_PARAMETER: f64 = 100.0;

/// Flops of kernel entries with their derivatives, over those of the entries alone.
const WITH_DERIVATIVES: f64 = 3.0;

/// Test rows over training rows.
const TEST_ROWS: f64 = 1.0 / 9.0;

/// Kernel entries over n^2 that predictions take where n is too large for a factor, and the right-hand sides of these
/// systems.
const EPOCHS: f64 = 100.0;
const SAMPLES: f64 = 64.0;

/// The work of a case.
pub(super) struct Work {
    /// Number of steps.
    pub(super) steps: f64,
    /// Flops of a step.
    pub(super) step: f64,
    /// Threads that it can use at most.
    pub(super) threads: f64,
    /// Flops of all looks.
    pub(super) looks: f64,
    /// Numbers that are held beside the rows.
    pub(super) numbers: f64,
}

/// Form of a learner's model, inferred from its capabilities and its kernel.
enum Model {
    /// This number of inducing points.
    Inducing(f64),
    /// This number of features.
    Features(f64),
    /// Exact processes on this number of rows each.
    Experts(f64),
    /// Each row given some others.
    Neighbours(Neighbours),
    /// Some linear combinations of the rows.
    Actions(Actions),
    /// An exact process on all rows.
    Exact,
}

/// Sizes of a learner that takes each row with its neighbours.
#[derive(Clone, Copy)]
struct Neighbours {
    /// Rows of a group: a row and its neighbours.
    group: f64,
    /// Inducing points beside them.
    points: f64,
    /// Neighbours that a row is predicted from; none if it is predicted from all rows.
    predicted_from: Option<f64>,
}

/// Actions of a learner that conditions on linear combinations of the rows.
#[derive(Clone, Copy)]
struct Actions {
    /// Their number.
    count: f64,
    /// Whether each has entries of all rows, so that it takes a product with the kernel matrix by itself.
    is_dense: bool,
}

/// The work of a case with `n` training rows and `d` inputs, where the kernel's exponential takes `exponential` flops.
pub(super) fn work(
    case: &Case,
    capabilities: &[Capability],
    task: &Learning,
    n: usize,
    d: usize,
    exponential: f64,
) -> Work {
    let sizes = Sizes::new(case, capabilities, task, n, d, exponential);
    let (step, held) = sizes.step(capabilities);
    let (look, end, compared) = sizes.looks(task, n);
    Work {
        steps: task.passes as f64 * (sizes.n / sizes.batch).ceil(),
        step,
        threads: match sizes.model {
            Model::Experts(rows) => (sizes.n / rows).ceil().min(EXPERTS_TOGETHER),
            Model::Inducing(_)
            | Model::Features(_)
            | Model::Neighbours(_)
            | Model::Actions(_)
            | Model::Exact => f64::INFINITY,
        },
        looks: task.looks.len() as f64 * look + end,
        numbers: held.max(compared) + 3.0 * sizes.weights,
    }
}

/// The sizes that costs are computed from.
struct Sizes {
    model: Model,
    n: f64,
    /// Rows of a step.
    batch: f64,
    /// Weights and biases of the network.
    weights: f64,
    /// Flops of the feature map of one row: network and random features.
    row: f64,
    /// Inputs of the kernel.
    inputs: f64,
    /// Flops of a kernel entry.
    entry: f64,
    is_linear: bool,
}

impl Sizes {
    fn new(
        case: &Case,
        capabilities: &[Capability],
        task: &Learning,
        n: usize,
        d: usize,
        exponential: f64,
    ) -> Sizes {
        let param = |name: &str| match case.solver.params.get(name) {
            Some(ParamValue::Int(count)) => usize::try_from(*count).ok(),
            _ => None,
        };
        let can = |capability| capabilities.contains(&capability);
        let network = case.kernel.network.as_ref();
        let inputs = network.map_or(d, |network| network.outputs());
        let is_linear = case.kernel.family == Covariance::Linear;
        let random = network.and_then(|network| network.random).or(param("features")).unwrap_or(FEATURES);
        let inducing = task.inducing.map(|inducing| inducing::points(inducing, n));
        let by_random = !is_linear && can(Capability::Finite) && !can(Capability::Kernel);
        let model = match (inducing, param("points")) {
            (Some(points), _) => Model::Inducing(points as f64),
            (None, _) if is_linear => Model::Features(inputs as f64),
            (None, _) if by_random => Model::Features(random as f64),
            (None, Some(points)) => {
                let points = points.clamp(1, n.max(1)) as f64;
                if can(Capability::Inducing) { Model::Inducing(points) } else { Model::Experts(points) }
            }
            (None, None) => match (param("neighbours"), param("actions")) {
                (Some(neighbours), _) => Model::Neighbours(Neighbours::of(case, neighbours, &param, n)),
                (None, Some(stated)) => Model::Actions(Actions::of(case, stated, n)),
                (None, None) => Model::Exact,
            },
        };
        let rows = match model {
            Model::Experts(rows) => rows,
            _ => param("batch").unwrap_or(n).clamp(1, n.max(1)) as f64,
        };
        let weights = network.map_or(0, |network| network.parameters(d)) as f64;
        let by_features = if by_random { random as f64 * (inputs as f64 + exponential) } else { 0.0 };
        Sizes {
            model,
            n: n as f64,
            batch: rows,
            weights,
            row: 2.0 * weights + by_features,
            inputs: inputs as f64,
            entry: 2.0 * inputs as f64 + if is_linear { 0.0 } else { exponential },
            is_linear,
        }
    }

    /// Flops of a step, and numbers that it holds.
    fn step(&self, capabilities: &[Capability]) -> (f64, f64) {
        let Sizes { n, batch: b, entry: plain, weights, .. } = *self;
        let entry = WITH_DERIVATIVES * plain;
        let is_kernel = capabilities.contains(&Capability::Kernel);
        let (flops, held, rows, parameters) = match self.model {
            Model::Inducing(m) => {
                let flops = 5.0 * m * m * b + 13.0 / 3.0 * cubic(m) + m * (m + b) * entry;
                (flops, 8.0 * m * m + 5.0 * m * b, b + m, m * m)
            }
            Model::Features(d) if !is_kernel => (2.0 * b * d * d + 3.0 * cubic(d), 4.0 * d * d + b * d, b, d),
            Model::Experts(_) => (b * b * (b / 3.0 + LARGE + entry), 3.0 * b * b, b, 0.0),
            Model::Neighbours(Neighbours { group: k, points: m, .. }) => {
                let flops = b * (k * k * (k + m + entry) + m * (m + entry));
                // Inputs in another order and scaled, indices and weights of neighbours; what is as large as A.
                let held = n * (2.0 * self.inputs + 3.0 * k + 6.0 * m) + 4.0 * m * m;
                (flops, held, b, 0.0)
            }
            Model::Actions(Actions { count: i, is_dense }) => {
                // A pass for the products with the actions, and one for the derivatives.
                let of_products = if is_dense { i * (plain + 4.0) } else { plain + 4.0 };
                let flops = n * n * (of_products + entry) + 8.0 * n * i * i;
                let tall = if is_dense { 6.0 } else { 4.0 };
                (flops, tall * n * i + 10.0 * i * i, b, n)
            }
            Model::Features(_) | Model::Exact => (cubic(b) + b * b * entry, 3.0 * b * b, b, 0.0),
        };
        // The backward pass costs twice the forward pass.
        let map = 3.0 * self.row * rows;
        (flops + map + FLOPS_PER_PARAMETER * (weights + parameters), held)
    }

    /// Flops of a look and of the additional evaluations at the end, and numbers that these hold.
    fn looks(&self, task: &Learning, n: usize) -> (f64, f64, f64) {
        let Sizes { n: rows, entry, .. } = *self;
        let test = TEST_ROWS * rows;
        let likelihood = |rows: f64| rows * rows * (rows / 3.0 + entry);
        let is_factored = n <= task.dense_rows();
        let map = (rows + test) * self.row;
        match self.model {
            Model::Features(d) => {
                let look = map + (rows + test) * d * d + cubic(d);
                (look, look, rows * d)
            }
            Model::Inducing(m) => {
                let look = map + (rows + test) * m * (entry + 2.0 * m) + cubic(m);
                match (self.is_linear, is_factored) {
                    (false, true) => (look, look + likelihood(rows), rows * rows),
                    _ => (look, look, rows * m),
                }
            }
            Model::Experts(b) => {
                let look = rows * b * (b / 3.0 + entry) + test * rows * (b + entry);
                (look, look, rows * b)
            }
            Model::Neighbours(Neighbours { points: m, predicted_from: Some(k), .. }) => {
                let few = rows.min(task.nlml_rows as f64);
                let predictions = test * (rows * entry + k * k * k / 3.0) + (rows + test) * m * (m + entry);
                let (all, held) = if is_factored { (rows, rows * rows) } else { (few, few * few) };
                (likelihood(few) + predictions, likelihood(all) + predictions, held.max(2.0 * rows * m))
            }
            Model::Actions(Actions { count: i, is_dense }) => {
                let of_products = if is_dense { 2.0 * i } else { 2.0 };
                let look = (rows + test) * (rows * (entry + of_products) + 3.0 * i * i);
                match is_factored {
                    true => (look, look + likelihood(rows), rows * rows),
                    false => (look, look, rows * i),
                }
            }
            Model::Neighbours(_) | Model::Exact => {
                let few = rows.min(task.nlml_rows as f64);
                let predictions = match task.variance_rank {
                    Some(rank) => rank as f64 * rows * (rows * entry + test),
                    None => test * rows * (rows + entry),
                };
                let (all, held) = match is_factored {
                    true => (likelihood(rows) + predictions, rows * rows),
                    false => (EPOCHS * rows * rows * (entry + 2.0 * SAMPLES), few * few),
                };
                let is_whole = task.select.validates() || few == rows;
                let look = if is_whole { all } else { likelihood(few) };
                (map + look, map + all, held)
            }
        }
    }
}

impl Neighbours {
    /// The sizes of a case with `n` training rows, from its parameters.
    fn of(case: &Case, neighbours: usize, param: &dyn Fn(&str) -> Option<usize>, n: usize) -> Neighbours {
        let from_all = case.solver.params.get("predict") == Some(&ParamValue::Text("exact".into()));
        let predicted_from = param("prediction_neighbours").filter(|_| !from_all);
        let predicted_from = predicted_from.map(|stated| if stated == 0 { 2 * neighbours } else { stated });
        let at_most = |count: usize| count.min(n) as f64;
        Neighbours {
            group: at_most(neighbours + 1),
            points: at_most(param("inducing").unwrap_or(0)),
            predicted_from: predicted_from.map(at_most),
        }
    }
}

impl Actions {
    /// The actions of a case with `n` training rows, whose parameter states their number; 0 leaves it to the learner.
    fn of(case: &Case, stated: usize, n: usize) -> Actions {
        let is_dense = case.solver.params.get("policy") == Some(&ParamValue::Text("cg".into()));
        let count = match (stated, is_dense) {
            (0, true) => KRYLOV_ACTIONS.min(n),
            (0, false) => ACTIONS.min(n / 4).max(1),
            (stated, _) => stated.min(n),
        };
        Actions { count: count as f64, is_dense }
    }
}

/// Flops of a factor or an inverse, at the rate of a large one.
fn cubic(order: f64) -> f64 {
    order * order * (order + SMALL)
}
