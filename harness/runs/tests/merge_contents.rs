//! Runs whose data or plugins have different contents.

use std::path::{Path, PathBuf};

use gpbench_record::CaseStatus;
use gpbench_runs::{NameKind, PlanFile, RunRecord};

use crate::merge::{merged, run, shard};
use crate::record::plan;

const WHOLE: [&str; 4] = ["a", "b", "c", "d"];

/// A plan whose data and plugins have these contents. Its ids depend on them.
fn with(plan: PlanFile, data: &str, plugin: &str) -> PlanFile {
    let mut plan = plan;
    for entry in &mut plan.cases {
        entry.fingerprint.dataset_sha256 = Some(data.into());
        entry.fingerprint.plugin_sha256 = plugin.into();
        entry.id = format!("{}-{data}-{plugin}", entry.id);
    }
    plan.axes.dataset = vec![plan.cases[0].labels.dataset.clone()];
    plan.axes.solver = plan.cases.iter().map(|entry| entry.labels.solver.clone()).collect();
    plan
}

/// Runs all cases of a plan.
fn done(output: &Path, plan: &PlanFile) -> PathBuf {
    let rows: Vec<(&str, CaseStatus)> = plan.ids().map(|id| (id, CaseStatus::Ok)).collect();
    run(output, plan, &rows)
}

/// The data set and solver of each row.
fn names(record: &RunRecord) -> Vec<String> {
    record.rows.iter().map(|row| format!("{} {}", row.labels.dataset, row.labels.solver)).collect()
}

#[test]
fn shards_of_other_data_stand_apart_and_lack_the_cases_of_each_other() {
    let output = tempfile::tempdir().unwrap();
    let output = output.path();
    let first = done(output, &with(shard(&WHOLE, 1, &["a", "b"]), "one", "p"));
    let second = done(output, &with(shard(&WHOLE, 2, &["c"]), "two", "p"));
    let (two, record) = merged(output, &[&first, &second]);
    // Shard 3, and for each content the shard that has the other.
    assert_eq!((two.rows, two.missing, two.duplicates, two.plans), (3, 4, 0, 1));
    assert_eq!(names(&record), ["draw a", "draw b", "draw [2] c"]);
    assert_eq!(record.axes.dataset, ["draw", "draw [2]"]);
    let [other] = &record.other_contents[..] else { panic!("{:?}", record.other_contents) };
    assert_eq!(
        (other.kind, other.name.as_str(), other.beside.as_str()),
        (NameKind::Dataset, "draw [2]", "draw")
    );
    assert_eq!((other.sha256.as_str(), other.beside_sha256.as_str()), ("two", "one"));
    let name = format!("toy/{}", second.file_name().unwrap().to_str().unwrap());
    assert_eq!(other.runs, std::slice::from_ref(&name));
    assert!(two.warnings[0].contains(&name) && two.warnings[0].contains("`draw [2]`"), "{:?}", two.warnings);

    // In steps: what is missing of the first content joins it.
    let again = done(output, &with(shard(&WHOLE, 2, &["c"]), "one", "p"));
    let (three, record) = merged(output, &[&two.folder, &again]);
    assert_eq!((three.rows, three.missing, three.duplicates, three.plans), (4, 3, 0, 1));
    assert_eq!(names(&record), ["draw a", "draw b", "draw c", "draw [2] c"]);
    assert_eq!((record.other_contents.len(), &record.other_contents[0].runs), (1, &vec![name]));
    let third = done(output, &with(shard(&WHOLE, 3, &["d"]), "one", "p"));
    let (four, _) = merged(output, &[&three.folder, &third]);
    assert_eq!((four.rows, four.missing), (5, 2), "a and b of the second content");
    // Without the other content, the plan is complete.
    let (whole, record) = merged(output, &[&first, &again, &third]);
    assert_eq!((whole.rows, whole.missing, record.other_contents.len()), (4, 0, 0));
    assert_eq!(names(&record), ["draw a", "draw b", "draw c", "draw d"]);
}

#[test]
fn runs_of_other_plugins_stand_apart() {
    let output = tempfile::tempdir().unwrap();
    let output = output.path();
    let mut later = with(plan(&["a", "b"]), "one", "old");
    // One of two plugins was replaced.
    (later.cases[0].fingerprint.plugin_sha256, later.cases[0].id) = ("new".into(), "a-new".into());
    let runs = [done(output, &with(plan(&["a", "b"]), "one", "old")), done(output, &later)];
    let (two, record) = merged(output, &[&runs[0], &runs[1]]);
    assert_eq!((two.rows, two.missing, two.duplicates, two.plans), (3, 0, 1, 1));
    assert_eq!(names(&record), ["draw a", "draw b", "draw a [2]"]);
    assert_eq!(record.axes.solver, ["a", "b", "a [2]"]);
    assert_eq!((record.other_contents[0].kind, record.other_contents.len()), (NameKind::Solver, 1));
    // The order decides which content has the plain name.
    let (_, reversed) = merged(output, &[&runs[1], &runs[0]]);
    assert_eq!(reversed.other_contents[0].sha256, "old");
}

#[test]
fn other_plans_stand_apart_by_content_too() {
    let output = tempfile::tempdir().unwrap();
    let output = output.path();
    let at_seed = |seed, data: &str| {
        let mut plan = plan(&["a"]);
        let entry = &mut plan.cases[0];
        entry.case.seed = seed;
        (entry.labels, entry.id) = (entry.case.labels(), format!("a{seed}"));
        done(output, &with(plan, data, "p"))
    };
    let runs =
        [at_seed(1, "one"), at_seed(2, "two"), at_seed(3, "two"), at_seed(4, "one"), at_seed(5, "three")];
    let (five, record) = merged(output, &runs.iter().collect::<Vec<_>>());
    assert_eq!((five.rows, five.plans), (5, 5));
    assert_eq!(
        names(&record),
        ["draw a", "draw a", "draw [2] a", "draw [2] a", "draw [3] a"],
        "in the order of the axis"
    );
    assert_eq!(record.other_contents.len(), 2);
}

#[test]
fn what_an_earlier_version_mixed_is_named_and_told_apart_when_it_is_merged_again() {
    let output = tempfile::tempdir().unwrap();
    let output = output.path();
    let mut mixed = with(plan(&["a", "b"]), "one", "p");
    mixed.cases[1].fingerprint.dataset_sha256 = Some("two".into());
    let mixed = done(output, &mixed);
    let warnings = RunRecord::open(&mixed).unwrap().warnings();
    assert!(warnings[0].contains("data set `draw`") && warnings[0].contains("one, two"), "{warnings:?}");
    let (_, record) = merged(output, &[&mixed]);
    assert_eq!(names(&record), ["draw a", "draw [2] b"]);
    assert_eq!(record.axes.dataset, ["draw", "draw [2]"]);
    assert!(record.warnings().is_empty());
}

#[test]
fn a_content_that_is_not_known_agrees_with_all() {
    let output = tempfile::tempdir().unwrap();
    let output = output.path();
    let first = done(output, &with(shard(&WHOLE, 1, &["a", "b"]), "one", "p"));
    let skipped = done(output, &shard(&WHOLE, 2, &["c"]));
    let third = done(output, &with(shard(&WHOLE, 3, &["d"]), "one", "p"));
    let (whole, record) = merged(output, &[&first, &skipped, &third]);
    assert_eq!((whole.rows, whole.missing, record.other_contents.len()), (4, 0, 0));
}
