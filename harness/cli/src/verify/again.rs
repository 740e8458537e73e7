//! Cases that are run again: a random sample of the cheap ones.

use std::path::Path;

use gpbench_data::Sha256Hex;
use gpbench_engine::SingleCase;
use gpbench_record::{Fingerprint, LibraryInfo, PlannedCase, Row, metric};
use gpbench_report::baseline::{CheckOutcome, MetricCheck, against};
use gpbench_report::{Run, exact};
use gpbench_runs::RunRecord;

use super::check::{Check, NotChecked, of_case};
use super::here::Here;
use crate::execute;
use crate::exit::Failure;
use crate::units;

/// How many times as many epochs or iterations another build or machine may take.
const STEPS: f64 = 1.5;

/// Which cases are run again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sampling {
    /// Most cases.
    pub(crate) count: usize,
    /// Most seconds of a case, by its row.
    pub(crate) cheap: f64,
    /// The seed of the choice.
    pub(crate) seed: u64,
}

/// A case that can be run again, and the library that solves it.
type Candidate<'c> = (&'c PlannedCase, &'c Row, &'c LibraryInfo);

/// Runs a random sample of the cheap cases again.
pub(crate) fn again(
    here: &Here<'_>,
    sampling: Sampling,
    cases: &[(&PlannedCase, &Row)],
) -> Result<Check, Failure> {
    let mut check = Check { what: "run again", of: cases.len(), recomputes: true, ..Check::default() };
    let candidates = candidates(here, sampling, cases);
    let (number, mut not_checked) = (candidates.len(), NotChecked::default());
    let of_absent_data = cases.iter().filter_map(|(entry, _)| here.case(entry, None).err());
    of_absent_data.for_each(|why| not_checked.add(why));
    for (entry, row, library) in chosen(candidates, sampling) {
        if here.signal().is_some() {
            break;
        }
        here.tell("running again", entry);
        match run(here, entry, row, library)? {
            Ok(differing) => {
                check.checked += 1;
                check.differences.extend(of_case(&row.labels, &differing));
            }
            Err(why) => not_checked.add(format!("{}: {why}", entry.labels)),
        }
    }
    check.detail = format!(
        "rows with those of cases that ran here, chosen with seed {} of {number} that can: of at most {} by their rows, \
         not ended by a clock, with plugin and data here{}",
        sampling.seed,
        units::duration(sampling.cheap),
        not_checked.clauses()
    );
    Ok(check)
}

/// The cases that can be run again here, by what they took.
fn candidates<'c>(
    here: &'c Here<'_>,
    sampling: Sampling,
    cases: &[(&'c PlannedCase, &'c Row)],
) -> Vec<Candidate<'c>> {
    let is_cheap = |row: &Row| row.metrics.solver_seconds().is_some_and(|seconds| seconds <= sampling.cheap);
    let can_run = |entry: &PlannedCase, row: &Row| {
        row.status.is_answer()
            && row.reproducible
            && row.unplanned_parts.is_empty()
            && (!entry.fingerprint.exact || here.computes_exactly(entry))
            && here.case(entry, None).is_ok()
    };
    let candidate = |(entry, row): &(&'c PlannedCase, &'c Row)| {
        let library = here.library(entry)?;
        (is_cheap(row) && can_run(entry, row)).then_some((*entry, *row, library))
    };
    cases.iter().filter_map(candidate).collect()
}

/// Some of the candidates: a choice that a seed repeats, and that nobody knows who does not know the seed.
fn chosen(mut candidates: Vec<Candidate<'_>>, sampling: Sampling) -> Vec<Candidate<'_>> {
    let key = |id: &str| Sha256Hex::of_bytes(format!("{}/{id}", sampling.seed).as_bytes()).to_string();
    candidates.sort_by_cached_key(|(entry, ..)| key(&entry.id));
    candidates.truncate(sampling.count);
    candidates
}

/// What differs between a row and that of the same case here, or why it could not run.
fn run(
    here: &Here<'_>,
    entry: &PlannedCase,
    row: &Row,
    library: &LibraryInfo,
) -> Result<Result<Vec<String>, String>, Failure> {
    let case = match here.case(entry, Some(library)) {
        Ok(case) => case,
        Err(why) => return Ok(Err(why)),
    };
    let (planned, show) = (case.planned(), |event| here.show(event));
    let libraries = case.library.as_slice();
    let folder: &Path = here.folder();
    let ended = here.engine().trial(libraries, planned, folder, here.options(), &show);
    Ok(match ended.map_err(execute::failure)? {
        SingleCase::Row(found) if !found.reproducible => Err("a clock ended it here".to_owned()),
        SingleCase::Row(mut found) => {
            // Its budget was cut to what is granted here, and it ended before.
            found.case.budget.seconds = entry.case.budget.seconds;
            let is_same_program = is_same_program(&planned.fingerprint, &entry.fingerprint);
            Ok(differences(row, &found, is_same_program)?)
        }
        SingleCase::Unfinished => Err("it ended without a result".to_owned()),
        SingleCase::Fault(fault) => Err(fault.reason),
    })
}

/// Whether two cases ran with the same programs and instructions, so that they give the same bits.
fn is_same_program(here: &Fingerprint, there: &Fingerprint) -> bool {
    let of = |print: &Fingerprint| {
        let Fingerprint { plugin_sha256, worker_sha256, cpu_dispatch, blas_core, .. } = print.clone();
        (plugin_sha256, worker_sha256, cpu_dispatch, blas_core)
    };
    of(here) == of(there)
}

/// What differs between two rows of a case: bits where the programs are the same, else all that exceeds the
/// tolerances of `gpbench check`, in either direction.
fn differences(stated: &Row, found: &Row, is_same_program: bool) -> Result<Vec<String>, Failure> {
    let [stated_run, found_run] = [stated, found].map(of_row);
    if is_same_program {
        let compared = exact(&stated_run, &found_run);
        let text = |difference: gpbench_report::Difference| {
            let [stated, found] = difference.values.map(|value| value.unwrap_or_else(|| "absent".to_owned()));
            format!("{} is {stated} in its row, and {found} here", difference.what)
        };
        return Ok(compared.differences.into_iter().map(text).collect());
    }
    let check = against(&found_run, &stated_run).map_err(Failure::internal)?;
    Ok(check.findings.iter().filter(|finding| counts(finding)).map(text).collect())
}

/// A run of one row.
fn of_row(row: &Row) -> Run {
    let record = RunRecord { name: "run".to_owned(), rows: vec![row.clone()], ..RunRecord::default() };
    Run { record, warnings: Vec::new() }
}

/// Whether a finding is a difference of results, and neither of times nor of a step more or less, which rounding may
/// take.
fn counts(finding: &MetricCheck) -> bool {
    use CheckOutcome::{Improved, Missing, NewlyFailed, Regressed};
    let metric = finding.metric.as_deref().and_then(metric::find);
    let is_small = match (metric, finding.baseline.zip(finding.value)) {
        (Some(metric), _) if metric.unit.depends_on_machine() => true,
        (Some(metric), Some((was, is))) if metric.is_cost() => was.max(is) <= STEPS * was.min(is),
        _ => false,
    };
    matches!(finding.outcome, NewlyFailed | Regressed | Missing | Improved) && !is_small
}

/// A difference in words.
fn text(finding: &MetricCheck) -> String {
    let number =
        |value: Option<f64>| value.map_or_else(|| "absent".to_owned(), |value| format!("{value:.6e}"));
    match &finding.metric {
        Some(metric) => {
            let (was, is) = (number(finding.baseline), number(finding.value));
            format!("{metric} is {was} in its row, and {is} here, with another build or machine")
        }
        None => format!("it ends otherwise here: {}", finding.detail),
    }
}

#[cfg(test)]
mod tests {
    use gpbench_record::{CaseStatus, names, testing};

    use super::*;

    fn row(residual: f64, seconds: f64) -> Row {
        let metrics =
            [(names::RESIDUAL_Y, residual), (names::TEST_RMSE, 0.3), (names::SECONDS_SOLVE, seconds)];
        testing::row(testing::case("cg"), &metrics)
    }

    #[test]
    fn the_same_programs_give_the_same_bits() {
        let stated = row(0.005, 1.0);
        assert_eq!(differences(&stated, &row(0.005, 9.0), true).unwrap(), [""; 0]);
        let found = differences(&stated, &row(0.005000001, 1.0), true).unwrap();
        assert_eq!(found.len(), 1);
        assert!(
            found[0].contains("metrics/residual_y is 0.005 in its row, and 0.005000001 here"),
            "{found:?}"
        );
    }

    #[test]
    fn another_build_agrees_within_tolerances_in_both_directions() {
        let stated = row(0.005, 1.0);
        assert_eq!(differences(&stated, &row(0.0051, 9.0), false).unwrap(), [""; 0]);
        let better = |rmse: f64| {
            let mut found = row(0.005, 1.0);
            found.metrics.insert(names::TEST_RMSE, rmse);
            differences(&stated, &found, false).unwrap()
        };
        for other in [0.2, 0.4] {
            assert!(better(other)[0].contains("test_rmse is 3.000000e-1 in its row"), "{:?}", better(other));
        }
        let with_iterations = |count: f64| {
            let mut row = row(0.005, 1.0);
            row.metrics.insert(names::ITERATIONS, count);
            row
        };
        let compared =
            |count: f64| differences(&with_iterations(4.0), &with_iterations(count), false).unwrap();
        assert_eq!((compared(5.0).len(), compared(9.0).len(), compared(1.0).len()), (0, 1, 1));
        let failed = Row { status: CaseStatus::NotConverged, ..row(0.005, 1.0) };
        assert!(differences(&stated, &failed, false).unwrap()[0].contains("it ends otherwise here"));
    }
}
