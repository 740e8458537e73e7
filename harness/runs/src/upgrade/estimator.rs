//! Estimators: schema 1 had one object with the fields of all of them.

use serde_json::{Map, Value, json};

type Object = Map<String, Value>;

/// Features of the prior draws of a prediction, after training by an estimator that has features of its own.
const PREDICTION_FEATURES: u64 = 2000;

/// Right-hand sides beside y.
pub(super) fn probes(estimator: &Object) -> Option<Value> {
    let mut probes = match method(estimator)? {
        "pathwise" => targets(estimator)?,
        "standard" => {
            let distribution = estimator.get("probe_distribution").cloned().unwrap_or("normal".into());
            json!({ "probes": estimator.get("probes")?, "distribution": distribution })
        }
        _ => return None,
    };
    probes.as_object_mut()?.insert("method".into(), method(estimator)?.into());
    Some(probes)
}

/// Pathwise targets.
pub(super) fn targets(estimator: &Object) -> Option<Value> {
    with_features(estimator, estimator.get("features")?.as_u64()?)
}

fn with_features(estimator: &Object, features: u64) -> Option<Value> {
    let prior = match estimator.get("frequencies")?.as_str()? {
        "exact" => json!({ "draw": "exact" }),
        frequencies => json!({ "draw": "features", "features": features, "frequencies": frequencies }),
    };
    Some(json!({ "probes": estimator.get("probes")?, "prior": prior }))
}

/// The estimator of a step's gradient.
pub(super) fn gradient(estimator: &Object) -> Option<Value> {
    if method(estimator)? == "exact" {
        return Some(json!({ "from": "exact" }));
    }
    features(estimator).or_else(|| {
        let start = match (truth(estimator, "warm_start"), truth(estimator, "extrapolate")) {
            (false, _) => "cold",
            (true, false) => "warm",
            (true, true) => "extrapolated",
        };
        let second_solve = truth(estimator, "second_solve");
        Some(json!({
            "from": "solutions", "probes": probes(estimator)?, "second_solve": second_solve, "start": start
        }))
    })
}

/// The prediction that ends training, with the solver's parameters for it.
pub(super) fn prediction(estimator: &Object, params: Option<Value>) -> Option<Value> {
    let targets = match features(estimator) {
        Some(_) => with_features(estimator, PREDICTION_FEATURES)?,
        None => targets(estimator)?,
    };
    Some(json!({ "targets": targets, "params": params.unwrap_or(json!({})) }))
}

/// The estimator of the likelihood and its gradient.
pub(super) fn likelihood(estimator: &Object, quadrature: Option<Value>) -> Option<Value> {
    features(estimator).or_else(|| {
        let second_solve = truth(estimator, "second_solve");
        Some(json!({
            "from": "solutions", "probes": probes(estimator)?, "second_solve": second_solve,
            "quadrature": quadrature
        }))
    })
}

/// The likelihood under random features, if the estimator is one.
fn features(estimator: &Object) -> Option<Value> {
    let (features, frequencies) = (estimator.get("features")?, estimator.get("frequencies")?);
    match method(estimator)? {
        "rff" => Some(json!({
            "from": "features", "method": "rff", "features": features, "frequencies": frequencies
        })),
        "ss_rff" => Some(json!({
            "from": "features", "method": "ss_rff", "features": features, "frequencies": frequencies,
            "step": estimator.get("feature_step")?
        })),
        _ => None,
    }
}

fn method(estimator: &Object) -> Option<&str> {
    estimator.get("method")?.as_str()
}

/// A truth value, which is absent where it is false.
fn truth(estimator: &Object, field: &str) -> bool {
    estimator.get(field).and_then(Value::as_bool).unwrap_or_default()
}
