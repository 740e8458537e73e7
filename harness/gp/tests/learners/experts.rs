//! Products of experts.

use gpbench_gp::Family;
use gpbench_gp::model::Model;
use gpbench_record::{Covariance, ModelKind};
use gpbench_testkit::json::{self, number, vector};
use gpbench_testkit::{SmallSystem, assert_close, assert_number};
use ndarray::{Array2, Axis, array};

use super::{TRUTH, arrays, family, models, one, pool, predict, shape, toy, with};

#[test]
fn experts_are_combined_as_in_the_truth() {
    let system = SmallSystem::load();
    let truth = json::parse(TRUTH);
    let (x, y) = (system.x_train.view(), system.y_train.view());
    let d = x.ncols();
    for setting in &system.settings {
        let truth = &truth["settings"][&setting.name]["gpoe"];
        let put = arrays([
            ("signal_scale", Array2::from_elem((1, 3), setting.signal_scale)),
            ("noise_scale", Array2::from_elem((1, 3), setting.noise_scale)),
            ("length_scale", Array2::from_shape_fn((d, 3), |(k, _)| setting.length_scale[k])),
            ("rows", Array2::from_shape_fn((100, 3), |(i, e)| (100 * e + i) as f64)),
            ("weight", vector(&truth["weights"]).insert_axis(Axis(0))),
        ]);
        for (code, name) in [(0.0, "observed"), (1.0, "latent")] {
            let put = with(put.clone(), [("combine", one(code))]);
            let model = Model::parse(ModelKind::Experts, family(setting), shape(x), &put).unwrap();
            let posterior = model.posterior(x, y, &pool()).unwrap();
            let prediction = predict(&posterior, system.x_test.view());
            assert_close(&prediction.mean, &vector(&truth[name]["mean"]), 1e-10);
            let noise = if name == "latent" { setting.noise_scale.powi(2) } else { 0.0 };
            assert_close(&(prediction.variance - noise), &vector(&truth[name]["variance"]), 1e-10);
            let sum = number(&truth["sum_of_expert_lml"]);
            assert_number(posterior.objective().unwrap().unwrap(), -sum / 300.0, 1e-11);
            assert_eq!(posterior.nlml().unwrap(), None);
        }
    }
}

#[test]
fn equal_experts_are_one_exact_process_and_return_to_the_prior_far_away() {
    let toy = toy(60, 2);
    let x = toy.x.view();
    let rbf = Covariance::Stationary(Family::Rbf);
    let scales = arrays([("signal_scale", one(1.3)), ("noise_scale", one(0.2)), ("length_scale", one(0.9))]);
    let gp = Model::parse(ModelKind::Gp, rbf, shape(x), &scales).unwrap();
    let process = gp.posterior(x, toy.y.view(), &pool()).unwrap();
    let (exact, nlml) = (predict(&process, toy.x_test.view()), process.nlml().unwrap().unwrap());
    for (count, combine) in [(1, 0.0), (1, 1.0), (4, 0.0), (20, 1.0)] {
        let put = arrays([
            ("signal_scale", Array2::from_elem((1, count), 1.3)),
            ("noise_scale", Array2::from_elem((1, count), 0.2)),
            ("length_scale", Array2::from_elem((1, count), 0.9)),
            ("rows", Array2::from_shape_fn((60, count), |(i, _)| i as f64)),
            ("weight", Array2::from_elem((1, count), 1.0 / count as f64)),
            ("combine", one(combine)),
        ]);
        let model = Model::parse(ModelKind::Experts, rbf, shape(x), &put).unwrap();
        let posterior = model.posterior(x, toy.y.view(), &pool()).unwrap();
        let prediction = predict(&posterior, toy.x_test.view());
        assert_close(&prediction.mean, &exact.mean, 1e-12);
        assert_close(&prediction.variance, &exact.variance, 1e-12);
        let likelihood = posterior.nlml().unwrap();
        assert_eq!(likelihood.is_some(), count == 1);
        likelihood.into_iter().for_each(|likelihood| assert_number(likelihood, nlml, 1e-12));
        let far = predict(&posterior, array![[1e3, -1e3]].view());
        assert!(far.mean[0].abs() < 1e-12);
        assert_number(far.variance[0], 1.3f64.powi(2) + 0.2f64.powi(2), 1e-12);
    }
}

#[test]
fn an_expert_of_weight_0_may_hold_anything() {
    let toy = toy(60, 3);
    let (kind, family, put) = models(&toy).pop().unwrap();
    let (x, y) = (toy.x.view(), toy.y.view());
    let spoilt = |weight: [f64; 3], value: f64| {
        let mut put = put.clone();
        put.insert("weight".to_owned(), array![weight]);
        for name in ["signal_scale", "noise_scale", "mean", "length_scale", "rows"] {
            put.get_mut(name).unwrap().column_mut(1).fill(value);
        }
        Model::parse(kind, family, shape(x), &put)
    };
    let answer = |model: Model| predict(&model.posterior(x, y, &pool()).unwrap(), toy.x_test.view());
    let nan = answer(spoilt([0.5, 0.0, 0.5], f64::NAN).unwrap());
    assert!(nan.mean.iter().chain(&nan.variance).all(|value| value.is_finite()));
    assert_eq!(nan, answer(spoilt([0.5, 0.0, 0.5], 1.0).unwrap()));
    assert!(spoilt([0.5, 0.1, 0.4], f64::NAN).is_err());
    let error = spoilt([0.0; 3], 1.0).unwrap_err().to_string();
    assert_eq!(error, "`weight` is 0 for every expert; it must be positive for at least one");
}
