//! Two runs compared: what did not change raises no alarm, and what did is found.

use gpbench_record::{CaseStatus, Row};
use gpbench_report::baseline::{Baseline, Check, CheckOutcome, against, check, update};
use gpbench_report::{compare, exact, step_summary};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::support::run;
use crate::timed::{QUIET, SHARED, WILD, once_more, slow_down, stored, timed};

#[test]
fn other_content_of_a_data_set_is_remarked() {
    let with_content = |digest: &str| {
        let mut run = stored();
        run.record.contents.insert("pol".to_owned(), [digest.to_owned()].into());
        run
    };
    let (first, second) = (with_content("aa"), with_content("bb"));
    let remark = "differ in the content of data set `pol`; so their results may differ too";
    let check = against(&second, &first).unwrap();
    assert!(check.remarks.iter().any(|text| text.contains(remark)), "{:?}", check.remarks);
    let count = exact(&first, &second).count();
    assert!(count.ends_with("; the content of these data sets differs: pol"), "{count}");
    // A run in the middle is compared too.
    let name = first.record.name.clone();
    let three = compare(&[first.clone(), second, first.clone()]).unwrap().cases().unwrap();
    let remark = format!("in {name}, the content of these data sets is other than in the first run: pol");
    assert!(three.check.remarks.contains(&remark), "{:?}", three.check.remarks);
    // Runs of the same content, and those of which it is not known.
    for other in [first.clone(), stored()] {
        let check = against(&other, &first).unwrap();
        assert!(!check.remarks.iter().any(|text| text.contains("content")), "{:?}", check.remarks);
        assert!(!exact(&other, &first).count().contains("content"));
    }
}

fn said(check: &Check) -> Vec<(CheckOutcome, &str, Option<&str>)> {
    check.findings.iter().map(|v| (v.outcome, v.key.solver.as_str(), v.metric.as_deref())).collect()
}

#[test]
fn identical_runs_raise_no_alarm() {
    let run = timed();
    for (name, machine, seed) in [("quiet", QUIET, 1), ("shared", SHARED, 2), ("wild", WILD, 3)] {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let alarms = (0..300)
            .filter(|_| {
                let [old, new] = [(); 2].map(|()| once_more(&run, machine, &mut rng));
                let check = against(&new, &old).unwrap();
                assert_eq!((check.matched, check.remarks.len()), (24, 0));
                check.exit_code() != 0
            })
            .count();
        println!("{alarms} false alarms in 300 pairs of identical runs on a {name} machine");
        // 99.9 % of a binomial distribution of 300 gates at 0.5 %.
        assert!(alarms <= 6, "{alarms} on a {name} machine");
    }
}

#[test]
fn a_solver_that_takes_half_as_long_again_is_found() {
    let run = timed();
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let mut injected = 0;
    for dataset in ["pol", "bike"] {
        for solver in ["cholesky", "cg", "ap", "sgd"] {
            for _ in 0..25 {
                let old = once_more(&run, QUIET, &mut rng);
                let mut new = once_more(&run, QUIET, &mut rng);
                slow_down(&mut new, dataset, solver, 1.5);
                let check = against(&new, &old).unwrap();
                assert_eq!(said(&check), [(CheckOutcome::Regressed, solver, Some("seconds"))]);
                assert_eq!((check.findings[0].key.dataset.as_str(), check.findings[0].seeds), (dataset, 3));
                assert_eq!(check.exit_code(), 3);
                // The other way round it is an improvement.
                assert_eq!(
                    said(&against(&old, &new).unwrap()),
                    [(CheckOutcome::Improved, solver, Some("seconds"))]
                );
                injected += 1;
            }
        }
    }
    println!("{injected} of {injected} times longer by half were found");
}

/// Every case of the stored run with this metric, made worse by a factor, one at a time.
fn found(metric: &str, factor: f64, is_measurable: impl Fn(f64) -> bool) -> (usize, usize) {
    let old = stored();
    let baseline = Baseline::of(&old).unwrap();
    let (mut injected, mut found) = (0, 0);
    for at in 0..old.record.rows.len() {
        let mut new = old.clone();
        let row: &mut Row = &mut new.record.rows[at];
        let Some(value) = row.metrics.get(metric).filter(|value| is_measurable(*value)) else { continue };
        row.metrics.insert(metric, factor * value);
        injected += 1;
        let (key, want) = (row.labels.clone(), [(CheckOutcome::Regressed, Some(metric))]);
        for check in [check(&new, &baseline).unwrap(), against(&new, &old).unwrap()] {
            let said: Vec<_> = check.findings.iter().map(|v| (v.outcome, v.metric.as_deref())).collect();
            assert_eq!((&said[..], check.exit_code()), (&want[..], 3), "{key}");
        }
        found += 1;
    }
    println!("{found} of {injected} cases with {metric} times {factor} were found");
    (injected, found)
}

#[test]
fn an_rmse_larger_by_a_hundredth_is_found() {
    let (injected, found) = found("test_rmse", 1.01, |_| true);
    assert!(injected == found && injected >= 12, "{injected}");
}

#[test]
fn a_residual_twice_as_large_is_found() {
    // What lies below 1e-9 is rounding.
    for metric in ["residual_y", "residual_probes"] {
        let (injected, found) = found(metric, 2.0, |residual| residual > 1e-9);
        assert!(injected == found && injected >= 5, "{metric}: {injected}");
    }
}

#[test]
fn a_baseline_of_a_run_is_the_one_that_is_written_for_it() {
    let run = stored();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("baseline.toml");
    std::fs::write(&file, update(&run, None).unwrap()).unwrap();
    let written = Baseline::read(&file).unwrap();
    let of = Baseline::of(&run).unwrap();
    let keys = |b: &Baseline| b.cases.iter().map(|c| (c.key.clone(), c.status)).collect::<Vec<_>>();
    assert_eq!(keys(&written), keys(&of));
    let names = |b: &Baseline| {
        let of_case = |case: &gpbench_report::baseline::BaselineCase| {
            case.metrics.iter().map(|(name, _)| name.to_owned()).collect::<Vec<_>>()
        };
        b.cases.iter().map(of_case).collect::<Vec<_>>()
    };
    assert_eq!(names(&written), names(&of));
}

#[test]
fn two_solvers_of_one_run_are_compared_by_seed() {
    let between = gpbench_report::between(&timed(), "cg", "ap").unwrap().pair().unwrap();
    // Each seed of `ap` takes ten times as long.
    let [pol, bike, ..] = &between.sentences[..] else { panic!("{:?}", between.sentences) };
    assert!(pol.starts_with("cg is 10") && pol.contains(" times as fast as ap on pol/"), "{pol}");
    assert!(bike.contains(" on bike/") && bike.contains("3 seeds"), "{bike}");
    assert!(between.sentences.iter().any(|sentence| sentence.contains("on these 2 data sets")));
    let tables = between.tables();
    assert_eq!(tables.len(), 2);
    assert!(tables[0].title.starts_with("pol/") && tables[1].title.starts_with("bike/"));
    assert!(tables[0].caption.contains("medians of 5 repeats"), "{}", tables[0].caption);
    let json = between.json();
    let rows = json["rows"].as_array().unwrap();
    let seconds = rows.iter().find(|row| row["metric"].as_str().unwrap().starts_with("seconds")).unwrap();
    assert!((seconds["ratio"].as_f64().unwrap() - 10.0).abs() < 1e-9, "{seconds}");
    // Equal ratios of all seeds have an interval without width.
    assert!((seconds["low"].as_f64().unwrap() - 10.0).abs() < 1e-9, "{seconds}");
}

#[test]
fn a_narrow_table_of_two_solvers_keeps_what_it_was_asked_for() {
    let mut run = timed();
    for row in &mut run.record.rows {
        row.labels.solver = format!("{}-with-a-longer-name", row.labels.solver);
    }
    let between = gpbench_report::between(&run, "cg-with-a-longer-name", "ap-with-a-longer-name")
        .unwrap()
        .pair()
        .unwrap();
    let fitted = between.tables()[0].fitted(Some(80));
    assert!(fitted.text.lines().all(|line| line.chars().count() <= 80), "{}", fitted.text);
    assert!(fitted.text.contains("metric") && fitted.text.contains("difference"), "{}", fitted.text);
    assert!(fitted.text.contains("× ["), "the ratio with its interval: {}", fitted.text);
}

#[test]
fn residuals_of_two_solvers_may_be_anywhere_within_the_tolerance() {
    let mut run = timed();
    for row in &mut run.record.rows {
        row.case.budget.tolerance = Some(1e-3);
        row.metrics.insert("residual_y", 4e-4);
    }
    let regressed = |check: &Check| said(check).iter().any(|(_, _, metric)| *metric == Some("residual_y"));
    let later = |plugin: &str| {
        let mut later = run.clone();
        for row in &mut later.record.rows {
            row.case.solver.plugin = plugin.to_owned();
            row.metrics.insert("residual_y", 8e-4);
        }
        later
    };
    let own = run.record.rows[0].case.solver.plugin.clone();
    assert!(!regressed(&against(&later("another"), &run).unwrap()));
    // Of one solver, that is a change.
    assert!(regressed(&against(&later(&own), &run).unwrap()));
}

#[test]
fn cases_that_are_not_the_same_are_named() {
    let (old, mut new) = (stored(), stored());
    assert!(!against(&new, &old).unwrap().remarks.iter().any(|remark| remark.contains("not the same")));
    for row in new.record.rows.iter_mut().filter(|row| row.labels.dataset == "pol") {
        row.n = row.n.map(|n| 6 * n);
    }
    for row in new.record.rows.iter_mut().filter(|row| row.labels.solver == "cg") {
        row.case.budget.tolerance = Some(0.5);
    }
    let check = against(&new, &old).unwrap();
    let remark = check.remarks.iter().find(|remark| remark.contains("not the same")).expect("a remark");
    assert!(remark.contains("data set `pol` (") && remark.contains("the budget of `cg`"), "{remark}");
    assert_eq!(check.table().title, "Against the earlier run");
}

#[test]
fn a_jobs_page_says_how_it_ended_and_what_there_is_no_room_for() {
    let (old, mut new) = (stored(), stored());
    let short = step_summary("gpbench check a.toml", &against(&new, &old).unwrap());
    assert!(short.starts_with("### gpbench check a.toml: passed\n\n18 cases matched, "), "{short}");
    for row in &mut new.record.rows {
        let names = ["test_rmse", "test_nll", "rmse_to_exact", "epochs", "iterations"];
        for name in names.into_iter().chain(["residual_y", "residual_probes", "residual_max"]) {
            let value = row.metrics.get(name).unwrap_or(1.0);
            row.metrics.insert(name, 3.0 * value + 2.0);
        }
    }
    let check = against(&new, &old).unwrap();
    let page = step_summary("gpbench check a.toml", &check);
    assert!(page.starts_with("### gpbench check a.toml: regressed\n"), "{page}");
    let rows = page.lines().filter(|line| line.starts_with("| regressed |")).count();
    let left_out = check.findings.len() - 100;
    assert_eq!(rows, 100.min(check.failing()));
    assert!(page.contains(&format!("… and {left_out} more, ")), "{page}");
}

#[test]
fn runs_with_the_same_bits_agree_whatever_their_ids_seconds_and_memory() {
    let first = stored();
    let mut second = first.clone();
    for row in &mut second.record.rows {
        row.id.push('x');
        row.finished.clear();
        for name in ["seconds", "seconds_solve", "cpu_seconds", "peak_memory_bytes"] {
            row.metrics.insert(name, 7.0);
        }
        row.trace.iter_mut().for_each(|point| point.seconds += 1.0);
    }
    second.record.rows.reverse();
    let comparison = exact(&first, &second);
    assert!(comparison.agree(), "{}", comparison.table().text());
    assert_eq!(comparison.cases, 18);
    assert!(comparison.values > 18 * 10, "{}", comparison.values);
}

#[test]
fn a_difference_in_the_last_bit_is_reported() {
    let first = stored();
    let mut second = first.clone();
    let flipped = |value: f64| f64::from_bits(value.to_bits() + 1);
    let row = second.record.rows.iter_mut().find(|row| row.labels.solver == "cg").unwrap();
    let (was, case) = (row.metrics.get("test_rmse").unwrap(), row.labels.to_string());
    row.metrics.insert("test_rmse", flipped(was));
    row.trace[2].epochs = flipped(row.trace[2].epochs);
    let removed = second.record.rows.pop().unwrap().labels.to_string();
    let comparison = exact(&first, &second);
    let found: Vec<_> =
        comparison.differences.iter().map(|d| (d.case.to_string(), d.what.as_str())).collect();
    let want = [(removed, "case"), (case.clone(), "metrics/test_rmse"), (case, "trace/2/epochs")];
    assert_eq!(found, want);
    assert!(!comparison.agree() && comparison.table().text().contains(&was.to_string()));

    // A clock stopped a case of one run: its values cannot agree.
    let mut third = first.clone();
    third.record.rows[0].reproducible = false;
    third.record.rows[0].metrics.insert("epochs", 3.5);
    let comparison = exact(&first, &third);
    assert_eq!((comparison.agree(), comparison.stopped_by_clock.len()), (true, 1));
}

#[test]
fn runs_stand_side_by_side() {
    let (first, mut second) = (run(), run());
    second.record.name = "changed".to_owned();
    second.record.rows.retain(|r| r.labels.solver != "jacobi");
    for row in &mut second.record.rows {
        let seconds = row.metrics.get("seconds").unwrap();
        row.metrics.insert("seconds", 0.5 * seconds);
    }
    insta::assert_snapshot!(compare(&[first, second]).unwrap().cases().unwrap().table().text());
}

#[test]
fn only_seeds_that_gave_an_answer_in_every_run_are_compared() {
    let (first, mut second) = (run(), run());
    second.record.rows.retain(|r| r.labels.seed != 2);
    let failed =
        second.record.rows.iter_mut().find(|r| r.labels.solver == "cg" && r.labels.seed == 1).unwrap();
    failed.status = CaseStatus::Crashed;
    let comparison = compare(&[first, second]).unwrap().cases().unwrap();
    let cg = comparison.rows.iter().find(|r| r.solver == "cg" && r.metric.name == "test_rmse").unwrap();
    assert_eq!((cg.seeds, cg.means[0]), (1, cg.means[1]));
    assert_eq!(comparison.json()["rows"][0]["seeds"], 2);
}

#[test]
fn runs_without_a_common_case_have_no_comparison() {
    let (first, mut second) = (run(), run());
    for row in &mut second.record.rows {
        row.labels.solver.push('2');
    }
    assert_eq!(compare(&[first, second]).unwrap().cases().unwrap().rows, []);
}
