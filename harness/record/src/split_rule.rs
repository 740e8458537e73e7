//! Rules that divide the rows of a data set into training and test rows.

use serde::{Deserialize, Serialize};

/// A rule that divides the rows. Columns are named as the user names them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum SplitRule {
    /// Split k tests on group k. Groups are in the order of their names, or of their numbers.
    LeaveGroupOut,
    /// The rows are divided into contiguous blocks of about equal numbers of rows; split k tests on block k.
    Blocks {
        /// Number of blocks, at least 2.
        blocks: usize,
        /// The columns in whose space the blocks lie, at least one.
        by: Vec<String>,
    },
    /// The only split trains on the past and tests on the future.
    Future {
        /// The column of times.
        time: String,
        /// Share of the rows, the last ones in time, that are tested on; between 0 and 1.
        test: f64,
    },
    /// Time is divided into blocks of about equal numbers of rows; split k trains on blocks 0 to k and tests on block k + 1.
    Rolling {
        /// The column of times.
        time: String,
        /// Number of blocks, at least 2.
        blocks: usize,
    },
}

impl SplitRule {
    /// Number of splits, where the rule alone decides it.
    pub fn splits(&self) -> Option<usize> {
        match self {
            SplitRule::LeaveGroupOut => None,
            SplitRule::Blocks { blocks, .. } => Some(*blocks),
            SplitRule::Future { .. } => Some(1),
            SplitRule::Rolling { blocks, .. } => Some(blocks - 1),
        }
    }

    /// The columns of numbers or times that it needs.
    pub fn columns(&self) -> &[String] {
        match self {
            SplitRule::LeaveGroupOut => &[],
            SplitRule::Blocks { by, .. } => by,
            SplitRule::Future { time, .. } | SplitRule::Rolling { time, .. } => std::slice::from_ref(time),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_forms_do_not_change() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        for (rule, json, splits) in [
            (SplitRule::LeaveGroupOut, r#"{"kind":"leave-group-out"}"#, None),
            (
                SplitRule::Blocks { blocks: 10, by: words(&["lon", "lat"]) },
                r#"{"kind":"blocks","blocks":10,"by":["lon","lat"]}"#,
                Some(10),
            ),
            (
                SplitRule::Future { time: "when".to_owned(), test: 0.2 },
                r#"{"kind":"future","time":"when","test":0.2}"#,
                Some(1),
            ),
            (
                SplitRule::Rolling { time: "when".to_owned(), blocks: 5 },
                r#"{"kind":"rolling","time":"when","blocks":5}"#,
                Some(4),
            ),
        ] {
            assert_eq!(serde_json::to_string(&rule).unwrap(), json);
            assert_eq!(serde_json::from_str::<SplitRule>(json).unwrap(), rule);
            assert_eq!(rule.splits(), splits);
        }
    }
}
