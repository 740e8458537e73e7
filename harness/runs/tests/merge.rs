//! Runs that are merged.

use std::fs;
use std::path::{Path, PathBuf};

use gpbench_record::testing::case;
use gpbench_record::{
    Axes, Case, CaseStatus, DatasetNotes, Environment, PartOfPlan, PlannedCase, Row, Shard, case_digest,
    plan_digest,
};
use gpbench_runs::{Journal, Merged, PlanFile, RunError, RunFolder, RunRecord, merge};

use crate::record::{create, now, plan};

/// Runs a plan: `rows` are ids with a status each.
pub(crate) fn run(output: &Path, plan: &PlanFile, rows: &[(&str, CaseStatus)]) -> PathBuf {
    let folder = create(output, plan);
    let (mut journal, _) = Journal::open(folder.path()).unwrap();
    for (id, status) in rows {
        let entry = plan.cases.iter().find(|entry| entry.id == *id).unwrap();
        let row = gpbench_record::testing::row(entry.case.clone(), &[("rmse", 0.1)]);
        journal.append(&Row { id: (*id).into(), status: *status, ..row }).unwrap();
    }
    folder.path().to_owned()
}

/// The shard of a plan of `whole` that holds `ids`.
pub(crate) fn shard(whole: &[&str], number: usize, ids: &[&str]) -> PlanFile {
    let entries = plan(whole).cases;
    let digest = plan_digest(entries.iter().map(|entry| &entry.case));
    let others = entries.iter().filter(|entry| !ids.contains(&entry.id.as_str()));
    let others = others.map(|entry| case_digest(&entry.case)).collect();
    let shard = Some(Shard { number, count: 3 });
    PlanFile { part: Some(PartOfPlan { shard, plan: digest, others }), ..plan(ids) }
}

pub(crate) fn merged(output: &Path, runs: &[&PathBuf]) -> (Merged, RunRecord) {
    let runs: Vec<PathBuf> = runs.iter().map(|run| (*run).clone()).collect();
    let merged = merge(output, &runs, now()).unwrap();
    let record = RunRecord::open(&merged.folder).unwrap();
    (merged, record)
}

const WHOLE: [&str; 4] = ["a", "b", "c", "d"];

#[test]
fn shards_become_the_run_of_their_plan() {
    let output = tempfile::tempdir().unwrap();
    let output = output.path();
    let first = run(output, &shard(&WHOLE, 1, &["a", "b"]), &[("a", CaseStatus::Ok), ("b", CaseStatus::Ok)]);
    let second = run(output, &shard(&WHOLE, 2, &["c"]), &[("c", CaseStatus::Ok)]);
    fs::create_dir_all(second.join("logs")).unwrap();
    fs::write(second.join("logs/c.log"), "text").unwrap();

    let (part, record) = merged(output, &[&second, &first]);
    assert_eq!((part.rows, part.missing, part.duplicates, part.plans), (3, 1, 0, 1));
    assert_eq!(part.absent, [Shard { number: 3, count: 3 }]);
    assert_eq!((record.unlisted, record.missing.len(), record.shard), (1, 0, None));
    assert_eq!(fs::read_to_string(part.folder.join("logs/c.log")).unwrap(), "text");
    assert_eq!(fs::read_link(output.join("toy/latest")).unwrap(), part.folder.file_name().unwrap());
    let name = format!("toy/{}", first.file_name().unwrap().to_str().unwrap());
    assert_eq!(record.rows[0].reused_from, Some(name.clone()));
    assert_eq!(record.rows[0].environment, Some(Environment::default().kind()));
    assert_eq!((record.merged[1].run.clone(), record.merged[1].rows), (name, 2));

    // The shard that was missing joins what was merged before.
    let third = run(output, &shard(&WHOLE, 3, &["d"]), &[("d", CaseStatus::Ok)]);
    let (whole, record) = merged(output, &[&part.folder, &third]);
    assert_eq!((whole.rows, whole.missing, whole.absent, whole.plans), (4, 0, vec![], 1));
    assert_eq!((record.rows.len(), record.unlisted), (4, 0));
    assert_eq!(RunFolder::find(output, "toy", &WHOLE).unwrap().path(), whole.folder);
}

#[test]
fn merging_again_adds_what_is_new() {
    let output = tempfile::tempdir().unwrap();
    let output = output.path();
    let first = run(output, &shard(&WHOLE, 1, &["a", "b"]), &[("a", CaseStatus::Ok)]);
    let (before, _) = merged(output, &[&first]);
    let journal = || fs::read(before.folder.join("journal.jsonl")).unwrap();
    let bytes = journal();
    assert_eq!(merged(output, &[&first]).0, before);
    assert_eq!(journal(), bytes);
    let plan = shard(&WHOLE, 1, &["a", "b"]);
    let row = gpbench_record::testing::row(plan.cases[1].case.clone(), &[]);
    Journal::open(&first).unwrap().0.append(&Row { id: "b".into(), ..row }).unwrap();
    let (after, record) = merged(output, &[&first]);
    assert_eq!((after.folder, after.rows, record.rows.len()), (before.folder.clone(), 2, 2));
    assert!(journal().starts_with(&bytes));
}

#[test]
fn the_first_row_that_is_no_failure_counts() {
    let output = tempfile::tempdir().unwrap();
    let output = output.path();
    let statuses = [
        [("a", CaseStatus::Crashed), ("b", CaseStatus::Ok), ("c", CaseStatus::Crashed)],
        [("a", CaseStatus::Ok), ("b", CaseStatus::NotConverged), ("c", CaseStatus::Timeout)],
    ];
    let runs = statuses.map(|rows| run(output, &plan(&WHOLE), &rows));
    let (merged, record) = merged(output, &[&runs[0], &runs[1]]);
    assert_eq!((merged.rows, merged.missing, merged.duplicates, merged.plans), (3, 1, 3, 1));
    let statuses: Vec<CaseStatus> = record.rows.iter().map(|row| row.status).collect();
    assert_eq!(statuses, [CaseStatus::Ok, CaseStatus::Ok, CaseStatus::Crashed]);
}

#[test]
fn runs_of_different_plans_stand_side_by_side() {
    let output = tempfile::tempdir().unwrap();
    let output = output.path();
    let other = |case: Case, id: &str, plan: &mut PlanFile| {
        plan.cases.push(PlannedCase { id: id.into(), labels: case.labels(), case, ..plan.cases[0].clone() });
    };
    let axes = |solvers: &[&str]| Axes {
        dataset: vec![case("a").dataset.name],
        solver: solvers.iter().map(|&name| name.into()).collect(),
        ..Axes::default()
    };
    let first = PlanFile { axes: axes(&["a", "b"]), ..plan(&["a", "b"]) };
    let mut second = PlanFile { axes: axes(&["a", "b", "c"]), ..plan(&["a"]) };
    // The case `a` is the same; `b` has another budget, and `c` is new.
    let mut budget = case("b");
    budget.budget.max_epochs = Some(7.0);
    other(budget, "b2", &mut second);
    other(case("c"), "c", &mut second);
    let runs = [
        run(output, &first, &[("a", CaseStatus::Ok), ("b", CaseStatus::Ok)]),
        run(output, &second, &[("a", CaseStatus::Ok), ("b2", CaseStatus::Ok), ("c", CaseStatus::Ok)]),
    ];
    let (merged, record) = merged(output, &[&runs[0], &runs[1]]);
    assert_eq!((merged.rows, merged.missing, merged.duplicates, merged.plans), (4, 0, 1, 2));
    let solvers: Vec<&str> = record.rows.iter().map(|row| row.labels.solver.as_str()).collect();
    assert_eq!(solvers, ["a", "b", "b [2]", "c"]);
    assert_eq!(record.axes.solver, solvers);
    assert_ne!(record.plans["a"], record.plans["c"]);
    assert_eq!(record.plans["b2"], record.plans["c"]);

    // Where the systems differ, the data set has another name.
    let mut third = plan(&["a"]);
    third.cases[0].case.kernel.noise_scale *= 2.0;
    third.cases[0].id = "a3".into();
    let third = run(output, &third, &[("a3", CaseStatus::Ok)]);
    let (_, record) = self::merged(output, &[&runs[0], &third]);
    assert_eq!(record.rows[2].labels.dataset, format!("{} [2]", case("a").dataset.name));
}

#[test]
fn notes_on_data_sets_are_those_of_all_runs() {
    let output = tempfile::tempdir().unwrap();
    let output = output.path();
    let noted = |id: &str, warnings: &[&str]| {
        let warnings = warnings.iter().map(|&text| text.to_owned()).collect();
        let notes = DatasetNotes { default_target: Some("y".into()), warnings, ..DatasetNotes::default() };
        let mut noted = PlanFile { dataset_notes: [("draw".into(), notes)].into(), ..plan(&[id]) };
        noted.cases[0].fingerprint.dataset_sha256 = Some("d".into());
        noted
    };
    let runs = [noted("a", &["odd"]), noted("b", &["odd", "even"])]
        .map(|plan| run(output, &plan, &[(plan.cases[0].id.as_str(), CaseStatus::Ok)]));
    let (_, record) = merged(output, &[&runs[0], &runs[1]]);
    let notes = &record.dataset_notes["draw"];
    assert_eq!(
        (notes.default_target.as_deref(), notes.warnings.join(" ")),
        (Some("y"), "odd even".to_owned())
    );
    assert_eq!(record.contents["draw"], ["d".to_owned()].into());
}

#[test]
fn a_case_of_several_plans_is_missing_once_at_most() {
    let output = tempfile::tempdir().unwrap();
    let output = output.path();
    // Both plans have `c` and `d`. The second one has a row of `c`; no run lists `d`.
    let first = run(output, &shard(&WHOLE, 1, &["a", "b"]), &[("a", CaseStatus::Ok), ("b", CaseStatus::Ok)]);
    let second = run(output, &shard(&["c", "d", "e"], 1, &["c", "e"]), &[("c", CaseStatus::Ok)]);
    let (two, record) = merged(output, &[&first, &second]);
    assert_eq!((two.rows, two.missing, two.plans), (3, 2, 2), "e without a row, and d");
    assert_eq!((record.missing.len(), record.unlisted), (1, 1));
    assert_eq!(two.absent, [2, 3, 2, 3].map(|number| Shard { number, count: 3 }));
    // In steps, the counts are the same.
    let third = run(output, &shard(&WHOLE, 2, &["c"]), &[("c", CaseStatus::Ok)]);
    let (three, _) = merged(output, &[&two.folder, &third]);
    assert_eq!((three.rows, three.missing, three.duplicates, three.plans), (3, 2, 1, 2));
    assert_eq!(three.absent, [3].map(|number| Shard { number, count: 3 }));
    let last = run(output, &shard(&WHOLE, 3, &["d"]), &[("d", CaseStatus::Ok)]);
    assert_eq!(merged(output, &[&three.folder, &last]).0.missing, 1);
}

#[test]
fn a_merge_in_steps_names_the_runs_that_rows_are_of() {
    let output = tempfile::tempdir().unwrap();
    let output = output.path();
    let parts = [("a", 1), ("b", 2), ("c", 3)];
    let [a, b, c] = parts
        .map(|(id, number)| run(output, &shard(&["a", "b", "c"], number, &[id]), &[(id, CaseStatus::Ok)]));
    let (two, _) = merged(output, &[&a, &b]);
    let (_, record) = merged(output, &[&two.folder, &c]);
    let name = |run: &PathBuf| format!("toy/{}", run.file_name().unwrap().to_str().unwrap());
    let found: Vec<(String, usize)> = record.merged.iter().map(|run| (run.run.clone(), run.rows)).collect();
    assert_eq!(found, [&a, &b, &c].map(|run| (name(run), 1)));
}

#[test]
fn runs_of_two_machines_may_have_begun_in_one_second() {
    let [ours, theirs, copied] = [0; 3].map(|_| tempfile::tempdir().unwrap());
    let first = run(ours.path(), &plan(&["a", "b"]), &[("a", CaseStatus::Ok)]);
    let later = PlanFile { created: "2026-01-02T12:00:00.5Z".into(), ..plan(&["a", "b"]) };
    let second = run(theirs.path(), &later, &[("b", CaseStatus::Ok)]);
    assert_eq!(second.file_name(), first.file_name());
    let (_, record) = merged(ours.path(), &[&first, &second]);
    let found: Vec<(String, usize)> = record.merged.iter().map(|run| (run.run.clone(), run.rows)).collect();
    let name = format!("toy/{}", first.file_name().unwrap().to_str().unwrap());
    assert_eq!(found, [(name.clone(), 1), (format!("{name}-2"), 1)]);
    // A copy of a run is the same run.
    let copy = run(copied.path(), &plan(&["a", "b"]), &[("a", CaseStatus::Ok)]);
    let (_, record) = merged(copied.path(), &[&first, &copy]);
    assert_eq!(record.merged.iter().map(|run| run.run.clone()).collect::<Vec<_>>(), [name]);
}

#[test]
fn each_merged_run_keeps_the_revision_it_ran_with() {
    let output = tempfile::tempdir().unwrap();
    let output = output.path();
    let revisions =
        [("a", Some("0123456789abcdef"), false), ("b", Some("fedcba9876543210"), true), ("c", None, false)];
    let [a, b, c] = revisions.map(|(id, revision, dirty)| {
        let environment = Environment {
            git_revision: revision.map(str::to_owned),
            git_dirty: revision.map(|_| dirty),
            ..Environment::default()
        };
        let plan = plan(&[id]);
        let folder = RunFolder::create(output, &plan, "schema = 1\n", &environment, now()).unwrap();
        let (mut journal, _) = Journal::open(folder.path()).unwrap();
        let row = gpbench_record::testing::row(plan.cases[0].case.clone(), &[]);
        journal.append(&Row { id: id.into(), ..row }).unwrap();
        folder.path().to_owned()
    });
    let (two, _) = merged(output, &[&a, &b]);
    let (_, record) = merged(output, &[&two.folder, &c]);
    let found: Vec<Option<&str>> = record.merged.iter().map(|run| run.revision.as_deref()).collect();
    assert_eq!(found, [Some("0123456789ab"), Some("fedcba987654, with changes"), None]);
}

#[test]
fn a_folder_holds_what_one_merge_chose() {
    let output = tempfile::tempdir().unwrap();
    let output = output.path();
    let ids = ["a", "b"];
    let [first, second, third] =
        [("a", CaseStatus::Ok), ("b", CaseStatus::Ok), ("b", CaseStatus::NotConverged)]
            .map(|row| run(output, &plan(&ids), &[row]));
    let (both, _) = merged(output, &[&first, &second]);
    // Without the first run, its row is not in the merged run.
    let (other, record) = merged(output, &[&second, &third]);
    assert_ne!(other.folder, both.folder);
    assert_eq!((other.rows, record.rows.len(), record.merged.len()), (1, 1, 2));
    // The same runs, and more of them, go on in their folder.
    assert_eq!(merged(output, &[&first, &second]).0.folder, both.folder);
    let (all, record) = merged(output, &[&third, &second, &first]);
    assert_eq!((all.folder, record.rows.len(), record.merged.len()), (other.folder, 2, 3));
    assert_eq!(record.rows[1].status, CaseStatus::NotConverged);
}

#[test]
fn a_merged_run_keeps_rows_of_its_own() {
    let output = tempfile::tempdir().unwrap();
    let output = output.path();
    let first = run(output, &plan(&["a", "b"]), &[("a", CaseStatus::Ok)]);
    let (before, _) = merged(output, &[&first]);
    // The merged run is continued.
    let row = gpbench_record::testing::row(plan(&["b"]).cases[0].case.clone(), &[]);
    Journal::open(&before.folder).unwrap().0.append(&Row { id: "b".into(), ..row }).unwrap();
    let (after, _) = merged(output, &[&first]);
    assert_ne!(after.folder, before.folder);
    assert_eq!((after.rows, RunRecord::open(&before.folder).unwrap().rows.len()), (1, 2));
    let (all, record) = merged(output, &[&before.folder, &first]);
    assert_eq!((all.rows, record.merged.len()), (2, 2));
}

#[test]
fn what_is_no_run_or_has_no_plan_is_refused() {
    let output = tempfile::tempdir().unwrap();
    let refused = merge(output.path(), &[output.path().to_owned()], now());
    assert!(matches!(refused, Err(RunError::NotARun { .. })));
    let folder = run(output.path(), &plan(&["a"]), &[("a", CaseStatus::Ok)]);
    fs::write(folder.join("plan.json"), "{}").unwrap();
    assert!(matches!(merge(output.path(), &[folder], now()), Err(RunError::Damaged { .. })));
}
