//! Rules about the description of a solver or learner, and about its parameters.

use gpbench_host::CallError;
use gpbench_terms::{ParamSchema, ParamValue};

use super::{Finding, Subject};

/// Number of characters that fit into a line of a listing.
const LINE: usize = 200;

pub(super) fn interface(subject: &Subject<'_>) -> Result<(), Finding> {
    match subject.oddities() {
        [] => Ok(()),
        oddities => Err(Finding::Failed(oddities.join("; "))),
    }
}

pub(super) fn texts(subject: &Subject<'_>) -> Result<(), Finding> {
    let info = subject.info();
    line(&format!("the {}", info.kind), &info.doc)?;
    info.params.iter().try_for_each(|param| line(&format!("parameter `{}`", param.name), &param.doc))?;
    let mut facts = info.facts.titled().into_iter().filter(|(_, text)| !text.is_empty());
    facts.try_for_each(|(title, text)| line(&format!("\"{title}\" of the {}", info.kind), text))
}

fn line(what: &str, doc: &str) -> Result<(), Finding> {
    let wrong = match doc {
        doc if doc.trim().is_empty() => "has no documentation",
        doc if doc.contains('\n') => "has documentation of more than one line",
        doc if doc.chars().count() > LINE => "has documentation that is too long for a line",
        _ => return Ok(()),
    };
    Err(Finding::Failed(format!("{what} {wrong}")))
}

pub(super) fn parameters(subject: &Subject<'_>) -> Result<(), Finding> {
    create(subject, None).map_err(|error| Finding::Failed(format!("with defaults: {error}")))?;
    for param in &subject.info().params {
        let failed = |setting: &ParamValue, why: &str| {
            Finding::Failed(format!("`{}` = {setting:?}: {why}", param.name))
        };
        for setting in permitted(param) {
            create(subject, Some((&param.name, &setting)))
                .map_err(|error| failed(&setting, &error.to_string()))?;
        }
        for setting in forbidden(param) {
            match create(subject, Some((&param.name, &setting))) {
                Ok(()) => return Err(failed(&setting, "is out of range but was not refused")),
                Err(error) if !error.to_string().contains(&param.name) => {
                    return Err(failed(&setting, &format!("the error does not name it: {error}")));
                }
                Err(_) => {}
            }
        }
    }
    Ok(())
}

/// Makes and destroys an object.
fn create(subject: &Subject<'_>, setting: Option<(&str, &ParamValue)>) -> Result<(), CallError> {
    let settings: Vec<_> = setting.into_iter().map(|(name, setting)| (name, setting.clone())).collect();
    subject.try_settings(&settings)
}

/// The ends of a parameter's range, and all of its choices.
fn permitted(param: &ParamSchema) -> Vec<ParamValue> {
    let ends = param.min.into_iter().chain(param.max);
    let choices = param.choices.iter().cloned().map(ParamValue::Text);
    match &param.default {
        ParamValue::Bool(_) => vec![ParamValue::Bool(false), ParamValue::Bool(true)],
        ParamValue::Int(_) => ends.map(|end| ParamValue::Int(end as i64)).chain(choices).collect(),
        ParamValue::Float(_) => ends.map(ParamValue::Float).collect(),
        ParamValue::Text(_) => choices.collect(),
    }
}

/// Values just outside a parameter's range, of another kind, or not among its choices.
fn forbidden(param: &ParamSchema) -> Vec<ParamValue> {
    let (below, above) = (param.min.map(|min| (min, -1.0)), param.max.map(|max| (max, 1.0)));
    let outside = below.into_iter().chain(above).filter(|(end, _)| end.abs() < 1e15);
    match &param.default {
        ParamValue::Bool(_) => vec![ParamValue::Int(1)],
        ParamValue::Int(_) => {
            let outside = outside.map(|(end, step)| ParamValue::Int((end + step) as i64));
            outside.chain([ParamValue::Float(0.5), ParamValue::Text("no such choice".into())]).collect()
        }
        ParamValue::Float(_) => {
            let outside = outside.map(|(end, step)| ParamValue::Float(end + step * end.abs().max(1.0)));
            outside.chain([ParamValue::Float(f64::NAN), ParamValue::Text("1".into())]).collect()
        }
        ParamValue::Text(_) if param.choices.is_empty() => vec![ParamValue::Int(1)],
        ParamValue::Text(_) => vec![ParamValue::Text("no such choice".into()), ParamValue::Int(1)],
    }
}
