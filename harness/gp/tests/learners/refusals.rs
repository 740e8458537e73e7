//! Arrays of a model that are refused.

use gpbench_gp::Family;
use gpbench_gp::model::Model;
use gpbench_record::{Covariance, ModelKind};
use ndarray::{Array2, array};

use super::{column, models, one, shape, toy, with};

#[test]
fn what_a_diverged_fit_gives_is_told_from_what_is_malformed() {
    let toy = toy(30, 3);
    let all = models(&toy);
    let rbf = Covariance::Stationary(Family::Rbf);
    let parse = |kind: ModelKind, name: &str, array: Array2<f64>| {
        let (_, family, put) = all.iter().find(|(k, f, _)| *k == kind && *f != Covariance::Linear).unwrap();
        Model::parse(kind, *family, shape(toy.x.view()), &with(put.clone(), [(name, array)]))
            .map_err(|error| error.diverged)
            .err()
    };
    let gp = |name: &str, value: f64| parse(ModelKind::Gp, name, one(value));
    // A scale that underflows or overflows, and what is not finite.
    for scale in [0.0, 1e-200, 1e200, f64::INFINITY, f64::NAN] {
        assert_eq!(gp("noise_scale", scale), Some(true), "{scale}");
    }
    assert_eq!(gp("mean", f64::NAN), Some(true));
    assert_eq!(parse(ModelKind::Inducing, "q_root", Array2::zeros((12, 12))), Some(true));
    assert_eq!(parse(ModelKind::Experts, "weight", Array2::zeros((1, 3))), Some(true));
    assert_eq!(parse(ModelKind::Actions, "entry", Array2::zeros((30, 1))), Some(true));
    // What no optimiser comes to.
    assert_eq!(gp("noise_scale", -1.0), Some(false));
    assert_eq!(parse(ModelKind::Gp, "noise_scale", Array2::ones((1, 2))), Some(false));
    assert_eq!(parse(ModelKind::Experts, "combine", one(2.0)), Some(false));
    // Arrays of the learner's own, and experts that have no weight, may hold anything.
    assert_eq!(gp("own_notes", f64::NAN), None);
    let (_, _, put) = all.iter().find(|(kind, ..)| *kind == ModelKind::Experts).unwrap();
    let lost = with(
        put.clone(),
        [("weight", array![[0.5, 0.0, 1.0]]), ("noise_scale", array![[0.5, f64::NAN, 1.0]])],
    );
    assert!(Model::parse(ModelKind::Experts, rbf, shape(toy.x.view()), &lost).is_ok());
}

#[test]
fn an_array_that_is_wrong_is_named_with_what_it_is_and_what_it_must_be() {
    let toy = toy(30, 3);
    let all = models(&toy);
    let refusal = |kind: ModelKind, family: Covariance, name: &str, array: Option<Array2<f64>>| {
        let (_, _, put) = all.iter().find(|(k, f, _)| (*k, *f) == (kind, family)).unwrap();
        let mut put = put.clone();
        match array {
            Some(array) => put.insert(name.to_owned(), array),
            None => put.remove(name),
        };
        Model::parse(kind, family, shape(toy.x.view()), &put).unwrap_err().to_string()
    };
    let rbf = Covariance::Stationary(Family::Rbf);
    let matern = Covariance::Stationary(Family::Matern32);
    let linear = Covariance::Linear;
    let zeros = |rows: usize, columns: usize| Some(Array2::zeros((rows, columns)));
    let mut upper = Array2::eye(12);
    upper[(2, 5)] = 0.1;
    let mut rows = all.last().unwrap().2["rows"].clone();
    rows[(4, 2)] = 30.0;
    let refusals = [
        refusal(ModelKind::Gp, matern, "noise_scale", None),
        refusal(ModelKind::Gp, matern, "noise_scale", Some(one(0.0))),
        refusal(ModelKind::Gp, matern, "noise_scale", zeros(1, 2)),
        refusal(ModelKind::Gp, matern, "length_scale", Some(column(&[1.0, 2.0]))),
        refusal(ModelKind::Gp, matern, "length_scale", Some(column(&[1.0, -2.0, 1.0]))),
        refusal(ModelKind::Gp, matern, "mean", Some(one(f64::NAN))),
        refusal(ModelKind::Gp, matern, "weight_1", zeros(4, 3)),
        refusal(ModelKind::Gp, linear, "length_scale", Some(column(&[2.0, 1.0]))),
        refusal(ModelKind::NetworkGp, rbf, "weight_1", None),
        refusal(ModelKind::NetworkGp, rbf, "weight_1", zeros(0, 3)),
        refusal(ModelKind::NetworkGp, rbf, "weight_2", zeros(7, 8)),
        refusal(ModelKind::NetworkGp, rbf, "bias_2", zeros(1, 7)),
        refusal(ModelKind::NetworkGp, rbf, "weight_4", zeros(7, 7)),
        refusal(ModelKind::Inducing, rbf, "z", zeros(12, 2)),
        refusal(ModelKind::Inducing, rbf, "z", zeros(0, 3)),
        refusal(ModelKind::Inducing, rbf, "q_root", Some(upper)),
        refusal(ModelKind::Inducing, rbf, "q_root", zeros(12, 12)),
        refusal(ModelKind::Inducing, rbf, "jitter", Some(one(-1e-6))),
        refusal(ModelKind::Features, rbf, "frequencies", zeros(3, 20)),
        refusal(ModelKind::Features, linear, "frequencies", zeros(7, 20)),
        refusal(ModelKind::Features, linear, "weights", zeros(8, 1)),
        refusal(ModelKind::Experts, rbf, "rows", Some(rows)),
        refusal(ModelKind::Experts, rbf, "weight", Some(array![[0.5, -0.5, 1.0]])),
        refusal(ModelKind::Experts, rbf, "noise_scale", Some(array![[0.5, f64::INFINITY, 1.0]])),
        refusal(ModelKind::Experts, rbf, "length_scale", zeros(2, 3)),
        refusal(ModelKind::Experts, rbf, "combine", Some(one(2.0))),
        refusal(ModelKind::Neighbours, matern, "neighbours", None),
        refusal(ModelKind::Neighbours, matern, "neighbours", Some(one(2.5))),
        refusal(ModelKind::Neighbours, matern, "neighbours", Some(one(-1.0))),
        refusal(ModelKind::Neighbours, matern, "jitter", Some(one(1e-6))),
        refusal(ModelKind::Neighbours, rbf, "z", zeros(12, 2)),
        refusal(ModelKind::Actions, matern, "action", None),
        refusal(ModelKind::Actions, matern, "action", Some(Array2::from_elem((30, 1), 30.0))),
        refusal(ModelKind::Actions, matern, "action", Some(Array2::from_elem((30, 1), 0.5))),
        refusal(ModelKind::Actions, matern, "action", Some(Array2::from_elem((30, 1), 1.0))),
        refusal(ModelKind::Actions, matern, "entry", zeros(29, 1)),
        refusal(ModelKind::Actions, rbf, "actions", zeros(29, 12)),
        refusal(ModelKind::Actions, rbf, "actions", zeros(30, 12)),
        refusal(ModelKind::Actions, rbf, "action", zeros(30, 1)),
    ];
    let expected = include_str!("../data/refused_arrays.txt");
    assert_eq!(refusals.join("\n") + "\n", expected);

    let (_, _, put) = all.last().unwrap();
    let error = Model::parse(ModelKind::Experts, linear, shape(toy.x.view()), put).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`kind` is that of experts; it must be another: experts have no linear kernel"
    );
    let put = &all.iter().find(|(kind, ..)| *kind == ModelKind::Actions).unwrap().2;
    let error = Model::parse(ModelKind::Actions, linear, shape(toy.x.view()), put).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`kind` is that of actions; it must be another: actions have no linear kernel"
    );
    let put = &all.iter().find(|(kind, ..)| *kind == ModelKind::Neighbours).unwrap().2;
    let error = Model::parse(ModelKind::Neighbours, linear, shape(toy.x.view()), put).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`kind` is that of neighbours; it must be another: neighbours have no linear kernel"
    );
    // The host puts the kind beside the others.
    let (kind, family, put) = &all[0];
    assert!(
        Model::parse(*kind, *family, shape(toy.x.view()), &with(put.clone(), [("kind", one(1.0))])).is_ok()
    );
}
