//! What a run says about the reading of its data sets.

use serde::{Deserialize, Serialize};

/// Notes on the reading of a data set.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DatasetNotes {
    /// The target column, where the spec does not name it: its name, or its 0-based index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_target: Option<String>,
    /// How the test rows of a file of their own lie to the training rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_rows: Option<String>,
    /// How the rows of a user's own file are divided into training and test rows, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// Warnings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl DatasetNotes {
    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        *self == DatasetNotes::default()
    }

    /// Adds the notes of another run.
    pub fn add(&mut self, more: &DatasetNotes) {
        self.default_target = self.default_target.take().or_else(|| more.default_target.clone());
        self.test_rows = self.test_rows.take().or_else(|| more.test_rows.clone());
        self.split = self.split.take().or_else(|| more.split.clone());
        let new: Vec<String> =
            more.warnings.iter().filter(|warning| !self.warnings.contains(warning)).cloned().collect();
        self.warnings.extend(new);
    }
}
