//! The axes and the report options in the text of a spec, for plans that do not hold them.
//!
//! Lenient: the run is over, so that nothing in the text is reported as an error.

use serde_json::{Map, Value, json};
use toml::Table;

/// The axes and the report options. Whatever cannot be read is left out.
pub(super) fn axes_and_report(spec: &str) -> (Value, Value) {
    let spec: Table = spec.parse().unwrap_or_default();
    let table = |name: &str| spec.get(name).and_then(toml::Value::as_table);
    let axis =
        |name: &str| table("matrix").and_then(|matrix| matrix.get(name)).map(texts).unwrap_or_default();
    let axes = ["dataset", "kernel", "estimator", "solver"].map(|name| (name.to_owned(), json!(axis(name))));
    let option = |name: &str| {
        let value = table("report")?.get(name)?.as_str()?;
        Some((name.to_owned(), Value::from(value)))
    };
    let report: Map<String, Value> = ["reference", "baseline"].into_iter().filter_map(option).collect();
    (Map::from_iter(axes).into(), report.into())
}

/// A list of texts, or one text in its place.
fn texts(value: &toml::Value) -> Vec<&str> {
    match value {
        toml::Value::String(text) => vec![text],
        toml::Value::Array(list) => list.iter().filter_map(toml::Value::as_str).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_may_stand_where_a_list_may() {
        let spec = "[matrix]\nsolver = \"cg\"\ndataset = [\"b\", \"a\"]\n[report]\nbaseline = \"cg\"\n";
        let (axes, report) = axes_and_report(spec);
        assert_eq!(axes, json!({ "dataset": ["b", "a"], "kernel": [], "estimator": [], "solver": ["cg"] }));
        assert_eq!(report, json!({ "baseline": "cg" }));
        let nothing = axes_and_report("not [ toml");
        assert_eq!((nothing.0["solver"].clone(), nothing.1), (json!([]), json!({})));
    }
}
