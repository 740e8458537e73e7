//! Models with inducing points.

use gpbench_gp::model::Model;
use gpbench_gp::network::Network;
use gpbench_gp::sparse::Basis;
use gpbench_gp::{CovarianceFunction, Family, Kernel};
use gpbench_record::{Covariance, ModelKind};
use gpbench_testkit::json::{self, number, vector};
use gpbench_testkit::{SmallSystem, assert_close, assert_number};
use ndarray::Axis;

use super::{TRUTH, arrays, family, one, pool, predict, scales, shape, toy, variational, with};
use crate::common;

#[test]
fn the_best_distribution_at_inducing_points_is_that_of_the_truth() {
    let system = SmallSystem::load();
    let truth = json::parse(TRUTH);
    let (x, y) = (system.x_train.view(), system.y_train.view());
    let rows: Vec<usize> = vector(&truth["inducing_rows"]).iter().map(|&row| row as usize).collect();
    let z = x.select(Axis(0), &rows);
    for setting in &system.settings {
        let truth = &truth["settings"][&setting.name]["titsias"];
        let (covariance, network) =
            (CovarianceFunction::Stationary(common::kernel(setting)), Network::default());
        let basis = Basis::new(&covariance, &network, z.view(), 0.0, &pool()).unwrap();
        let elbo = number(&truth["elbo"]);
        assert_number(basis.collapsed_bound(setting.noise_scale, x, y).unwrap(), elbo, 1e-10);

        let q = basis.optimal(setting.noise_scale, x, y).unwrap();
        let put = with(with(scales(setting), [("z", z.clone()), ("jitter", one(0.0))]), variational(&q));
        let model = Model::parse(ModelKind::Inducing, family(setting), shape(x), &put).unwrap();
        let posterior = model.posterior(x, y, &pool()).unwrap();
        let objective = posterior.objective().unwrap().unwrap();
        assert_number(-objective * y.len() as f64, elbo, 1e-10);
        let prediction = predict(&posterior, system.x_test.view());
        assert_close(&prediction.mean, &vector(&truth["mean"]), 1e-9);
        let latent = prediction.variance - setting.noise_scale.powi(2);
        assert_close(&latent, &vector(&truth["latent_variance"]), 1e-9);

        // Signs of columns have no meaning; any other distribution has a lower bound.
        let mut flipped = q.clone();
        flipped.root.column_mut(3).mapv_inplace(|entry| -entry);
        assert_eq!(
            basis.bound(&flipped, setting.noise_scale, x, y),
            basis.bound(&q, setting.noise_scale, x, y)
        );
        let mut other = q.clone();
        other.mean[0] += 1e-3;
        other.root[(5, 5)] *= 1.1;
        assert!(basis.bound(&other, setting.noise_scale, x, y) < elbo);
    }
}

#[test]
fn inducing_points_at_all_rows_give_the_exact_process() {
    let system = SmallSystem::load();
    let (x, y) = (system.x_train.view(), system.y_train.view());
    for setting in &system.settings {
        let (covariance, network) =
            (CovarianceFunction::Stationary(common::kernel(setting)), Network::default());
        let jitter = 1e-10 * setting.signal_scale.powi(2);
        let basis = Basis::new(&covariance, &network, x, jitter, &pool()).unwrap();
        let q = basis.optimal(setting.noise_scale, x, y).unwrap();
        let put =
            with(with(scales(setting), [("z", x.to_owned()), ("jitter", one(jitter))]), variational(&q));
        let model = Model::parse(ModelKind::Inducing, family(setting), shape(x), &put).unwrap();
        let posterior = model.posterior(x, y, &pool()).unwrap();
        let (bound, exact) = (posterior.objective().unwrap().unwrap(), posterior.nlml().unwrap().unwrap());
        // What is left is the jitter's own effect.
        assert_number(bound, exact, 1e-6);
        let model = Model::parse(ModelKind::Gp, family(setting), shape(x), &scales(setting)).unwrap();
        let exact = predict(&model.posterior(x, y, &pool()).unwrap(), system.x_test.view());
        let sparse = predict(&posterior, system.x_test.view());
        assert_close(&sparse.mean, &exact.mean, 1e-6);
        assert_close(&sparse.variance, &exact.variance, 1e-6);
    }
}

#[test]
fn repeated_inducing_points_more_than_rows_need_their_jitter() {
    let toy = toy(20, 2);
    let z = ndarray::concatenate![Axis(0), toy.x, toy.x];
    let kernel = Kernel::new(Family::Rbf, 1.0, &[1.0], 2);
    let (covariance, network) = (CovarianceFunction::Stationary(kernel), Network::default());
    let basis = Basis::new(&covariance, &network, z.view(), 1e-6, &pool()).unwrap();
    let q = basis.optimal(0.1, toy.x.view(), toy.y.view()).unwrap();
    let bound = basis.bound(&q, 0.1, toy.x.view(), toy.y.view());
    let put = arrays([
        ("signal_scale", one(1.0)),
        ("noise_scale", one(0.1)),
        ("length_scale", one(1.0)),
        ("z", z),
        ("jitter", one(1e-6)),
    ]);
    let put = with(put, variational(&q));
    let rbf = Covariance::Stationary(Family::Rbf);
    let model = Model::parse(ModelKind::Inducing, rbf, shape(toy.x.view()), &put).unwrap();
    let nlml = model.posterior(toy.x.view(), toy.y.view(), &pool()).unwrap().nlml().unwrap().unwrap();
    assert!(bound <= -20.0 * nlml && (bound + 20.0 * nlml).abs() < 1e-2, "{bound} against {}", -20.0 * nlml);

    let model =
        Model::parse(ModelKind::Inducing, rbf, shape(toy.x.view()), &with(put, [("jitter", one(0.0))]))
            .unwrap();
    let error = model.posterior(toy.x.view(), toy.y.view(), &pool()).unwrap_err().to_string();
    assert!(error.starts_with("the kernel matrix of `z` with `jitter` on its diagonal is not"), "{error}");
}
