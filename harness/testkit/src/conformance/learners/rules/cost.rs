//! Work that a learner reports by itself.

use crate::conformance::Finding;
use crate::conformance::learners::trial::{fit, judged};
use crate::conformance::learners::{FitRequest, LearnerSubject, ModelKind};

pub(super) fn charges(subject: &dyn LearnerSubject) -> Result<(), Finding> {
    let request = FitRequest::new(subject, 56, 71);
    let mut fitted = fit(subject, &request)?;
    let kind = judged(&mut *fitted.object, &request.x)?.kind;
    let used = fitted.object.used();
    fitted.end()?;
    match kind {
        ModelKind::Features if used.features == 0.0 => {
            Err(Finding::Failed("reports no rows through its network or its random features".into()))
        }
        ModelKind::Process | ModelKind::Experts if used.entries == 0.0 => {
            Err(Finding::Failed("reports no kernel entries".into()))
        }
        _ => Ok(()),
    }
}
