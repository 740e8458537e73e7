//! The description of a solver or learner, and its parameters.

use crate::conformance::{Fault, Finding, Offer, Parameter, Setting};

/// Characters that fit into a line of a listing.
const LINE: usize = 200;

pub(in crate::conformance) fn interface(subject: &dyn Offer) -> Result<(), Finding> {
    match subject.description().oddities.as_slice() {
        [] => Ok(()),
        oddities => Err(Finding::Failed(oddities.join("; "))),
    }
}

pub(in crate::conformance) fn texts(subject: &dyn Offer) -> Result<(), Finding> {
    let description = subject.description();
    line(&format!("the {}", description.kind), &description.doc)?;
    description.params.iter().try_for_each(|param| line(&format!("parameter `{}`", param.name), &param.doc))
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

pub(in crate::conformance) fn parameters(subject: &dyn Offer) -> Result<(), Finding> {
    create(subject, None).map_err(|fault| Finding::Failed(format!("with defaults: {}", fault.text)))?;
    for param in &subject.description().params {
        let failed =
            |setting: &Setting, why: &str| Finding::Failed(format!("`{}` = {setting:?}: {why}", param.name));
        for setting in permitted(param) {
            create(subject, Some((&param.name, &setting))).map_err(|fault| failed(&setting, &fault.text))?;
        }
        for setting in forbidden(param) {
            if create(subject, Some((&param.name, &setting))).is_ok() {
                return Err(failed(&setting, "is out of range but was not refused"));
            }
        }
    }
    Ok(())
}

/// Makes and ends an object.
fn create(subject: &dyn Offer, setting: Option<(&str, &Setting)>) -> Result<(), Fault> {
    let settings: Vec<_> = setting.into_iter().map(|(name, setting)| (name, setting.clone())).collect();
    subject.try_settings(&settings)
}

/// The ends of a parameter's range, or all of its choices.
fn permitted(param: &Parameter) -> Vec<Setting> {
    let ends = param.min.into_iter().chain(param.max);
    match &param.default {
        Setting::Bool(_) => vec![Setting::Bool(false), Setting::Bool(true)],
        Setting::Int(_) => ends.map(|end| Setting::Int(end as i64)).collect(),
        Setting::Float(_) => ends.map(Setting::Float).collect(),
        Setting::Text(_) => param.choices.iter().cloned().map(Setting::Text).collect(),
    }
}

/// Values just outside.
fn forbidden(param: &Parameter) -> Vec<Setting> {
    let (below, above) = (param.min.map(|min| (min, -1.0)), param.max.map(|max| (max, 1.0)));
    let outside = below.into_iter().chain(above).filter(|(end, _)| end.abs() < 1e15);
    match &param.default {
        Setting::Bool(_) => Vec::new(),
        Setting::Int(_) => outside.map(|(end, step)| Setting::Int((end + step) as i64)).collect(),
        Setting::Float(_) => {
            let outside = outside.map(|(end, step)| Setting::Float(end + step * end.abs().max(1.0)));
            outside.chain([Setting::Float(f64::NAN)]).collect()
        }
        Setting::Text(_) if param.choices.is_empty() => Vec::new(),
        Setting::Text(_) => vec![Setting::Text("no such choice".into())],
    }
}
