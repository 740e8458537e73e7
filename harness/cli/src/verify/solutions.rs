//! Results that are computed again from solutions that were kept.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use gpbench_engine::Recomputed;
use gpbench_record::{PlannedCase, Row, TaskKind};

use super::check::{Check, NotChecked, of_case};
use super::here::Here;
use super::{agreement, outputs};
use crate::execute;
use crate::exit::Failure;

/// Computes the results of all kept solutions again.
pub(crate) fn solutions(
    here: &Here<'_>,
    kept: &BTreeMap<String, PathBuf>,
    cases: &[(&PlannedCase, &Row)],
) -> Result<Check, Failure> {
    let mut check = Check { what: "solutions", of: cases.len(), recomputes: true, ..Check::default() };
    let (mut not_checked, mut without_exact) = (NotChecked::default(), 0);
    for id in kept.keys().filter(|id| !cases.iter().any(|(entry, _)| entry.id == **id)) {
        check.differences.push(format!("{id}: a solution is kept, and no case of the run has this id"));
    }
    for (entry, row) in cases {
        let Some(file) = kept.get(&entry.id) else {
            not_checked.add(why_not_kept(row).to_owned());
            continue;
        };
        if here.signal().is_some() {
            break;
        }
        here.tell("recomputing", entry);
        match recompute(here, entry, row, file)? {
            Ok(differing) => {
                check.checked += 1;
                without_exact += usize::from(entry.fingerprint.exact && !here.computes_exactly(entry));
                check.differences.extend(of_case(&row.labels, &differing));
            }
            Err(why) => not_checked.add(why),
        }
    }
    let without_exact = match without_exact {
        0 => String::new(),
        cases => format!("; without the exact process, for which they have too many rows (cases: {cases})"),
    };
    let tasks: BTreeSet<TaskKind> = cases.iter().map(|(entry, _)| entry.case.task.kind()).collect();
    check.detail = format!(
        "{}, with those computed again from kept solutions{}{without_exact}{}",
        tasks.into_iter().map(determined).collect::<Vec<_>>().join("; "),
        choice(kept, cases),
        not_checked.clauses()
    );
    Ok(check)
}

/// A clause where the kept solutions are not those of the smallest ids, which `run --keep-solutions` and `pack
/// --solutions` keep and nobody can choose.
fn choice(kept: &BTreeMap<String, PathBuf>, cases: &[(&PlannedCase, &Row)]) -> &'static str {
    let answered = cases.iter().filter(|(_, row)| row.status.is_answer());
    let answered: BTreeSet<&str> = answered.map(|(entry, _)| entry.id.as_str()).collect();
    let own = kept.keys().map(String::as_str).filter(|id| answered.contains(id));
    match own.zip(&answered).all(|(own, smallest)| own == *smallest) {
        true => "",
        false => "; they are not those of the smallest ids, so that somebody may have chosen them",
    }
}

/// What the solution of a case of a task determines.
fn determined(task: TaskKind) -> &'static str {
    match task {
        TaskKind::Solve => "residuals and errors of weights",
        TaskKind::Posterior => "residuals, errors, predictions and their calibration",
        TaskKind::Train => {
            "residuals, exact likelihood, errors and predictions at the learned hyperparameters of training"
        }
        TaskKind::Likelihood => "means and errors of estimates of the likelihood",
        TaskKind::Learn => "errors, likelihood, predictions and hyperparameters of learners' models",
        TaskKind::Thompson => {
            "values of the objective at the points of each step of a search, and the residuals of its last step"
        }
    }
}

/// Why there is no solution of a case.
fn why_not_kept(row: &Row) -> &'static str {
    match row.status.is_answer() {
        true => "no solution is kept",
        false => "the case gave no answer",
    }
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
        Recomputed::Verified(verified) => {
            let of_numbers = agreement::differences(row, &verified);
            Ok(of_numbers.into_iter().chain(outputs::differences(row, &verified)).collect())
        }
        Recomputed::Refused(why) => Ok(vec![format!("the kept solution is not its: {why}")]),
        Recomputed::Unfinished => Err("the verification was interrupted".to_owned()),
        Recomputed::Fault(fault) => Err(format!("{}: {}", entry.labels, fault.reason)),
    })
}
