//! What the files of a run state about each other, apart from all numbers that cases measured.

use std::collections::{HashMap, HashSet};

use gpbench_record::{CaseStatus, PlannedCase, Row, Source, Task, WITHIN, names};

use crate::{NeutralNames, PlanFile, RunRecord};

/// Contradictions within the files of a run, a sentence each.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunAudit {
    /// Files and lines that are damaged.
    pub files: Vec<String>,
    /// Planned cases without a row, and rows of cases that are not planned.
    pub cases: Vec<String>,
    /// Rows whose case is not the planned one, or whose status contradicts their own residuals or target.
    pub rows: Vec<String>,
    /// Planned cases whose id is not that of their content.
    pub ids: Vec<String>,
    /// Planned cases whose id cannot be computed: they have other names than in the run that they come from, or
    /// neutral paths.
    pub unknown_ids: usize,
}

impl RunAudit {
    /// Reads what a run and its plan state.
    pub fn of(run: &RunRecord, plan: &PlanFile) -> RunAudit {
        let planned: HashMap<&str, &PlannedCase> =
            plan.cases.iter().map(|entry| (entry.id.as_str(), entry)).collect();
        let mut audit =
            RunAudit { files: files(run), cases: cases(run, plan, &planned), ..RunAudit::default() };
        for row in &run.rows {
            let entry = planned.get(row.id.as_str());
            audit.rows.extend(entry.and_then(|entry| other_case(row, entry)));
            audit.rows.extend(contradiction(row));
        }
        for entry in &plan.cases {
            if is_renamed(entry) {
                audit.unknown_ids += 1;
            } else if entry.case.id(&entry.fingerprint) != entry.id {
                audit.ids.push(format!("{}: the id {} is that of another case", entry.labels, entry.id));
            }
        }
        audit
    }

    /// Whether nothing contradicts.
    pub fn is_sound(&self) -> bool {
        [&self.files, &self.cases, &self.rows, &self.ids].iter().all(|faults| faults.is_empty())
    }
}

/// Damaged files and lines.
fn files(run: &RunRecord) -> Vec<String> {
    let cut = run.truncated.then(|| "the journal's last line is cut short".to_owned());
    let files = run.unreadable_plan.iter().chain(&run.unreadable_environments).cloned();
    files.chain(run.damaged.iter().map(ToString::to_string)).chain(cut).collect()
}

/// Cases that the plan or the journal alone has.
fn cases(run: &RunRecord, plan: &PlanFile, planned: &HashMap<&str, &PlannedCase>) -> Vec<String> {
    let ended: HashSet<&str> = run.rows.iter().map(|row| row.id.as_str()).collect();
    let missing = plan.cases.iter().filter(|entry| !ended.contains(entry.id.as_str()));
    let foreign = run.rows.iter().filter(|row| !planned.contains_key(row.id.as_str()));
    missing
        .map(|entry| format!("{}: it is planned and has no row", entry.labels))
        .chain(foreign.map(|row| format!("{}: it has a row and is not planned", row.labels)))
        .collect()
}

/// That a row is of another case than the planned one of its id.
fn other_case(row: &Row, entry: &PlannedCase) -> Option<String> {
    let mut case = row.case.clone();
    // Numbers that the case found in the data stand in its row alone.
    if entry.case.kernel.start.is_some() {
        case.kernel.clone_from(&entry.case.kernel);
    }
    let is_it = row.labels == entry.labels && case == entry.case;
    (!is_it).then(|| format!("{}: its row is of another case than the plan's", entry.labels))
}

/// That the status of a row contradicts its own residuals, or the figure that it was to end at.
fn contradiction(row: &Row) -> Option<String> {
    let is_judged_by_them = matches!(row.case.task, Task::Solve(_) | Task::Posterior(_));
    let contradicted = match row.status {
        CaseStatus::Ok if is_judged_by_them => against_ok(row),
        CaseStatus::NotConverged if is_judged_by_them => against_not_converged(row),
        _ => None,
    };
    contradicted.map(|what| format!("{}: it is {what}", row.labels))
}

fn against_ok(row: &Row) -> Option<String> {
    let Some(worst) = worst_residual(row) else { return Some("`ok` without its residuals".to_owned()) };
    let tolerance = row.case.budget.tolerance;
    let missed = tolerance.filter(|tolerance| worst > tolerance * WITHIN);
    match (figure(row), missed) {
        (Some((value, limit)), _) if value <= limit => None,
        // Who misses the target may still reach the tolerance.
        (Some((value, limit)), _) if tolerance.is_none() || missed.is_some() => {
            Some(format!("`ok` with {value:.2e} where its target is {limit:.2e}"))
        }
        (None, Some(tolerance)) => {
            Some(format!("`ok` with a residual of {worst:.2e}, and its tolerance is {tolerance}"))
        }
        _ => None,
    }
}

fn against_not_converged(row: &Row) -> Option<String> {
    if let Some((value, limit)) = figure(row).filter(|(value, limit)| value <= limit) {
        return Some(format!("`not_converged` with {value:.2e} where its target is {limit:.2e}"));
    }
    let Row { case, .. } = row;
    // Who stopped at a target that it misses may be within the tolerance; inducing points have no residual.
    let tolerance =
        case.budget.tolerance.filter(|_| case.stop_at.is_none() && case.task.inducing().is_none())?;
    let worst = worst_residual(row).filter(|worst| *worst <= tolerance)?;
    Some(format!("`not_converged` with a residual of {worst:.2e}, and its tolerance is {tolerance}"))
}

/// The larger of the residuals of y and of the probes; 0 for weights of inducing points, which have none. `None`
/// where one is absent.
fn worst_residual(row: &Row) -> Option<f64> {
    let Row { case, metrics, .. } = row;
    if case.task.inducing().is_some() {
        return Some(0.0);
    }
    let y = metrics.get(names::RESIDUAL_Y)?;
    let probes = metrics.get(names::RESIDUAL_PROBES);
    let is_complete = probes.is_some() || case.task.right_hand_sides() <= 1;
    is_complete.then(|| probes.map_or(y, |probes| probes.max(y)))
}

/// The figure that a case was to end at, and the limit of its target, where both are known.
fn figure(row: &Row) -> Option<(f64, f64)> {
    let target = row.case.stop_at.as_ref()?;
    let value = row.metrics.get(&target.metric)?;
    Some((value, target.limit(&row.metrics, None)?))
}

/// Whether a case has other names or paths than those that its id was made of.
fn is_renamed(entry: &PlannedCase) -> bool {
    let has_neutral_path = match &entry.case.dataset.source {
        Source::File { path, options } => {
            [Some(path), options.test.as_ref()].into_iter().flatten().any(|path| NeutralNames::are_in(path))
        }
        _ => false,
    };
    entry.plan.is_some() || entry.digest.is_some() || has_neutral_path
}

#[cfg(test)]
mod tests {
    use gpbench_record::{Fingerprint, Target, TargetBound, testing};
    use jiff::Timestamp;

    use super::*;

    fn entry(solver: &str) -> PlannedCase {
        let fingerprint = Fingerprint {
            plugin_sha256: "p".into(),
            dataset_sha256: None,
            worker_sha256: "w".into(),
            threads: 1,
            cpu_dispatch: "portable".into(),
            blas_core: "Generic".into(),
            exact: false,
        };
        PlannedCase::new(testing::case(solver), fingerprint, Some(30), None)
    }

    fn row(entry: &PlannedCase) -> Row {
        let metrics = [(names::RESIDUAL_Y, 0.009), (names::RESIDUAL_PROBES, 0.01)];
        Row { id: entry.id.clone(), ..testing::row(entry.case.clone(), &metrics) }
    }

    /// A run of two cases.
    fn run() -> (RunRecord, PlanFile) {
        let cases = vec![entry("cg"), entry("ap")];
        let record = RunRecord { rows: cases.iter().map(row).collect(), ..RunRecord::default() };
        (record, PlanFile { cases, ..PlanFile::new("toy", Timestamp::UNIX_EPOCH) })
    }

    #[test]
    fn an_untouched_run_is_sound() {
        let (record, plan) = run();
        assert_eq!(RunAudit::of(&record, &plan), RunAudit::default());
    }

    #[test]
    fn rows_that_were_left_out_or_added_are_named() {
        let (mut record, mut plan) = run();
        record.rows.remove(1);
        let audit = RunAudit::of(&record, &plan);
        assert_eq!(audit.cases, ["draw/matern32/pathwise/ap/seed 0: it is planned and has no row"]);
        // Left out of the plan too, the case is in the spec alone.
        plan.cases.remove(1);
        assert!(RunAudit::of(&record, &plan).is_sound());
        record.rows.push(row(&entry("sgd")));
        let audit = RunAudit::of(&record, &plan);
        assert_eq!(audit.cases, ["draw/matern32/pathwise/sgd/seed 0: it has a row and is not planned"]);
    }

    #[test]
    fn an_edited_plan_or_row_is_named() {
        let (mut record, mut plan) = run();
        plan.cases[0].case.budget.tolerance = Some(0.1);
        record.rows[0].case.budget.tolerance = Some(0.1);
        let audit = RunAudit::of(&record, &plan);
        assert!(audit.ids[0].ends_with("is that of another case") && audit.rows.is_empty(), "{audit:?}");
        record.rows[1].case.budget.tolerance = Some(0.1);
        assert!(RunAudit::of(&record, &plan).rows[0].contains("of another case than the plan's"));
        // Of a merged run, names differ from those of the ids.
        plan.cases[0].plan = Some("00ff".into());
        let audit = RunAudit::of(&record, &plan);
        assert_eq!((audit.ids.len(), audit.unknown_ids), (0, 1));
    }

    #[test]
    fn a_status_that_residuals_contradict_is_named() {
        let (mut record, plan) = run();
        record.rows[0].metrics.insert(names::RESIDUAL_PROBES, 0.5);
        let audit = RunAudit::of(&record, &plan);
        assert!(
            audit.rows[0].ends_with("it is `ok` with a residual of 5.00e-1, and its tolerance is 0.01"),
            "{audit:?}"
        );
        record.rows[0].status = CaseStatus::NotConverged;
        assert!(RunAudit::of(&record, &plan).is_sound());
        // As one would say of another's solver.
        record.rows[0].metrics.insert(names::RESIDUAL_PROBES, 0.009);
        let told = RunAudit::of(&record, &plan).rows;
        assert!(told[0].contains("it is `not_converged` with a residual of 9.00e-3"), "{told:?}");
    }

    #[test]
    fn a_status_without_the_residuals_that_decide_it_is_named() {
        let own = testing::row(testing::case("cg"), &[(names::RESIDUAL_Y, 0.009)]);
        assert!(contradiction(&own).is_some_and(|told| told.ends_with("it is `ok` without its residuals")));
        assert_eq!(contradiction(&Row { status: CaseStatus::Diverged, ..own }), None);
    }

    #[test]
    fn a_status_that_the_target_contradicts_is_named() {
        let told = |status: CaseStatus, tolerance: Option<f64>, rmse: f64| {
            let mut case = testing::case("cg");
            case.budget.tolerance = tolerance;
            case.stop_at = Some(Target { metric: names::TEST_RMSE.into(), bound: TargetBound::Value(0.3) });
            let metrics =
                [(names::RESIDUAL_Y, 0.009), (names::RESIDUAL_PROBES, 0.01), (names::TEST_RMSE, rmse)];
            contradiction(&Row { status, ..testing::row(case, &metrics) }).unwrap_or_default()
        };
        let (ok, not_converged) = (CaseStatus::Ok, CaseStatus::NotConverged);
        assert!(told(ok, None, 0.4).ends_with("it is `ok` with 4.00e-1 where its target is 3.00e-1"));
        assert!(told(ok, Some(0.001), 0.4).contains("target"));
        assert!(told(not_converged, None, 0.2).contains("`not_converged` with 2.00e-1"));
        // Within the tolerance, the target may be missed.
        for (status, tolerance, rmse) in [
            (ok, None, 0.2),
            (ok, Some(0.001), 0.2),
            (ok, Some(0.01), 0.4),
            (not_converged, None, 0.4),
            (not_converged, Some(0.01), 0.4),
        ] {
            assert_eq!(told(status, tolerance, rmse), "", "{status:?} {tolerance:?} {rmse}");
        }
    }
}
