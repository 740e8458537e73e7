//! Models that are conditioned on projections, against ground truth and against other models.

use gpbench_gp::Family;
use gpbench_gp::model::{Arrays, Model, Prediction};
use gpbench_record::{Covariance, ModelKind};
use gpbench_testkit::json::{self, Value, number, vector};
use gpbench_testkit::{assert_close, assert_number};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, s};

use crate::learners::{arrays, column, one, pool, predict, shape, toy, with};

const FAMILIES: [(&str, Family); 2] = [("matern32", Family::Matern32), ("rbf", Family::Rbf)];

/// Numbers that were computed elsewhere for 40 rows.
struct Truth {
    all: Value,
    x: Array2<f64>,
    y: Array1<f64>,
    x_test: Array2<f64>,
}

impl Truth {
    fn load() -> Truth {
        let all = json::parse(include_str!("data/actions_small.json"));
        let inputs = &all["inputs"];
        let (x, x_test) = (json::matrix(&inputs["X"]), json::matrix(&inputs["X_test"]));
        Truth { y: vector(&inputs["y"]), x, x_test, all }
    }

    /// The scales, with a prior mean of 0.7.
    fn scales(&self) -> Arrays {
        let inputs = &self.all["inputs"];
        arrays([
            ("signal_scale", one(number(&inputs["signal_scale"]))),
            ("noise_scale", one(number(&inputs["noise_scale"]))),
            ("length_scale", column(vector(&inputs["length_scale"]).as_slice().unwrap())),
            ("mean", one(0.7)),
        ])
    }

    fn sparse(&self) -> Arrays {
        let inputs = &self.all["inputs"];
        let of = |name: &str| vector(&inputs[name]).insert_axis(Axis(1));
        with(self.scales(), [("action", of("action_of_row")), ("entry", of("action_entry"))])
    }

    /// The bound, and predictions less the prior mean and the noise.
    fn answer(&self, family: Family, put: &Arrays) -> (f64, Prediction) {
        let y = &self.y + 0.7;
        let (objective, _, found) = answer(family, put, self.x.view(), y.view(), self.x_test.view());
        let noise = number(&self.all["inputs"]["noise_scale"]);
        let latent = Prediction { mean: found.mean - 0.7, variance: found.variance - noise * noise };
        (-objective * self.y.len() as f64, latent)
    }
}

/// Objective and negative log likelihood a row, and predictions.
fn answer(
    family: Family,
    put: &Arrays,
    x: ArrayView2<f64>,
    y: ArrayView1<f64>,
    x_test: ArrayView2<f64>,
) -> (f64, f64, Prediction) {
    let family = Covariance::Stationary(family);
    let model = Model::parse(ModelKind::Actions, family, shape(x), put).unwrap();
    let posterior = model.posterior(x, y, &pool()).unwrap();
    let (objective, nlml) = (posterior.objective().unwrap().unwrap(), posterior.nlml().unwrap().unwrap());
    (objective, nlml, predict(&posterior, x_test))
}

fn assert_predicted(found: &Prediction, expected: &Value) {
    assert_close(&found.mean, &vector(&expected["mean"]), 1e-9);
    assert_close(&found.variance, &vector(&expected["latent_variance"]), 1e-9);
}

#[test]
fn actions_predict_as_in_the_truth() {
    let truth = Truth::load();
    for (name, family) in FAMILIES {
        let expected = &truth.all["kernels"][name]["cagp"];
        let (bound, found) = truth.answer(family, &truth.sparse());
        assert_number(bound, number(&expected["elbo"]), 1e-10);
        assert_predicted(&found, expected);

        // The first eight rows alone; the others are in no action.
        let action = Array2::from_shape_fn((40, 1), |(row, _)| row.min(7) as f64);
        let entry = Array2::from_shape_fn((40, 1), |(row, _)| if row < 8 { 1.0 } else { 0.0 });
        let put = with(truth.scales(), [("action", action), ("entry", entry)]);
        let (bound, found) = truth.answer(family, &put);
        assert_number(bound, number(&expected["unit_actions_first_8"]["elbo"]), 1e-10);
        assert_predicted(&found, &expected["unit_actions_first_8"]);

        // All of them.
        let put = with(truth.scales(), [("actions", Array2::eye(40))]);
        let (bound, found) = truth.answer(family, &put);
        assert_number(bound, number(&expected["S_is_identity_elbo"]), 1e-9);
        assert_predicted(&found, &truth.all["kernels"][name]["exact"]);
    }
}

#[test]
fn only_the_span_of_the_actions_matters() {
    let truth = Truth::load();
    let sparse = truth.sparse();
    let mut dense = Array2::zeros((40, 5));
    for (row, (&action, &entry)) in sparse["action"].iter().zip(&sparse["entry"]).enumerate() {
        dense[(row, action as usize)] = entry;
    }
    let mixed = dense.dot(&Array2::from_shape_fn((5, 5), |(i, j)| if i <= j { 1.0 + j as f64 } else { 0.0 }));
    for (_, family) in FAMILIES {
        let (bound, expected) = truth.answer(family, &sparse);
        for actions in [dense.clone(), mixed.clone()] {
            let (found, predicted) = truth.answer(family, &with(truth.scales(), [("actions", actions)]));
            assert_number(found, bound, 1e-9);
            assert_close(&predicted.mean, &expected.mean, 1e-9);
            assert_close(&predicted.variance, &expected.variance, 1e-9);
        }
    }
}

#[test]
fn with_more_actions_variances_fall_to_the_exact_ones() {
    let toy = toy(60, 3);
    let (x, y, x_test) = (toy.x.view(), toy.y.view(), toy.x_test.view());
    let scales = arrays([("signal_scale", one(1.3)), ("noise_scale", one(0.2)), ("length_scale", one(0.9))]);
    let all = Array2::from_shape_fn((60, 60), |(i, j)| if i % 30 == j % 30 && i <= j { 1.0 } else { 0.0 });
    for family in [Family::Rbf, Family::Matern12] {
        let covariance = Covariance::Stationary(family);
        let model = Model::parse(ModelKind::Gp, covariance, shape(x), &scales).unwrap();
        let posterior = model.posterior(x, y, &pool()).unwrap();
        let (exact, nlml) = (predict(&posterior, x_test), posterior.nlml().unwrap().unwrap());
        let (mut objective, mut variance) = (f64::NAN, Array1::from_elem(300, f64::INFINITY));
        for count in [1, 7, 31, 60] {
            let put = with(scales.clone(), [("actions", all.slice(s![.., ..count]).to_owned())]);
            let (found, exact_nlml, predicted) = answer(family, &put, x, y, x_test);
            assert_number(exact_nlml, nlml, 1e-12);
            assert!(nlml <= found + 1e-9, "{count}: {found}, {nlml}");
            let never_below = |more: &Array1<f64>, less: &Array1<f64>| {
                more.iter().zip(less).all(|(more, less)| *more >= less - 1e-9)
            };
            assert!(never_below(&predicted.variance, &exact.variance), "{count}");
            assert!(never_below(&variance, &predicted.variance), "{count}");
            (objective, variance) = (found, predicted.variance);
        }
        assert!(
            (objective - nlml).abs() < 1e-8 && (&variance - &exact.variance).iter().all(|e| e.abs() < 1e-8)
        );
    }
}

#[test]
fn actions_that_depend_on_each_other_are_singular() {
    let toy = toy(16, 2);
    let put = arrays([
        ("signal_scale", one(1.0)),
        ("noise_scale", one(0.2)),
        ("length_scale", one(0.9)),
        ("actions", Array2::ones((16, 2))),
    ]);
    let family = Covariance::Stationary(Family::Rbf);
    let model = Model::parse(ModelKind::Actions, family, shape(toy.x.view()), &put).unwrap();
    let error = model.posterior(toy.x.view(), toy.y.view(), &pool()).unwrap_err().to_string();
    assert!(error.starts_with("the Gram matrix of the actions"), "{error}");
}
