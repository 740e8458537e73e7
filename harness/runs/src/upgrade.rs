//! Upgrades files of schema 1, JSON value to JSON value.
//!
//! In schema 1 a case names its task by a text, and what tasks need lies beside it: `estimator` holds fields of all
//! estimators, `train`, `repetitions`, `solver.inducing`, `solver.quadrature` and `solver.prediction` belong to one
//! task each. Results of tasks are fields of the row. Axes and report options of a plan are in its spec alone.

mod estimator;
mod spec;

use gpbench_record::SCHEMA;
use serde_json::{Map, Value, json};

type Object = Map<String, Value>;

/// Upgrades a line of a journal; `None` for one that is not of schema 1.
pub(crate) fn entry(mut line: Value) -> Option<Value> {
    let row = line.as_object_mut()?;
    let task = row.get("case")?.get("task")?.as_str()?.to_owned();
    case(row.get_mut("case")?)?;
    let mut output = Object::new();
    output.insert("task".into(), task.into());
    for field in ["steps", "hyperparameters", "landscape", "curve"] {
        if let Some(value) = row.remove(field) {
            output.insert(field.into(), value);
        }
    }
    row.insert("output".into(), output.into());
    Some(line)
}

/// Upgrades a plan, whose axes and report options come from the text of its spec.
pub(crate) fn plan(mut plan: Value, spec: &str) -> Option<Value> {
    let object = plan.as_object_mut()?;
    for entry in object.get_mut("cases")?.as_array_mut()? {
        case(entry.get_mut("case")?)?;
    }
    let (axes, report) = spec::axes_and_report(spec);
    object.insert("schema".into(), SCHEMA.into());
    object.insert("axes".into(), axes);
    object.insert("report".into(), report);
    Some(plan)
}

fn case(case: &mut Value) -> Option<()> {
    let case = case.as_object_mut()?;
    case.remove("precision");
    let name = case.get("task")?.as_str()?.to_owned();
    let mut old = case.remove("estimator")?;
    let estimator = old.as_object_mut()?;
    let (train, repetitions) = (case.remove("train"), case.remove("repetitions"));
    let kernel = case.get_mut("kernel")?.as_object_mut()?;
    let origin = origin(kernel.get("origin")?.as_str()?);
    kernel.insert("origin".into(), origin);
    let solver = case.get_mut("solver")?.as_object_mut()?;
    let (inducing, quadrature, params) =
        (solver.remove("inducing"), solver.remove("quadrature"), solver.remove("prediction"));
    let mut task = Object::new();
    task.insert("kind".into(), name.as_str().into());
    task.insert("estimator".into(), estimator.get("name")?.clone());
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            task.insert(name.into(), value);
        }
    };
    match name.as_str() {
        "solve" => put("probes", estimator::probes(estimator)),
        "posterior" => {
            put("targets", estimator::targets(estimator));
            put("inducing", inducing);
        }
        "train" => {
            put("gradient", estimator::gradient(estimator));
            put("prediction", estimator::prediction(estimator, params));
            train?.as_object()?.iter().for_each(|(name, value)| put(name, Some(value.clone())));
        }
        "likelihood" => {
            put("method", estimator::likelihood(estimator, quadrature));
            put("repetitions", repetitions);
        }
        _ => return None,
    }
    case.insert("task".into(), task.into());
    Some(())
}

/// The origin of hyperparameters, which schema 1 wrote as a text such as `ones, noise_scale = 0.001`.
fn origin(text: &str) -> Value {
    let mut parts = text.split(", ");
    let base = parts.next().unwrap_or_default();
    let paper = base.strip_prefix("published (").and_then(|rest| rest.strip_suffix(')'));
    let (base, own_words) = match (paper, base) {
        (Some(paper), _) => (json!({ "from": "published", "paper": paper }), None),
        (None, "ones" | "given" | "generating" | "trained") => (json!({ "from": base }), None),
        (None, other) => (json!({ "from": "given" }), Some(other)),
    };
    let changes: Vec<&str> = own_words.into_iter().chain(parts).collect();
    json!({ "base": base, "changes": changes })
}

#[cfg(test)]
mod tests {
    use gpbench_record::Origin;

    use super::*;

    #[test]
    fn origins_read_as_before() {
        for text in [
            "ones",
            "given",
            "trained",
            "published (Lin et al. 2023)",
            "published (Lin et al. 2023), noise_scale = 0.001, length_scale given",
        ] {
            let origin: Origin = serde_json::from_value(origin(text)).unwrap();
            assert_eq!(origin.to_string(), text);
        }
    }
}
