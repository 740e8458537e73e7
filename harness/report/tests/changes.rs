//! Two runs of one spec in pairs of seeds: ratios and differences from the first to the last, with their intervals.

use gpbench_record::{CaseStatus, Row, Source, Target, TargetBound, names, testing};
use gpbench_report::{Comparison, Run, compare};
use gpbench_runs::RunRecord;

/// A run with a case of `cg` for each value of a metric, with seeds 0, 1, ...
fn run(name: &str, metric: &str, values: &[f64]) -> Run {
    let row = |(seed, value): (u64, &f64)| -> Row {
        let mut case = testing::case("cg");
        case.seed = seed;
        testing::row(case, &[(metric, *value)])
    };
    let rows = (0..).zip(values).map(row).collect();
    Run { record: RunRecord { rows, name: name.to_owned(), ..RunRecord::default() }, warnings: Vec::new() }
}

fn compared(runs: &[Run]) -> Comparison {
    compare(runs).unwrap().cases().expect("runs of one task")
}

/// The change of a metric, by its heading.
fn change(comparison: &Comparison, title: &str) -> String {
    let table = comparison.table();
    let place =
        |title: &str| table.columns.iter().position(|column| column.title == title).expect("a column");
    let (metric, change) = (place("metric"), place("change"));
    let row = table.rows.iter().find(|row| row[metric].text == title).expect("a row");
    row[change].text.clone()
}

/// Seconds of five seeds before and after.
const SLOW: [f64; 5] = [6.3, 9.1, 5.02, 14.0, 8.6];
const FAST: [f64; 5] = [2.1, 3.35, 1.61, 5.05, 2.75];

/// Two runs with these seconds.
fn timed(before: &[f64], after: &[f64]) -> [Run; 2] {
    [run("before", names::SECONDS, before), run("after", names::SECONDS, after)]
}

#[test]
fn a_ratio_of_costs_has_its_interval_over_seeds() {
    let found = compared(&timed(&SLOW, &FAST));
    assert_eq!(change(&found, "total [s]"), "0.34× [0.31, 0.37]");
    let caption = found.table().caption;
    let rule = "the geometric mean of the ratios last / first (×), of other errors the mean of the differences last − first; brackets \
                are 95 % t intervals over seeds, from three common seeds on.";
    assert!(caption.contains(rule), "{caption}");
    let json = found.json();
    let row = &json["rows"][0];
    assert!((row["ratio"].as_f64().unwrap() - 0.340).abs() < 5e-3 && row["pairs"] == 5, "{row}");
    assert!(row["low"].as_f64().unwrap() < row["ratio"].as_f64().unwrap(), "{row}");
    // A terminal says it in a line.
    let text = found.fitted(Some(80)).text;
    let legend = "change: last / first (×) or last − first, seed by seed; [ ] 95 % interval";
    assert_eq!(text.lines().last(), Some(legend), "{text}");
}

#[test]
fn two_common_seeds_have_no_interval() {
    let found = compared(&timed(&SLOW, &FAST[..2]));
    assert_eq!(change(&found, "total [s]"), "0.35×");
    let caption = found.table().caption;
    assert!(caption.contains("last − first; no interval: 2 seeds."), "{caption}");
    let text = found.fitted(None).text;
    assert!(text.contains("no interval below three") && !text.contains("[ ]"), "{text}");
}

#[test]
fn overlapping_splits_widen_the_interval_of_a_difference() {
    let before = [0.0831, 0.086, 0.0817, 0.0862, 0.085];
    let after = [0.0812, 0.0835, 0.0799, 0.0851, 0.0824];
    let mut runs = [run("before", "test_rmse", &before), run("after", "test_rmse", &after)];
    assert_eq!(change(&compared(&runs), "test RMSE"), "-0.00198 [-0.00273, -0.00123]");
    for row in runs.iter_mut().flat_map(|run| &mut run.record.rows) {
        row.case.dataset.source = Source::Registry { name: "pol".to_owned() };
        row.case.dataset.split = u32::try_from(row.labels.seed).unwrap();
    }
    let found = compared(&runs);
    assert_eq!(change(&found, "test RMSE"), "-0.00198 [-0.00292, -0.00104]");
    assert!(found.table().caption.contains("(1/S + 0.111)"), "{}", found.table().caption);
    let json = found.json();
    let row = &json["rows"][0];
    assert!((row["difference"].as_f64().unwrap() + 0.00198).abs() < 1e-12, "{row}");
    assert!(row["low"].as_f64().unwrap() < row["high"].as_f64().unwrap(), "{row}");
}

#[test]
fn a_seed_that_one_run_missed_leaves_a_mark_in_place_of_a_ratio() {
    let mut runs = timed(&SLOW, &FAST);
    runs[1].record.rows[3].status = CaseStatus::Crashed;
    let found = compared(&runs);
    assert_eq!(change(&found, "total [s]"), "4/5");
    assert!(found.table().caption.contains("A mark like 4/5 stands in place of a ratio"));
    assert!(found.fitted(Some(200)).text.ends_with("4/5: both reached it with 4 of 5 seeds\n"));
    assert_eq!(found.json()["rows"][0]["both_reached"], 4);
}

#[test]
fn runs_with_targets_of_their_own_are_compared_by_whole_cases_alone() {
    let with_target = |mut run: Run, bound: f64| -> Run {
        run.record.report.target =
            Some(Target { metric: names::RMSE_TO_EXACT.to_owned(), bound: TargetBound::Value(bound) });
        run
    };
    let [first, last] = timed(&SLOW, &FAST);
    let found = compared(&[with_target(first, 0.1), with_target(last, 0.2)]);
    assert_eq!(change(&found, "total [s]"), "0.34× [0.31, 0.37]");
    assert!(!found.table().caption.contains("distance between evaluations"));
}
