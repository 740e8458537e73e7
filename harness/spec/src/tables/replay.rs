//! `replay`: a case of an earlier run whose steps are replayed.

use crate::keys::{Keys, Kind, inner, text};
use crate::source::At;

#[derive(Debug, Clone)]
pub(crate) struct Replay {
    pub(crate) run: Option<At<String>>,
    pub(crate) solver: Option<At<String>>,
    pub(crate) estimator: Option<At<String>>,
}

/// The folder of a run, or a table.
pub(crate) fn replay() -> Kind<Replay> {
    let whole_run = |run| Replay { run: Some(run), solver: None, estimator: None };
    text().map(whole_run).or(inner(read), "a text or a table")
}

fn read(keys: &mut Keys<'_>) -> Replay {
    Replay {
        run: keys.required(
            "run",
            text(),
            "it is the folder of an earlier run of this task",
            "Folder of an earlier run of this task, relative to the spec's folder.",
        ),
        solver: keys.optional("solver", text(), "Solver of the case to replay."),
        estimator: keys.optional("estimator", text(), "Estimator of the case to replay."),
    }
}
