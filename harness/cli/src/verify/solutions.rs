//! Residuals and predictions, computed again from solutions that were kept.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gpbench_engine::Recomputed;
use gpbench_record::{PlannedCase, Row};

use super::agreement::differences;
use super::check::{Check, of_case};
use super::here::Here;
use crate::execute;
use crate::exit::Failure;

/// Computes the results of all kept solutions again.
pub(crate) fn solutions(
    here: &Here<'_>,
    kept: &BTreeMap<String, PathBuf>,
    cases: &[(&PlannedCase, &Row)],
) -> Result<Check, Failure> {
    let mut check = Check { what: "solutions", of: cases.len(), recomputes: true, ..Check::default() };
    let mut why_not = Vec::new();
    for id in kept.keys().filter(|id| !cases.iter().any(|(entry, _)| entry.id == **id)) {
        check.differences.push(format!("{id}: a solution is kept, and no case of the run has this id"));
    }
    for (entry, row) in cases {
        let Some(file) = kept.get(&entry.id) else { continue };
        if here.signal().is_some() {
            break;
        }
        here.tell("recomputing", entry);
        match recompute(here, entry, row, file)? {
            Ok(differing) => {
                check.checked += 1;
                check.differences.extend(of_case(&row.labels, &differing));
            }
            Err(why) => why_not.push(format!("; {}: {why}", entry.labels)),
        }
    }
    let without = match cases.iter().filter(|(entry, _)| !kept.contains_key(&entry.id)).count() {
        0 => String::new(),
        without => format!("; cases without one: {without}"),
    };
    check.detail = format!(
        "residuals, errors and predictions with those computed again from kept solutions{without}{}",
        why_not.concat()
    );
    Ok(check)
}

/// What differs between a row and its solution, or why that cannot be computed here.
fn recompute(
    here: &Here<'_>,
    entry: &PlannedCase,
    row: &Row,
    solution: &Path,
) -> Result<Result<Vec<String>, String>, Failure> {
    let case = match here.case(entry, None) {
        Ok(case) => case,
        Err(why) => return Ok(Err(why)),
    };
    let show = |event| here.show(event);
    let (folder, options) = (here.folder(), here.options());
    let found = here.engine().recompute(case.planned(), &row.output, solution, folder, options, &show);
    Ok(match found.map_err(execute::failure)? {
        Recomputed::Verified(verified) => Ok(differences(row, &verified)),
        Recomputed::Refused(why) => Ok(vec![format!("the kept solution is not its: {why}")]),
        Recomputed::Unfinished => Err("interrupted".to_owned()),
        Recomputed::Fault(fault) => Err(fault.reason),
    })
}
