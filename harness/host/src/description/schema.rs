//! Reads the schema of a solver or learner.

use gpbench_abi::{Param, Str, Value, value_kind};
use gpbench_terms::{Capabilities, Facts, ParamKind, ParamSchema, ParamValue, SolverInfo, SolverKind};

use super::room::Room;
use super::table::MAX_ENTRIES;

/// # Safety
/// The texts are null or as long as they say; so are the parameters.
pub(super) unsafe fn read_info(
    kind: SolverKind,
    (id, doc): (Str, Str),
    capabilities: u64,
    (params, n_params): (*const Param, i64),
    place: &str,
    room: &Room,
) -> Result<SolverInfo, String> {
    // SAFETY: by this function's contract.
    let (id, doc) = unsafe {
        (room.text(id, &format!("the id of {place}"))?, room.text(doc, &format!("the doc of {place}"))?)
    };
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if id.is_empty() || !id.chars().all(plain) {
        return Err(format!("{place} has the id `{id}`; ids are lower-case letters, digits and hyphens"));
    }
    if !(0..=MAX_ENTRIES).contains(&n_params) || (params.is_null() && n_params > 0) || !params.is_aligned() {
        return Err(format!("`{id}` lists {n_params} parameters at {params:?}"));
    }
    let mut infos: Vec<ParamSchema> = Vec::new();
    for index in 0..n_params as usize {
        // SAFETY: one of the `n_params` parameters.
        let info = unsafe { read_param(&*params.add(index), index, room) }
            .map_err(|wrong| format!("`{id}`: {wrong}"))?;
        if infos.iter().any(|other| other.name == info.name) {
            return Err(format!("`{id}` has two parameters `{}`", info.name));
        }
        infos.push(info);
    }
    Ok(SolverInfo {
        id,
        kind,
        doc,
        source: None,
        facts: Facts::default(),
        capabilities: Capabilities::from_number(capabilities).iter().collect(),
        params: infos,
        listed_only: false,
    })
}

/// # Safety
/// The parameter's texts are null or as long as they say.
unsafe fn read_param(param: &Param, index: usize, room: &Room) -> Result<ParamSchema, String> {
    // SAFETY: by this function's contract.
    let name = unsafe { room.text(param.name, &format!("the name of parameter {}", index + 1))? };
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if name.is_empty() || !name.chars().all(plain) {
        return Err(format!(
            "a parameter is named `{name}`; names are lower-case letters, digits and underscores"
        ));
    }
    let wrong = |what: String| format!("parameter `{name}`: {what}");
    // SAFETY: by this function's contract.
    let (doc, default, min, max, choices) = unsafe {
        (
            room.text(param.doc, "its doc").map_err(wrong)?,
            value(&param.default, "its default", room).map_err(wrong)?,
            value(&param.min, "its min", room).map_err(wrong)?,
            value(&param.max, "its max", room).map_err(wrong)?,
            read_choices(param, room).map_err(wrong)?,
        )
    };
    let default = default.ok_or_else(|| wrong("its default has no value".into()))?;
    let kind = default.kind();
    // An infinite number on this side bounds nothing: values are finite.
    let bound = |value: Option<ParamValue>, what: &str, none: f64| match value {
        None => Ok(None),
        Some(ParamValue::Int(bound)) if kind == ParamKind::Int => Ok(Some(bound as f64)),
        Some(ParamValue::Float(bound)) if kind == ParamKind::Float && bound == none => Ok(None),
        Some(ParamValue::Float(bound)) if kind == ParamKind::Float && !bound.is_finite() => {
            Err(wrong(format!("its {what} is {bound}, which bounds no number")))
        }
        Some(ParamValue::Float(bound)) if kind == ParamKind::Float => Ok(Some(bound)),
        Some(_) => Err(wrong(format!("its {what} is not a number of its own kind"))),
    };
    if !choices.is_empty() && !matches!(kind, ParamKind::Text | ParamKind::Int) {
        return Err(wrong("it has choices but is neither a text nor a whole number".into()));
    }
    let (min, max) = (bound(min, "min", f64::NEG_INFINITY)?, bound(max, "max", f64::INFINITY)?);
    let info = ParamSchema { kind, doc, default, min, max, choices, name };
    admits(&info, &info.default)
        .map_err(|refusal| format!("parameter `{}`: its default {refusal}", info.name))?;
    Ok(info)
}

/// # Safety
/// The value's text is null or as long as it says.
unsafe fn value(value: &Value, what: &str, room: &Room) -> Result<Option<ParamValue>, String> {
    if value.kind == value_kind::NONE {
        return Ok(None);
    }
    // SAFETY: by this function's contract.
    let read = ParamValue::from_abi(value, |text| unsafe { room.text(text, what) })?;
    let unknown = || format!("{what} is of kind {}, which version 1 does not have", value.kind);
    read.ok_or_else(unknown).map(Some)
}

/// # Safety
/// The parameter's choices are null or as many as it says.
unsafe fn read_choices(param: &Param, room: &Room) -> Result<Vec<String>, String> {
    let Param { choices, n_choices, .. } = *param;
    if choices.is_null() {
        return Ok(Vec::new());
    }
    if !(0..=MAX_ENTRIES).contains(&n_choices) || !choices.is_aligned() {
        return Err(format!("it lists {n_choices} choices at {choices:?}"));
    }
    // SAFETY: one of the `n_choices` texts.
    (0..n_choices as usize).map(|index| unsafe { room.text(*choices.add(index), "a choice") }).collect()
}

/// Checks whether a parameter may take a value of its own kind, or one of its words. The error is the end of a sentence.
pub(crate) fn admits(info: &ParamSchema, value: &ParamValue) -> Result<(), String> {
    let number = match value {
        ParamValue::Bool(_) => return Ok(()),
        ParamValue::Text(text) if info.choices.is_empty() || info.choices.contains(text) => return Ok(()),
        ParamValue::Text(text) => return Err(format!("`{text}` is none of {}", info.choices.join(", "))),
        ParamValue::Int(number) => *number as f64,
        ParamValue::Float(number) => *number,
    };
    if number.is_nan() {
        return Err("is not a number".into());
    }
    // It could not be written to a plan or a job.
    if number.is_infinite() {
        return Err(format!("is {number}, not a finite number"));
    }
    match (info.min, info.max) {
        (Some(min), _) if number < min => Err(format!("{number} is below {min}")),
        (_, Some(max)) if number > max => Err(format!("{number} is above {max}")),
        _ => Ok(()),
    }
}
