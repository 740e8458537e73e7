//! Gradients of the marginal likelihood, gradient ascent and log-determinants against ground truth.

use crate::common;
use gpbench_gp::Gradient;
use gpbench_gp::exact::ExactGp;
use gpbench_gp::pathwise::{Prior, ProbeLaw, Targets};
use gpbench_gp::seed::Streams;
use gpbench_gp::train::{Adam, Hyperparameters, Parameters, estimator};
use gpbench_gp::{
    Arithmetic, Family, Frequencies, Kernel, KernelOperator, RandomFeatures, SystemMatrix, lanczos,
};
use gpbench_numerics::Alone;
use gpbench_testkit::json::{self, Value, matrix, number, vector};
use gpbench_testkit::{SmallSystem, assert_close, assert_number};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, concatenate, s};

fn flat(gradient: &Gradient) -> Array1<f64> {
    let scales = [gradient.noise_scale, gradient.signal_scale];
    scales.into_iter().chain(gradient.length_scale.iter().copied()).collect()
}

fn truth_of(gradient: &Value) -> Array1<f64> {
    let scales = ["noise_scale", "signal_scale"].map(|name| number(&gradient[name]));
    scales.into_iter().chain(vector(&gradient["length_scale"])).collect()
}

fn with_y(y: ArrayView1<f64>, probes: &Array2<f64>) -> Array2<f64> {
    concatenate![Axis(1), y.insert_axis(Axis(1)), *probes]
}

#[test]
fn gradients_of_all_estimators_agree_with_the_truth() {
    let system = SmallSystem::load();
    let (x, y) = (system.x_train.view(), system.y_train.view());
    let known = json::parse(include_str!("data/gradients_reduced.json"));
    let targets = json::parse(include_str!("data/estimators_reduced.json"));
    let z = matrix(&known["probes_z"]);
    for setting in &system.settings {
        let truth = &known["settings"][&setting.name];
        let gp = ExactGp::fit(&common::kernel(setting), setting.noise_scale, x, y, 2).unwrap();
        let exact = gp.gradient(x);
        assert_close(&flat(&exact), &truth_of(&truth["gradient_exact"]), 1e-10);

        let rhs = with_y(y, &z);
        let solution = gp.solve(rhs.view());
        let standard = estimator::standard(gp.operator(), rhs.view(), solution.view(), None, Arithmetic::F64);
        assert_close(&flat(&standard), &truth_of(&truth["gradient_standard"]), 1e-10);

        let xi = matrix(&targets["settings"][&setting.name]["xi"]);
        let solution = gp.solve(with_y(y, &xi).view());
        let pathwise = estimator::pathwise(gp.operator(), solution.view(), None, Arithmetic::F64);
        assert_close(&flat(&pathwise), &truth_of(&truth["gradient_pathwise"]), 1e-10);
    }
}

#[test]
fn gradients_of_every_family_agree_with_dense_derivatives_on_any_number_of_threads() {
    // Two rows coincide, where a Matérn-1/2 kernel is not differentiable.
    let mut x = Streams::new(3, &[]).normals("inputs", 150, 3);
    let first = x.row(0).to_owned();
    x.row_mut(70).assign(&first);
    let [u, w] = ["u", "w"].map(|name| Streams::new(4, &[]).normals(name, 150, 5));
    let (noise_scale, other) = (0.3, w.column(3).to_owned());
    for family in Family::ALL {
        let kernel = Kernel::new(family, 1.4, &[0.7, 2.0, 1.1], 3);
        let found = |threads: usize| {
            let op = KernelOperator::new(&kernel, noise_scale, x.view(), threads);
            flat(&estimator::standard(&op, w.view(), u.view(), Some(other.view()), Arithmetic::F64))
        };
        let dense = |derivative: &Array2<f64>| {
            let form = |a: ArrayView1<f64>, b: ArrayView1<f64>| a.dot(&derivative.dot(&b));
            let trace: f64 = (1..5).map(|c| form(u.column(c), w.column(c))).sum();
            0.5 * (form(u.column(0), other.view()) - trace / 4.0)
        };
        let by_noise = Array2::eye(150) * (2.0 * noise_scale);
        let by_lengths = (0..3).map(|k| kernel.matrix_by_length_scale(k, x.view(), x.view()));
        let derivatives =
            [by_noise, kernel.matrix_by_signal_scale(x.view(), x.view())].into_iter().chain(by_lengths);
        let expected: Array1<f64> = derivatives.map(|derivative| dense(&derivative)).collect();
        let one = found(1);
        assert_close(&one, &expected, 1e-12);
        assert_eq!(one, found(3), "{family}");
    }
}

/// Number of draws of each estimate.
const DRAWS: usize = 600;

/// Standard errors within which each mean has to be. With 5 hyperparameters and 3 estimators, one of 15 normal variables
/// exceeds 4.5 with probability 1e-4; the seeds are fixed, so the test does not fail by chance.
const STANDARD_ERRORS: f64 = 4.5;

#[test]
fn estimates_have_the_exact_gradient_as_their_mean() {
    let (n, d) = (60, 3);
    let x = Streams::new(1, &[]).normals("inputs", n, d);
    let y = Streams::new(1, &[]).normals("targets", n, 1).remove_axis(Axis(1));
    let kernel = Kernel::new(Family::Matern32, 1.2, &[0.8, 1.5, 3.0], d);
    let gp = ExactGp::fit(&kernel, 0.4, x.view(), y.view(), 1).unwrap();
    let exact = flat(&gp.gradient(x.view()));
    let (op, none) = (gp.operator(), Array2::zeros((1, d)));
    let standard = |law: ProbeLaw, streams: &Streams| {
        let rhs = Targets::standard(y.view(), law, 1, 1, streams).rhs;
        estimator::standard(op, rhs.view(), gp.solve(rhs.view()).view(), None, Arithmetic::F64)
    };
    let pathwise = |streams: &Streams| {
        let draws = Prior::Exact.draw(&kernel, x.view(), none.view(), 1, streams).unwrap();
        let rhs = Targets::pathwise(y.view(), 0.4, draws, streams).rhs;
        estimator::pathwise(op, gp.solve(rhs.view()).view(), None, Arithmetic::F64)
    };
    type Estimate<'a> = &'a dyn Fn(&Streams) -> Gradient;
    let estimators: [(&str, Estimate); 3] = [
        ("normal probes", &|streams| standard(ProbeLaw::Normal, streams)),
        ("Rademacher probes", &|streams| standard(ProbeLaw::Rademacher, streams)),
        ("pathwise", &pathwise),
    ];
    for (name, estimate) in estimators {
        let mut draws = Array2::zeros((DRAWS, exact.len()));
        for (k, mut draw) in draws.rows_mut().into_iter().enumerate() {
            draw.assign(&flat(&estimate(&Streams::new(k as u64, &["draws"]))));
        }
        let mean = draws.mean_axis(Axis(0)).unwrap();
        let error = draws.std_axis(Axis(0), 1.0) / (DRAWS as f64).sqrt();
        for k in 0..exact.len() {
            let off = (mean[k] - exact[k]).abs();
            assert!(off <= STANDARD_ERRORS * error[k] + 1e-9, "{name}, {k}: {off} against {}", error[k]);
        }
    }
}

#[test]
fn exact_training_follows_the_known_trajectory() {
    let system = SmallSystem::load();
    let (x, y) = (system.x_train.view(), system.y_train.view());
    let file = json::parse(include_str!("data/training_reduced.json"));
    for family in [Family::Matern32, Family::Rbf] {
        let truth = &file["kernels"][family.to_string()];
        let (path, values) = (matrix(&truth["unconstrained"]), vector(&truth["log_marginal_likelihood"]));
        let gradients = matrix(&truth["lml_gradient"]);
        let ones = Hyperparameters { noise_scale: 1.0, signal_scale: 1.0, length_scale: vec![1.0; 26] };
        let mut parameters = Parameters::new(&ones);
        let mut adam = Adam::new(28);
        for step in 0..values.len() {
            let unconstrained = ArrayView1::from(&parameters.unconstrained);
            assert_close(&unconstrained, &path.row(step), 1e-10);
            let hyperparameters = parameters.hyperparameters();
            let (kernel, noise_scale) = (hyperparameters.kernel(family, 26), hyperparameters.noise_scale);
            let gp = ExactGp::fit(&kernel, noise_scale, x, y, 2).unwrap();
            assert_number(gp.log_marginal_likelihood, values[step], 1e-10);
            let gradient = gp.gradient(x);
            assert_close(&flat(&gradient), &gradients.row(step), 1e-9);
            let chained = parameters.chain(&gradient);
            adam.ascend(&mut parameters.unconstrained, &chained, 0.1, Alone);
        }
    }
}

/// The relative distance of a start from the solutions, in the H-norm.
fn distance(op: &dyn SystemMatrix, start: ArrayView2<f64>, solution: ArrayView2<f64>) -> f64 {
    let in_norm = |a: &Array2<f64>| {
        let mut product = Array2::zeros(a.dim());
        op.apply(a.view(), product.view_mut());
        (a * &product).sum()
    };
    (in_norm(&(&start - &solution)) / in_norm(&solution.to_owned())).sqrt()
}

#[test]
fn solutions_for_targets_of_the_same_streams_are_good_warm_starts() {
    let system = SmallSystem::load();
    let (x, y) = (system.x_train.view(), system.y_train.view());
    let streams = Streams::new(9, &["pol"]);
    let at = |scale: f64| {
        let kernel = Kernel::new(Family::Matern32, scale, &[scale], 26);
        let rng = &mut streams.stream("prior-frequencies");
        let features = RandomFeatures::draw(&kernel, Frequencies::MultivariateT, 200, rng);
        let draws = Prior::Features(&features).draw(&kernel, x, x.slice(s![..1, ..]), 3, &streams).unwrap();
        let rhs = Targets::pathwise(y, scale, draws, &streams).rhs;
        let gp = ExactGp::fit(&kernel, scale, x, y, 1).unwrap();
        let solution = gp.solve(rhs.view());
        (gp, rhs, solution)
    };
    let [(_, _, before), (_, _, last), (gp, rhs, solution)] = [1.0, 1.005, 1.01].map(at);
    let op = gp.operator();
    let cold = distance(op, Array2::zeros(rhs.dim()).view(), solution.view());
    let warm = distance(op, last.view(), solution.view());
    let ahead = gpbench_gp::train::extrapolate(op, rhs.view(), last.view(), before.view());
    let extrapolated = distance(op, ahead.view(), solution.view());
    assert_eq!(cold, 1.0);
    assert!(warm < 0.05 && extrapolated < 0.4 * warm, "{warm} {extrapolated}");
}

#[test]
fn quadratures_of_the_log_determinant_agree_with_the_truth() {
    let system = SmallSystem::load();
    let known = json::parse(include_str!("data/gradients_reduced.json"));
    let z = matrix(&known["probes_z"]);
    let nodes: Vec<usize> = vector(&known["J_list"]).iter().map(|&nodes| nodes as usize).collect();
    for setting in &system.settings {
        let truth = &known["settings"][&setting.name]["logdet"];
        let (values, exact) = (matrix(&truth["slq_per_probe"]), vector(&truth["exact_z_logH_z"]));
        let op = KernelOperator::new(&common::kernel(setting), setting.noise_scale, system.x_train.view(), 2);
        let tridiagonals = lanczos::tridiagonalise(&op, z.view(), 50);
        for (probe, tridiagonal) in tridiagonals.iter().enumerate() {
            let square = z.column(probe).dot(&z.column(probe));
            for (column, &nodes) in nodes.iter().enumerate() {
                let value = square * tridiagonal.leading(nodes).quadrature(f64::ln).unwrap();
                assert_number(value, values[(probe, column)], 1e-9);
                assert!(
                    value >= exact[probe] - 1e-9 * exact[probe].abs(),
                    "Gauss quadrature of log is an upper bound"
                );
            }
        }
        let fifty: Array1<f64> =
            lanczos::log_det(&op, z.view(), 50).into_iter().map(Option::unwrap).collect();
        assert_close(&fifty, &values.column(nodes.len() - 1), 1e-9);
    }
}
