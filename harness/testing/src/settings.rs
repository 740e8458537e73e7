//! Values of parameters.

use std::collections::BTreeMap;

use gpbench_terms::ParamValue;

/// Values of parameters, by name.
pub type Settings = Vec<(&'static str, ParamValue)>;

/// Parameters in the form of the host.
pub(crate) fn by_name(params: &[(&str, ParamValue)]) -> BTreeMap<String, ParamValue> {
    params.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}
