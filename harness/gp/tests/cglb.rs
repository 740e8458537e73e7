//! The bound from inducing points and an approximate solution: the oracle, differences, and cases that are known.

use std::sync::Arc;

use gpbench_gp::cglb::{BoundFactor, ConjugateBound, JITTER, tolerance};
use gpbench_gp::exact::ExactGp;
use gpbench_gp::inducing::greedy;
use gpbench_gp::seed::Streams;
use gpbench_gp::{Arithmetic, Family, Gradient, Kernel, KernelOperator, thread_pool};
use gpbench_numerics::lapack;
use gpbench_testkit::fixtures::zeros;
use gpbench_testkit::json::{self, Value, matrix, number, vector};
use gpbench_testkit::{assert_close, assert_number};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, s};
use rayon::ThreadPool;

const TRUTH: &str = include_str!("data/cglb_small.json");

const FAMILIES: [Family; 2] = [Family::Matern32, Family::Rbf];

/// The oracle's system under a family.
struct Small {
    truth: Value,
    kernel: Kernel,
    noise_scale: f64,
    x: Array2<f64>,
    y: Array1<f64>,
    x_test: Array2<f64>,
    z: Array2<f64>,
    pool: Arc<ThreadPool>,
}

impl Small {
    fn load(family: Family) -> Small {
        let file = json::parse(TRUTH);
        let inputs = &file["inputs"];
        let of = |name: &str| matrix(&inputs[name]);
        let lengths = vector(&inputs["length_scale"]).to_vec();
        Small {
            truth: file["kernels"][family.to_string()].clone(),
            kernel: Kernel::new(family, number(&inputs["signal_scale"]), &lengths, lengths.len()),
            noise_scale: number(&inputs["noise_scale"]),
            x: of("X"),
            y: vector(&inputs["y"]),
            x_test: of("X_test"),
            z: of("Z"),
            pool: thread_pool(2).unwrap(),
        }
    }

    fn op(&self) -> KernelOperator {
        KernelOperator::with_pool(&self.kernel, self.noise_scale, self.x.view(), Arc::clone(&self.pool))
    }

    /// The factor for inducing points `z`, without jitter.
    fn factor(&self, z: ArrayView2<f64>) -> BoundFactor {
        BoundFactor::new(&self.kernel, self.noise_scale, self.x.view(), z, 0.0, &self.pool).unwrap()
    }

    fn at(&self, z: ArrayView2<f64>, v: ArrayView1<f64>) -> ConjugateBound {
        self.factor(z).at(&self.op(), self.y.view(), v)
    }

    fn exact(&self) -> ExactGp {
        ExactGp::fit(&self.kernel, self.noise_scale, self.x.view(), self.y.view(), 2).unwrap()
    }
}

fn flat(gradient: &Gradient) -> Array1<f64> {
    let scales = [gradient.noise_scale, gradient.signal_scale];
    scales.into_iter().chain(gradient.length_scale.iter().copied()).collect()
}

#[test]
fn bounds_gradients_and_predictions_agree_with_the_oracle() {
    for family in FAMILIES {
        let small = Small::load(family);
        let (op, factor) = (small.op(), small.factor(small.z.view()));
        assert_eq!(factor.count(), 8);
        for iteration in [0, 2, 5] {
            let known = &small.truth["cglb"][format!("iteration_{iteration}")];
            let bound = factor.at(&op, small.y.view(), vector(&known["v"]).view());
            assert_number(bound.value, number(&known["bound"]), 1e-11);
            assert_number(factor.log_det, number(&known["logdet_bound"]), 1e-11);
            assert_number(bound.gap, number(&known["half_gap"]), 1e-11);
            assert!((bound.quadratic - number(&known["half_quad_low"])).abs() < 1e-11);
            let gradient = factor.gradient(&op, small.x.view(), &bound, Arithmetic::F64);
            assert_close(&flat(&gradient), &vector(&known["grad"]), 1e-10);
            let (mean, variance) = factor.predict(&op, &bound, small.x_test.view());
            assert_close(&mean, &vector(&known["mean"]), 1e-10);
            assert_close(&variance, &vector(&known["latent_variance"]), 1e-10);
        }
    }
}

/// The gradient by Z is not computed, since points do not move; differences show how the bound depends on them.
#[test]
fn the_bound_depends_on_the_points_as_the_oracle_says() {
    const STEP: f64 = 1e-5;
    for family in FAMILIES {
        let small = Small::load(family);
        for iteration in [0, 2, 5] {
            let known = &small.truth["cglb"][format!("iteration_{iteration}")];
            let v = vector(&known["v"]);
            let differences = Array2::from_shape_fn(small.z.dim(), |place| {
                let moved = |by: f64| {
                    let mut z = small.z.clone();
                    z[place] += by;
                    small.at(z.view(), v.view()).value
                };
                (moved(STEP) - moved(-STEP)) / (2.0 * STEP)
            });
            assert_close(&differences, &matrix(&known["grad_Z"]), 1e-6);
        }
    }
}

/// Q^-1 for a dense Q, made in another way.
struct DenseQ(Array2<f64>);

impl DenseQ {
    fn new(small: &Small) -> DenseQ {
        let (x, z) = (small.x.view(), small.z.view());
        let mut of_points = zeros(z.nrows(), z.nrows());
        of_points.assign(&small.kernel.matrix(z, z));
        lapack::cholesky(&mut of_points).unwrap();
        let cross = small.kernel.matrix(z, x);
        let mut solved = zeros(z.nrows(), x.nrows());
        solved.assign(&cross);
        lapack::cholesky_solve(&of_points, &mut solved).unwrap();
        let mut q = zeros(x.nrows(), x.nrows());
        q.assign(&cross.t().dot(&solved));
        q.diag_mut().mapv_inplace(|entry| entry + small.noise_scale.powi(2));
        lapack::cholesky(&mut q).unwrap();
        DenseQ(q)
    }

    fn solve(&self, r: &Array1<f64>) -> Array1<f64> {
        let mut solved = zeros(r.len(), 1);
        solved.column_mut(0).assign(r);
        lapack::cholesky_solve(&self.0, &mut solved).unwrap();
        solved.column(0).to_owned()
    }
}

/// H as a dense matrix.
fn dense(small: &Small) -> Array2<f64> {
    let mut h = small.kernel.matrix(small.x.view(), small.x.view());
    h.diag_mut().mapv_inplace(|entry| entry + small.noise_scale.powi(2));
    h
}

/// Iterates of conjugate gradients from zero with the preconditioner Q.
fn iterates(small: &Small, count: usize) -> Vec<Array1<f64>> {
    let (h, q) = (dense(small), DenseQ::new(small));
    let (mut v, mut r) = (Array1::zeros(small.y.len()), small.y.clone());
    let mut z = q.solve(&r);
    let mut direction = z.clone();
    let mut rz = r.dot(&z);
    let mut found = vec![v.clone()];
    for _ in 0..count {
        let product = h.dot(&direction);
        let step = rz / direction.dot(&product);
        v.scaled_add(step, &direction);
        r.scaled_add(-step, &product);
        z = q.solve(&r);
        let next = r.dot(&z);
        direction = &z + &direction * (next / rz);
        rz = next;
        found.push(v.clone());
    }
    found
}

#[test]
fn conjugate_gradients_tighten_the_bound_and_the_interval_holds_the_exact_quadratic() {
    for family in FAMILIES {
        let small = Small::load(family);
        let (exact, cglb) = (small.exact(), &small.truth["cglb"]);
        let half = number(&cglb["exact_half_quad"]);
        assert_number(0.5 * exact.y_hinv_y, half, 1e-11);
        assert_number(exact.log_det, number(&cglb["exact_logdet"]), 1e-11);
        let gaps = vector(&cglb["half_gap_per_iteration"]);
        let (op, factor) = (small.op(), small.factor(small.z.view()));
        assert!(factor.log_det >= exact.log_det);
        let mut before = f64::NEG_INFINITY;
        for (v, &gap) in iterates(&small, gaps.len() - 1).iter().zip(&gaps) {
            let bound = factor.at(&op, small.y.view(), v.view());
            assert_number(bound.gap, gap, 1e-7);
            assert!(bound.quadratic <= half && half <= bound.quadratic + bound.gap, "{bound:?}");
            assert!(bound.quadratic >= before && bound.value <= exact.log_marginal_likelihood);
            before = bound.quadratic;
        }
    }
}

#[test]
fn limit_cases_are_known() {
    for family in FAMILIES {
        let small = Small::load(family);
        let (op, exact) = (small.op(), small.exact());
        let sgpr = &small.truth["sgpr"];
        let factor = small.factor(small.z.view());
        assert_number(exact.log_marginal_likelihood, number(&small.truth["exact"]["lml"]), 1e-11);

        // Without a solution: the predictions of the collapsed bound, and a bound at least as high.
        let none = factor.at(&op, small.y.view(), Array1::zeros(40).view());
        assert!(none.value >= number(&sgpr["bound"]) && none.quadratic == 0.0);
        let (mean, variance) = factor.predict(&op, &none, small.x_test.view());
        assert_close(&mean, &vector(&sgpr["mean"]), 1e-10);
        assert_close(&variance, &vector(&sgpr["latent_variance"]), 1e-10);

        // With the exact one: no gap, only the slack of the determinant, and the exact mean.
        let solved = factor.at(&op, small.y.view(), exact.v.view());
        let slack = 0.5 * (factor.log_det - exact.log_det);
        assert!(solved.gap < 1e-20 && slack > 0.0);
        assert!((exact.log_marginal_likelihood - slack - solved.value).abs() < 1e-10);
        let (mean, _) = factor.predict(&op, &solved, small.x_test.view());
        assert_close(&mean, &vector(&small.truth["exact"]["mean"]), 1e-10);

        // With every row as an inducing point: the likelihood itself, for every v.
        let all = small.factor(small.x.view());
        for v in [Array1::zeros(40), small.y.clone()] {
            let bound = all.at(&op, small.y.view(), v.view());
            assert_number(bound.value, exact.log_marginal_likelihood, 1e-6);
        }
    }
}

#[test]
fn greedy_points_are_those_of_the_oracle() {
    for family in FAMILIES {
        let small = Small::load(family);
        let sgpr = &small.truth["sgpr"];
        let pivots: Vec<usize> = vector(&sgpr["greedy_pivots"]).iter().map(|&row| row as usize).collect();
        let z = greedy(&small.kernel, small.x.view(), pivots.len(), &small.pool);
        assert_eq!(z, small.x.select(Axis(0), &pivots));
        for (count, &trace) in (1..).zip(&vector(&sgpr["greedy_trace"])) {
            assert_number(small.factor(z.slice(s![..count, ..])).unexplained, trace, 1e-9);
        }
    }
}

#[test]
fn gradients_are_those_of_differences_with_jitter_in_every_family() {
    const STEP: f64 = 1e-5;
    let streams = Streams::new(6, &["cglb"]);
    let (x, v) = (streams.normals("x", 90, 2), streams.normals("v", 90, 1));
    let y = x.map_axis(Axis(1), |row| (2.0 * row.sum()).sin());
    let z = x.slice(s![..15, ..]);
    let (scales, pool) = ([0.3, 1.2, 0.8, 1.5], thread_pool(2).unwrap());
    for family in Family::ALL {
        let at = |scales: &[f64], mean: f64| {
            let kernel = Kernel::new(family, scales[1], &scales[2..], 2);
            let op = KernelOperator::with_pool(&kernel, scales[0], x.view(), Arc::clone(&pool));
            let factor = BoundFactor::new(&kernel, scales[0], x.view(), z, 1e-2, &pool).unwrap();
            let bound = factor.at(&op, (&y - mean).view(), v.column(0));
            (op, factor, bound)
        };
        let (op, factor, bound) = at(&scales, 0.0);
        let found = flat(&factor.gradient(&op, x.view(), &bound, Arithmetic::F64));
        let differences: Array1<f64> = (0..scales.len())
            .map(|place| {
                let moved = |by: f64| {
                    let mut moved = scales;
                    moved[place] += by;
                    at(&moved, 0.0).2.value
                };
                (moved(STEP) - moved(-STEP)) / (2.0 * STEP)
            })
            .collect();
        assert_close(&found, &differences, 1e-7);
        let by_mean = (at(&scales, STEP).2.value - at(&scales, -STEP).2.value) / (2.0 * STEP);
        assert_number(bound.by_mean(), by_mean, 1e-6);
        // Single precision in the pass over H alone.
        let mixed = flat(&factor.gradient(&op, x.view(), &bound, Arithmetic::Mixed));
        assert_close(&mixed, &found, 1e-4);
    }
}

#[test]
fn a_residual_of_the_tolerance_leaves_the_gap() {
    let small = Small::load(Family::Matern32);
    let (exact, gap) = (small.exact(), 0.25);
    let relative = tolerance(gap, small.noise_scale, small.y.view());
    // A residual of just that norm.
    let mut r = Array1::<f64>::from_shape_fn(40, |row| if row % 2 == 0 { 1.0 } else { -0.7 });
    r *= relative * small.y.dot(&small.y).sqrt() / r.dot(&r).sqrt();
    let v = exact.solve((&small.y - &r).insert_axis(Axis(1)).view()).column(0).to_owned();
    let bound = small.at(small.z.view(), v.view());
    assert!(bound.gap <= gap && bound.gap > 0.0, "{bound:?}");
    let best = small.at(small.z.view(), exact.v.view());
    assert!(best.value - bound.value <= gap);
    assert_eq!(tolerance(gap, 0.1, Array1::zeros(3).view()), 0.9);
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let streams = Streams::new(7, &["cglb"]);
    let (x, y) = (streams.normals("x", 700, 3), streams.normals("y", 700, 1));
    let kernel = Kernel::new(Family::Matern52, 1.1, &[0.9], 3);
    let found = |threads: usize| {
        let pool = thread_pool(threads).unwrap();
        let z = greedy(&kernel, x.view(), 150, &pool);
        let op = KernelOperator::with_pool(&kernel, 0.4, x.view(), Arc::clone(&pool));
        let factor = BoundFactor::new(&kernel, 0.4, x.view(), z.view(), JITTER, &pool).unwrap();
        let v = y.column(0).to_owned() * 0.5;
        let bound = factor.at(&op, y.column(0), v.view());
        let gradient = factor.gradient(&op, x.view(), &bound, Arithmetic::F64);
        let predictions = factor.predict(&op, &bound, x.slice(s![..300, ..]));
        (z, bound, gradient, predictions)
    };
    assert_eq!(found(1), found(3));
}

#[test]
fn repeated_rows_are_no_failure_with_jitter() {
    let x = Array2::from_shape_fn((60, 1), |(row, _)| (row / 6) as f64 * 0.1);
    let kernel = Kernel::new(Family::Rbf, 1.0, &[1.0], 1);
    let z = x.slice(s![..20, ..]);
    let pool = thread_pool(1).unwrap();
    assert!(BoundFactor::new(&kernel, 0.1, x.view(), z, 0.0, &pool).is_err());
    let factor = BoundFactor::new(&kernel, 0.1, x.view(), z, JITTER, &pool).unwrap();
    assert!(factor.log_det.is_finite());
}
