//! The seconds of a run, as a baseline file or a history of sessions keeps them.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::cases::CaseKey;
use super::load::Load;
use super::machine::BaselineMachine;
use super::notation::{axes, number, quoted};

/// The seconds of one run, which all share the state of the machine at that time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaselineSession {
    /// The run, `<name>/<folder>`.
    pub id: String,
    /// The machine.
    pub machine: BaselineMachine,
    /// Fraction of the processors that other programs used; absent where it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_load: Option<f64>,
    /// The cases of which every repeat was timed.
    #[serde(default, rename = "case")]
    pub cases: Vec<SessionCase>,
}

/// The seconds of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionCase {
    /// Its names on the spec's axes.
    #[serde(flatten)]
    pub key: CaseKey,
    /// Median of the repeats, for readers of the file.
    pub median: f64,
    /// Seconds of each repeat.
    pub repeats: Vec<f64>,
}

impl BaselineSession {
    /// Why the load of other programs leaves its seconds undecided, if it does.
    pub(super) fn load(&self) -> Option<Load> {
        Load::of(self.other_load)
    }

    /// Why the seconds cannot be meant, if they cannot: seconds are positive.
    pub(super) fn mistake(&self) -> Option<String> {
        let is_time = |seconds: &f64| seconds.is_finite() && *seconds > 0.0;
        let wrong =
            self.cases.iter().find(|case| case.repeats.is_empty() || !case.repeats.iter().all(is_time));
        wrong.map(|case| {
            format!("the seconds of the case {} in session {} must be positive numbers", case.key, self.id)
        })
    }

    /// The table of a file, a line for each case.
    pub(super) fn text(&self) -> String {
        let mut out =
            format!("\n[[session]]\nid = {}\nmachine = {}\n", quoted(&self.id), self.machine.text());
        if let Some(load) = self.other_load {
            let _ = writeln!(out, "other_load = {}", number(load));
        }
        out += "case = [\n";
        for SessionCase { key, median, repeats } in &self.cases {
            let repeats: Vec<String> = repeats.iter().map(|seconds| number(*seconds)).collect();
            let (names, median) = (axes(key).join(", "), number(*median));
            let _ = writeln!(out, "  {{ {names}, median = {median}, repeats = [{}] }},", repeats.join(", "));
        }
        out + "]\n"
    }
}
