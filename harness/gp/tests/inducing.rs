//! Products with K(X, Z), predictions from inducing points Z, and the selection of Z.

use crate::common;
use crate::suite;
use gpbench_gp::inducing::{Selection, SelectionError, select};
use gpbench_gp::seed::{Streams, stream};
use gpbench_gp::{Family, Kernel, KernelOperator, SystemMatrix, pathwise, thread_pool};
use gpbench_numerics::{LinearOperator, lapack};
use gpbench_testkit::fixtures::zeros;
use gpbench_testkit::json::{self, vector};
use gpbench_testkit::{SmallSystem, assert_close};
use ndarray::{Array2, ArrayView2, Axis, s};

/// Rows and basis points; every third basis point is a row.
fn points(n: usize, d: usize) -> (Array2<f64>, Array2<f64>) {
    let streams = Streams::new(4, &["inducing"]);
    let x = suite::points(&streams, "x", n, d) + 2.0;
    let mut z = suite::points(&streams, "z", n.div_ceil(2), d) * 1.5;
    for i in (0..z.nrows()).step_by(3) {
        z.row_mut(i).assign(&x.row(i));
    }
    (x, z)
}

#[test]
fn every_product_agrees_with_the_dense_matrix() {
    for family in Family::ALL {
        for (n, d, columns) in [(1, 1, 1), (7, 3, 2), (300, 2, 5), (600, 9, 4), (771, 13, 3)] {
            let (x, z) = points(n, d);
            let kernel = Kernel::new(family, 1.4, &[1.3], d);
            let dense = kernel.matrix(x.view(), z.view());
            let cross = KernelOperator::new(&kernel, 0.3, x.view(), 2).between(z.view());
            suite::every_product_agrees(&*cross, &dense, columns);
            assert!(cross.diagonal().is_none());
            let entries = (dense.nrows() * dense.ncols()) as f64;
            assert_eq!([cross.evaluated_by_apply(), cross.evaluated_by_rows_and_back(n)], [entries; 2]);

            let v = Streams::new(5, &[]).normals("v", z.nrows(), columns);
            let star = suite::points(&Streams::new(6, &[]), "x", 33, d);
            let expected = kernel.matrix(star.view(), z.view()).dot(&v);
            assert_close(&cross.cross(star.view(), v.view()), &expected, 1e-12);
        }
    }
}

#[test]
fn threads_change_no_bit() {
    let (x, z) = points(1500, 8);
    let kernel = Kernel::new(Family::Matern32, 1.0, &[1.0], 8);
    let v = Streams::new(5, &[]).normals("v", z.nrows(), 6);
    let rows: Vec<usize> = (0..1500).step_by(3).collect();
    let of = |threads: usize| {
        let cross = KernelOperator::new(&kernel, 0.3, x.view(), threads).between(z.view());
        let (mut out, mut sums) = (zeros(1500, 6), zeros(z.nrows(), 6));
        cross.apply(v.view(), out.view_mut());
        cross.rows_and_back(&rows, v.view(), &mut |_| (), sums.view_mut());
        [out, sums]
    };
    assert_eq!(of(1), of(3));
}

/// Minimises |y - K(X, Z) v|^2 + noise^2 v^T K(Z, Z) v through Cholesky factors: with K(Z, Z) = L L^T,
/// A = L^-1 K(Z, X) / noise and B = I + A A^T, v = L^-T B^-1 A y / noise.
fn optimum(
    kernel: &Kernel,
    noise: f64,
    x: ArrayView2<f64>,
    y: ArrayView2<f64>,
    z: ArrayView2<f64>,
) -> Array2<f64> {
    let by_columns = |a: Array2<f64>| {
        let mut out = zeros(a.nrows(), a.ncols());
        out.assign(&a);
        out
    };
    let mut factor = by_columns(kernel.matrix(z, z));
    lapack::cholesky(&mut factor).unwrap();
    let mut a = by_columns(kernel.matrix(z, x) / noise);
    lapack::solve_lower(&factor, false, &mut a).unwrap();
    let mut b = by_columns(a.dot(&a.t()) + Array2::<f64>::eye(z.nrows()));
    lapack::cholesky(&mut b).unwrap();
    let mut v = by_columns(a.dot(&y) / noise);
    lapack::cholesky_solve(&b, &mut v).unwrap();
    lapack::multiply_lower(&factor, false, &mut v).unwrap();
    lapack::cholesky_solve(&factor, &mut v).unwrap();
    v
}

#[test]
fn the_best_weights_give_the_mean_of_titsias() {
    let system = SmallSystem::load();
    let truth = json::parse(include_str!("data/titsias_mean.json"));
    for setting in &system.settings {
        let (kernel, noise) = (common::kernel(setting), setting.noise_scale);
        let (x, y) = (system.x_train.view(), system.y_train.view().insert_axis(Axis(1)));
        let z = x.slice(s![..30, ..]);
        let cross = KernelOperator::new(&kernel, noise, x, 2).between(z);
        let v = optimum(&kernel, noise, x, y, z);

        // Half of the objective's negative gradient, as a solver finds it by products.
        let (mut gradient, mut scale) = (zeros(30, 1), zeros(30, 1));
        let all: Vec<usize> = (0..300).collect();
        cross.rows_and_back(
            &all,
            v.view(),
            &mut |mut u| u.zip_mut_with(&y, |u, y| *u = y - *u),
            gradient.view_mut(),
        );
        gradient -= &(kernel.matrix(z, z).dot(&v) * (noise * noise));
        cross.rows_and_back(&all, zeros(30, 1).view(), &mut |mut u| u.assign(&y), scale.view_mut());
        let norm = |a: &Array2<f64>| a.iter().map(|e| e * e).sum::<f64>().sqrt();
        assert!(norm(&gradient) < 1e-9 * norm(&scale), "{}: {:e}", setting.name, norm(&gradient));

        let prediction = pathwise::predict(&*cross, system.x_test.view(), v.view(), zeros(40, 0).view());
        assert_close(&prediction.mean, &vector(&truth["titsias_mean"][&setting.name]), 1e-9);
    }
}

#[test]
fn all_rows_as_inducing_points_are_the_exact_process() {
    let system = SmallSystem::load();
    let setting = system.setting("matern32_ones");
    let (kernel, noise) = (common::kernel(setting), setting.noise_scale);
    let (x, y) = (system.x_train.view(), system.y_train.view().insert_axis(Axis(1)));
    let v = optimum(&kernel, noise, x, y, x);
    // K (y - K v) = noise^2 K v, so y = (K + noise^2 I) v.
    let mut product = zeros(300, 1);
    KernelOperator::new(&kernel, noise, x, 1).apply(v.view(), product.view_mut());
    assert_close(&product, &y, 1e-9);
}

fn seeded(selection: Selection, x: &Array2<f64>, seed: u64) -> Array2<f64> {
    select(selection, x.view(), &mut stream(seed, &["inducing"])).unwrap()
}

#[test]
fn a_selection_depends_on_the_seed_and_not_on_the_threads() {
    let x = Streams::new(8, &[]).normals("x", 5000, 3).as_standard_layout().to_owned();
    for selection in [Selection::Subset { points: 40 }, Selection::KMeans { points: 40 }] {
        let one = thread_pool(1).unwrap().install(|| seeded(selection, &x, 1));
        let three = thread_pool(3).unwrap().install(|| seeded(selection, &x, 1));
        assert_eq!(one.dim(), (40, 3));
        assert_eq!(one, three, "{selection:?}");
        assert_ne!(one, seeded(selection, &x, 2), "{selection:?}");
    }
    let near = Selection::Neighbours { distance: 0.4, neighbours: 100 };
    let kept = thread_pool(3).unwrap().install(|| seeded(near, &x, 1));
    assert_eq!(kept, seeded(near, &x, 2), "no random numbers are used");
    assert!((50..2500).contains(&kept.nrows()), "{}", kept.nrows());
}

/// Sum of the rows' squared distances to their nearest points.
fn distortion(x: &Array2<f64>, z: &Array2<f64>) -> f64 {
    let nearest = |row: ndarray::ArrayView1<f64>| {
        z.rows().into_iter().map(|z| (&row - &z).mapv(|e| e * e).sum()).fold(f64::INFINITY, f64::min)
    };
    x.rows().into_iter().map(nearest).sum()
}

#[test]
fn clusters_are_found() {
    let centres = [[0.0, 0.0], [9.0, 0.0], [0.0, 9.0], [9.0, 9.0], [30.0, 30.0]];
    let mut x = Streams::new(9, &[]).normals("x", 500, 2).as_standard_layout().to_owned();
    for (i, mut row) in x.rows_mut().into_iter().enumerate() {
        row += &ndarray::aview1(&centres[i % 5]);
    }
    let z = seeded(Selection::KMeans { points: 5 }, &x, 1);
    for centre in centres {
        let near =
            z.rows().into_iter().filter(|z| (z - &ndarray::aview1(&centre)).mapv(f64::abs).sum() < 1.0);
        assert_eq!(near.count(), 1, "{centre:?} in {z}");
    }
    let subset = seeded(Selection::Subset { points: 5 }, &x, 1);
    assert!(distortion(&x, &z) < distortion(&x, &subset));
    assert!(subset.rows().into_iter().all(|z| x.rows().into_iter().any(|row| row == z)));
    assert_eq!(distortion(&x, &seeded(Selection::Subset { points: 500 }, &x, 1)), 0.0);
}

#[test]
fn impossible_selections_are_refused() {
    let x = Array2::<f64>::zeros((20, 2));
    let refused = |selection| select(selection, x.view(), &mut stream(1, &[])).unwrap_err();
    let too_many = refused(Selection::Subset { points: 21 });
    assert_eq!(too_many, SelectionError::Count { points: 21, rows: 20 });
    assert_eq!(
        too_many.to_string(),
        "21 inducing points were asked for; there are 20 training rows to choose from"
    );
    assert_eq!(refused(Selection::KMeans { points: 0 }), SelectionError::Count { points: 0, rows: 20 });
    let nowhere = Selection::Neighbours { distance: f64::NAN, neighbours: 10 };
    assert!(refused(nowhere).to_string().ends_with("need a positive distance, not NaN"));
}
