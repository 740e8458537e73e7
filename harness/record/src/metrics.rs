//! Named numbers of a case, a trace point or a step.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Named finite numbers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Metrics(BTreeMap<String, f64>);

impl Metrics {
    /// Records a value. A number that is not finite is left out.
    pub fn insert(&mut self, name: &str, value: f64) {
        if value.is_finite() {
            self.0.insert(name.to_owned(), value);
        }
    }

    /// The value recorded under `name`.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.get(name).copied()
    }

    /// All values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(k, v)| (k.as_str(), *v))
    }

    /// Adds every value of `other`.
    pub fn extend(&mut self, other: &Metrics) {
        self.0.extend(other.0.iter().map(|(k, v)| (k.clone(), *v)));
    }

    /// Whether nothing is recorded.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(String, f64)> for Metrics {
    fn from_iter<I: IntoIterator<Item = (String, f64)>>(iter: I) -> Self {
        Self(iter.into_iter().filter(|(_, v)| v.is_finite()).collect())
    }
}
