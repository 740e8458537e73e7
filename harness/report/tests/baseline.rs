//! Every outcome of `gpbench check`.

use gpbench_record::{CaseStatus, Row};
use gpbench_report::Run;
use gpbench_report::baseline::{Baseline, Check, CheckOutcome, check, update};

use crate::support::run;

fn read(text: &str) -> Result<Baseline, String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("baseline.toml");
    std::fs::write(&path, text).unwrap();
    Baseline::read(&path).map_err(|error| error.to_string())
}

/// The stored run against its own baseline, after a change to one case of cg.
fn after(change: impl FnOnce(&mut Row)) -> Check {
    let mut run = run();
    let baseline = read(&update(&run, None).unwrap()).unwrap();
    change(run.record.rows.iter_mut().find(|r| r.labels.solver == "cg").unwrap());
    check(&run, &baseline).unwrap()
}

fn set(metric: &'static str, factor: f64) -> impl FnOnce(&mut Row) {
    move |row| {
        let value = row.metrics.get(metric).unwrap();
        row.metrics.insert(metric, factor * value);
    }
}

/// The remarks but for the one that a baseline without seconds gives.
fn remarks(check: Check) -> Vec<String> {
    check.remarks.into_iter().filter(|remark| !remark.starts_with("the baseline holds no seconds")).collect()
}

fn said(check: &Check) -> Vec<(CheckOutcome, Option<&str>)> {
    check.findings.iter().map(|v| (v.outcome, v.metric.as_deref())).collect()
}

#[test]
fn an_unchanged_run_passes_its_own_baseline() {
    let check = after(|_| {});
    assert_eq!(said(&check), []);
    assert_eq!((check.exit_code(), check.matched), (0, 18));
    assert!(check.compared > 100);
}

#[test]
fn other_contents_than_in_the_baseline_are_remarked() {
    let with = |data: &str, library: &str| {
        let mut run = run();
        run.record.contents = [("pol".to_owned(), [data.to_owned()].into())].into();
        run.record.libraries = [("cg".to_owned(), [library.to_owned()].into())].into();
        run
    };
    let text = update(&with("aa", "cc"), None).unwrap();
    assert!(text.contains("[contents.datasets]\npol = [\"aa\"]\n"), "{text}");
    assert!(text.contains("[contents.solvers]\ncg = [\"cc\"]\n"), "{text}");
    let baseline = read(&text).unwrap();
    let remarks = |run: &Run, baseline: &Baseline| remarks(check(run, baseline).unwrap());
    assert_eq!(remarks(&with("aa", "cc"), &baseline), [""; 0]);
    assert_eq!(
        remarks(&with("bb", "cc"), &baseline),
        [
            "the content of these data sets is other than in the baseline, so that results may differ for that: pol"
        ]
    );
    assert_eq!(
        remarks(&with("aa", "dd"), &baseline),
        ["the libraries of these solvers are other than in the baseline: cg"]
    );
    // Files of earlier versions hold no contents.
    let [before, after] = ["[contents.datasets]", "[[case]]"].map(|table| text.find(table).unwrap());
    let old = read(&format!("{}{}", &text[..before], &text[after..])).unwrap();
    assert_eq!((remarks(&with("bb", "dd"), &old), old.cases.len()), (Vec::new(), baseline.cases.len()));
}

#[test]
fn metrics_regress_upwards_only() {
    use CheckOutcome::{Improved, Regressed};
    let cases = [
        ("test_rmse", 1.01, Some(Regressed), 3),
        ("test_rmse", 1.001, None, 0),
        ("test_rmse", 0.5, Some(Improved), 0),
        ("epochs", 1.2, Some(Regressed), 3),
        ("epochs", 1.05, None, 0),
        ("rmse_to_exact", 1.2, Some(Regressed), 3),
        // The tolerance asked for is 0.01: a solver may stop anywhere below it.
        ("residual_y", 1.05, None, 0),
        ("residual_y", 0.1, None, 0),
        ("residual_y", 1.5, Some(Regressed), 3),
        // Not among the default metrics of a baseline: seconds belong to a machine.
        ("seconds_solve", 10.0, None, 0),
    ];
    for (metric, factor, kind, exit) in cases {
        let check = after(set(metric, factor));
        let want: Vec<_> = kind.into_iter().map(|k| (k, Some(metric))).collect();
        assert_eq!((said(&check), check.exit_code()), (want, exit), "{metric} times {factor}");
    }
}

#[test]
fn an_exact_solver_is_held_to_its_own_residual() {
    let mut run = run();
    let baseline = read(&update(&run, None).unwrap()).unwrap();
    let exact = run.record.rows.iter_mut().find(|r| r.labels.solver == "cholesky").unwrap();
    exact.metrics.insert("residual_y", 1e-6);
    assert_eq!(said(&check(&run, &baseline).unwrap()), [(CheckOutcome::Regressed, Some("residual_y"))]);
}

#[test]
fn a_case_that_ends_worse_or_is_gone_is_said() {
    let crashed = after(|row| row.status = CaseStatus::Crashed);
    assert_eq!((said(&crashed), crashed.exit_code()), (vec![(CheckOutcome::NewlyFailed, None)], 3));
    let short = after(|row| row.status = CaseStatus::NotConverged);
    assert_eq!(said(&short), [(CheckOutcome::NewlyFailed, None)]);
    let skipped = after(|row| row.status = CaseStatus::Skipped);
    assert_eq!((said(&skipped), skipped.exit_code()), (vec![(CheckOutcome::Missing, None)], 3));
    let renamed = after(|row| row.labels.solver = "cg2".to_owned());
    let want = vec![(CheckOutcome::Missing, None), (CheckOutcome::NotInBaseline, None)];
    assert_eq!((said(&renamed), renamed.exit_code()), (want, 3));
    let bare = after(|row| row.metrics = Default::default());
    assert!(bare.findings.iter().all(|v| v.outcome == CheckOutcome::Missing && v.metric.is_some()));
    assert_eq!(bare.exit_code(), 3);
}

#[test]
fn a_new_case_is_said_and_passes() {
    let mut run = run();
    let mut smaller = run.clone();
    smaller.record.rows.retain(|r| r.labels.solver != "cholesky");
    let baseline = read(&update(&smaller, None).unwrap()).unwrap();
    let check1 = check(&run, &baseline).unwrap();
    assert_eq!(said(&check1), vec![(CheckOutcome::NotInBaseline, None); 6]);
    assert_eq!(check1.exit_code(), 0);
    // A case that used to fail and does not any more.
    let failed = run.record.rows.iter_mut().find(|r| r.status == CaseStatus::Crashed).unwrap();
    failed.status = CaseStatus::Ok;
    assert_eq!(said(&check(&run, &baseline).unwrap()).last(), Some(&(CheckOutcome::Improved, None)));
}

#[test]
fn a_new_case_that_fails_fails_the_check() {
    let run = run();
    let mut smaller = run.clone();
    smaller.record.rows.retain(|r| !(r.labels.solver == "cg" && r.labels.seed == 0));
    let baseline = read(&update(&smaller, None).unwrap()).unwrap();
    for status in CaseStatus::ALL {
        let mut run = run.clone();
        let new = run.record.rows.iter_mut().filter(|r| r.labels.solver == "cg" && r.labels.seed == 0);
        new.for_each(|row| row.status = status);
        let check = check(&run, &baseline).unwrap();
        let (outcome, exit) = match status.is_failure() {
            true => (CheckOutcome::NewlyFailed, 3),
            false => (CheckOutcome::NotInBaseline, 0),
        };
        assert!(check.findings.iter().all(|found| found.outcome == outcome), "{status}");
        assert_eq!(check.exit_code(), exit, "{status}");
    }
}

#[test]
fn a_baseline_without_metrics_is_not_passed() {
    let run = run();
    let full = read(&update(&run, None).unwrap()).unwrap();
    // Of one case that gave an answer.
    let mut one = full.clone();
    one.cases.iter_mut().find(|case| case.status == CaseStatus::Ok).unwrap().metrics = Default::default();
    let one = check(&run, &one).unwrap();
    assert_eq!((said(&one), one.exit_code()), (vec![(CheckOutcome::Unmeasured, None)], 4));
    assert!(one.count().starts_with("nothing to compare: "), "{}", one.count());
    // Of all cases.
    let mut none = full;
    none.cases.iter_mut().for_each(|case| case.metrics = Default::default());
    assert_eq!(check(&run, &none).unwrap().exit_code(), 4);
    // Of cases that failed, then and now.
    none.cases.retain(|case| case.status.is_failure());
    let failed = check(&run, &none).unwrap();
    assert!(failed.matched > 0);
    assert_eq!((failed.compared, failed.failing(), failed.exit_code()), (0, 0, 4));
}

#[test]
fn a_tolerance_far_above_what_was_measured_is_said() {
    let mut run = run();
    for row in run.record.rows.iter_mut().filter(|row| row.labels.solver == "cholesky") {
        row.metrics.insert("residual_y", 1e-8);
    }
    let with = |tolerance: &str| {
        let text =
            update(&run, None).unwrap().replace("[tolerance]\n", &format!("[tolerance]\n{tolerance}\n"));
        remarks(check(&run, &read(&text).unwrap()).unwrap())
    };
    let remarks = with("residual_y = { absolute = 1e-2 }");
    assert_eq!(remarks.len(), 1, "{remarks:?}");
    for part in
        ["warning: the tolerance of residual_y is 0.0100", "/cholesky/seed 0 measured 1.00e-8", "more cases"]
    {
        assert!(remarks[0].contains(part), "{part} in {}", remarks[0]);
    }
    assert_eq!(with("test_rmse = { relative = 1e5 }").len(), 1);
    assert_eq!(with("residual_y = { absolute = 1e-6 }"), [] as [&str; 0]);
    assert_eq!(with(""), [] as [&str; 0], "the registry's tolerances are not the file's");
}

#[test]
fn a_baseline_far_above_the_run_is_said() {
    let mut run = run();
    let mut baseline = read(&update(&run, None).unwrap()).unwrap();
    let case = baseline.cases.iter_mut().find(|case| case.key.solver == "cg").unwrap();
    case.metrics.insert("residual_y", 0.009);
    let key = case.key.clone();
    let of_case = |row: &&mut Row| row.labels.solver == "cg" && row.labels.seed == key.seed;
    for row in run.record.rows.iter_mut().filter(of_case) {
        row.metrics.insert("residual_y", 1e-8);
    }
    let check = check(&run, &baseline).unwrap();
    let improved = |found: &&gpbench_report::baseline::MetricCheck| {
        found.key == key && found.outcome == CheckOutcome::Improved
    };
    assert!(check.findings.iter().any(|found| improved(&found)), "{:?}", check.findings);
}

#[test]
fn names_of_others_survive_a_baseline() {
    let mut run = run();
    let name = "cg\u{1b}[31m\"\\\u{202e}\n[[case]]";
    run.record
        .rows
        .iter_mut()
        .filter(|r| r.labels.solver == "cg")
        .for_each(|r| r.labels.solver = name.to_owned());
    let text = update(&run, None).unwrap();
    assert!(!text.chars().any(|c| gpbench_record::text::is_hidden(c) && c != '\n'));
    let check = check(&run, &read(&text).unwrap()).unwrap();
    assert_eq!((said(&check), check.exit_code()), (vec![], 0));
}

#[test]
fn nothing_in_common_is_its_own_outcome() {
    let empty = read("schema = 1").unwrap();
    assert_eq!(check(&run(), &empty).unwrap().exit_code(), 4);
    let mut nothing = run();
    let baseline = read(&update(&nothing, None).unwrap()).unwrap();
    nothing.record.rows.clear();
    assert_eq!(check(&nothing, &baseline).unwrap().exit_code(), 4);
}

#[test]
fn tolerances_of_the_file_hold_and_survive_an_update() {
    let mut run = run();
    let old =
        read("schema = 1\n[tolerance]\ntest_rmse = { absolute = 0.5 }\nseconds_solve = { relative = 1.0 }")
            .unwrap();
    let text = update(&run, Some(&old)).unwrap();
    let new = read(&text).unwrap();
    assert_eq!(new.tolerance, old.tolerance);
    assert_eq!(update(&run, Some(&new)).unwrap(), text, "an update of an update must change nothing");
    for row in run.record.rows.iter_mut().filter(|r| r.labels.solver == "cg" && r.labels.seed == 0) {
        set("test_rmse", 1.2)(row);
        set("seconds_solve", 2.5)(row);
    }
    assert_eq!(said(&check(&run, &new).unwrap()), [(CheckOutcome::Regressed, Some("seconds_solve")); 2]);
}

#[test]
fn a_baseline_that_cannot_be_meant_is_refused() {
    let case = "[[case]]\ndataset='a'\nkernel='k'\nestimator='e'\nsolver='s'\nseed=0\n";
    for (text, want) in [
        ("schema = 2".to_owned(), "schema = 2 is not known"),
        (
            "schema = 1\n[tolerance]\ntest_rmse = { absolute = -1.0 }".to_owned(),
            "must be finite and not negative",
        ),
        (format!("schema = 1\n{case}{case}"), "is listed twice"),
        (
            format!("schema = 1\n{case}metrics = {{ test_rmse = nan }}"),
            "the test_rmse of the case a/k/e/s/seed 0 is NaN; it must be finite",
        ),
        (
            "schema = 1\n[tolerance]\ntest_rmse = { abs = 1.0 }".to_owned(),
            "baseline.toml:3:15: error: unknown bound `abs`; known are absolute, relative",
        ),
    ] {
        let error = read(&text).unwrap_err();
        assert!(error.contains(want), "{error}");
    }
}

#[test]
fn the_table_names_each_case() {
    let mut run = run();
    let baseline = read(&update(&run, None).unwrap()).unwrap();
    let mut cg = run.record.rows.iter_mut().filter(|r| r.labels.solver == "cg");
    set("test_rmse", 1.1)(cg.next().unwrap());
    let crashed = cg.next().unwrap();
    crashed.status = CaseStatus::Crashed;
    crashed.reason = "the worker was ended by signal 6 (abort)".to_owned();
    cg.next().unwrap().labels.seed = 9;
    let table = check(&run, &baseline).unwrap().table();
    insta::assert_snapshot!(format!("{}\n{}", table.text(), table.caption));
}

#[test]
fn a_new_baseline_reads_well() {
    let mut run = run();
    run.record.rows.retain(|r| r.labels.seed == 0 && r.labels.dataset == "draw");
    insta::assert_snapshot!(update(&run, None).unwrap());
}
