//! Models that predict from neighbours, against ground truth and against other models.

use gpbench_gp::model::{Arrays, Model};
use gpbench_gp::{Family, Kernel};
use gpbench_numerics::lapack;
use gpbench_record::{Covariance, ModelKind};
use gpbench_testkit::assert_close;
use gpbench_testkit::json::{self, number, vector};
use ndarray::{Array2, Axis, ShapeBuilder, s};

use crate::learners::{arrays, column, one, pool, predict, shape, toy, with};

#[test]
fn neighbours_predict_as_in_the_truth() {
    let truth = json::parse(include_str!("data/neighbours_small.json"));
    let inputs = &truth["inputs"];
    let (x, y) = (json::matrix(&inputs["X"]), vector(&inputs["y"]));
    let x_test = json::matrix(&inputs["X_test"]);
    for (name, family) in [("matern32", Family::Matern32), ("rbf", Family::Rbf)] {
        for count in [3, 10, 40] {
            let noise = number(&inputs["noise_scale"]);
            let put = arrays([
                ("signal_scale", one(number(&inputs["signal_scale"]))),
                ("noise_scale", one(noise)),
                ("length_scale", column(vector(&inputs["length_scale"]).as_slice().unwrap())),
                ("mean", one(0.7)),
                ("neighbours", one(f64::from(count))),
            ]);
            let family = Covariance::Stationary(family);
            let model = Model::parse(ModelKind::Neighbours, family, shape(x.view()), &put).unwrap();
            let posterior = model.posterior(x.view(), (&y + 0.7).view(), &pool()).unwrap();
            let expected = &truth["kernels"][name][&format!("predict_m_{count}")];
            let found = predict(&posterior, x_test.view());
            assert_close(&(found.mean - 0.7), &vector(&expected["mean"]), 1e-10);
            let latent = found.variance - noise * noise;
            assert_close(&latent, &vector(&expected["latent_variance"]), 1e-10);
        }
    }
}

#[test]
fn neighbours_beside_inducing_points_are_the_exact_process_or_these_points_alone() {
    let toy = toy(60, 3);
    let (x, y) = (toy.x.view(), toy.y.view());
    let rbf = Covariance::Stationary(Family::Rbf);
    let parse = |kind: ModelKind, put: &Arrays| Model::parse(kind, rbf, shape(x), put).unwrap();
    let answer = |kind: ModelKind, put: &Arrays| {
        predict(&parse(kind, put).posterior(x, y, &pool()).unwrap(), toy.x_test.view())
    };
    let scales = arrays([
        ("signal_scale", one(1.3)),
        ("noise_scale", one(0.2)),
        ("length_scale", column(&[0.8, 0.9, 1.1])),
    ]);
    // The exact distribution of v = L^-1 f(Z): mean A H^-1 y, covariance I - A H^-1 A^T.
    let kernel = Kernel::new(Family::Rbf, 1.3, &[0.8, 0.9, 1.1], 3);
    let z = toy.x_test.slice(s![..7, ..]).to_owned();
    let mut factor = kernel.matrix(z.view(), z.view()).reversed_axes();
    factor.diag_mut().mapv_inplace(|entry| entry + 1e-6);
    lapack::cholesky(&mut factor).unwrap();
    let mut a = kernel.matrix(x, z.view()).reversed_axes();
    lapack::solve_lower(&factor, false, &mut a).unwrap();
    let mut h = kernel.matrix(x, x).reversed_axes();
    h.diag_mut().mapv_inplace(|entry| entry + 0.04);
    lapack::cholesky(&mut h).unwrap();
    let mut solved = Array2::zeros((60, 7).f());
    solved.assign(&a.t());
    lapack::cholesky_solve(&h, &mut solved).unwrap();
    let mut root = Array2::eye(7).reversed_axes();
    root -= &a.dot(&solved);
    lapack::cholesky(&mut root).unwrap();
    root.indexed_iter_mut().filter(|((i, j), _)| i < j).for_each(|(_, entry)| *entry = 0.0);
    let q_mean = solved.t().dot(&y).insert_axis(Axis(1));
    let put = with(scales.clone(), [("z", z), ("q_mean", q_mean), ("q_root", root), ("jitter", one(1e-6))]);

    let all = answer(ModelKind::Neighbours, &with(put.clone(), [("neighbours", one(60.0))]));
    let exact = answer(ModelKind::Gp, &scales);
    assert_close(&all.mean, &exact.mean, 1e-8);
    assert_close(&all.variance, &exact.variance, 1e-8);

    let none = answer(ModelKind::Neighbours, &with(put.clone(), [("neighbours", one(0.0))]));
    let points = answer(ModelKind::Inducing, &put);
    assert_close(&none.mean, &points.mean, 1e-12);
    assert_close(&none.variance, &points.variance, 1e-12);

    let prior = answer(ModelKind::Neighbours, &with(scales, [("neighbours", one(0.0))]));
    assert!(prior.mean.iter().all(|&mean| mean == 0.0));
    assert!(prior.variance.iter().all(|variance| (variance - 1.73).abs() < 1e-12));
}
