//! Rules about work that a learner reports by itself.

use gpbench_terms::ModelKind;

use super::request::FitRequest;
use super::trial::fit;
use crate::rules::{Finding, Subject};

pub(super) fn charges(subject: &Subject<'_>) -> Result<(), Finding> {
    let request = FitRequest::new(subject, 56, 71);
    let mut fitted = fit(subject, &request)?;
    let kind = fitted.object.judge(&request.x)?.kind;
    let used = fitted.object.used();
    fitted.end()?;
    match kind {
        ModelKind::Features if used.features == 0.0 => {
            Err(Finding::Failed("reports no rows through its network or its random features".into()))
        }
        ModelKind::Features => Ok(()),
        _ if used.entries == 0.0 => Err(Finding::Failed("reports no kernel entries".into())),
        _ => Ok(()),
    }
}
