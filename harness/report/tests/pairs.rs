//! Comparisons in pairs of seeds: what is bold, which speed-ups are stated, and what captions say of them.

use std::fs;

use gpbench_record::{
    CaseStatus, Margin, Metrics, Row, Source, Target, TargetBound, TargetReference, TracePoint, names,
    testing,
};
use gpbench_report::{Format, Run, WriteOptions, between, export, write_all};
use gpbench_runs::RunRecord;

/// Values of five seeds, such as they differ between seeds.
const BASE: [f64; 5] = [0.50, 0.58, 0.46, 0.53, 0.61];

/// A case of a solver and seed with these metrics.
fn row(solver: &str, seed: u64, metrics: &[(&str, f64)]) -> Row {
    let mut case = testing::case(solver);
    case.seed = seed;
    testing::row(case, metrics)
}

/// A case for each value of a metric, with seeds 0, 1, ...
fn rows(solver: &str, metric: &str, values: &[f64]) -> Vec<Row> {
    (0..).zip(values).map(|(seed, value)| row(solver, seed, &[(metric, *value)])).collect()
}

/// A run of these cases; the first solver is the baseline.
fn run(rows: impl IntoIterator<Item = Vec<Row>>) -> Run {
    let rows: Vec<Row> = rows.into_iter().flatten().collect();
    let mut record = RunRecord { rows, name: "pairs".to_owned(), ..RunRecord::default() };
    record.report.baseline = record.rows.first().map(|row| row.labels.solver.clone());
    record.axes.solver = record.rows.iter().map(|row| row.labels.solver.clone()).collect();
    record.axes.solver.dedup();
    Run { record, warnings: Vec::new() }
}

/// The report in Markdown, without escapes.
fn page(run: &Run) -> String {
    export(run, Format::Markdown).unwrap().replace('\\', "")
}

/// Cells of a line of a table in Markdown.
fn cells(line: &str) -> Vec<&str> {
    line.trim_matches(['|', ' ']).split('|').map(str::trim).collect()
}

/// The cell of a solver in a column, of the first table that has both.
fn cell<'p>(page: &'p str, solver: &str, title: &str) -> &'p str {
    let mut column = None;
    for line in page.lines().filter(|line| line.starts_with('|')) {
        let cells = cells(line);
        match column {
            None => column = cells.iter().position(|cell| *cell == title),
            Some(at) if cells[0].trim_matches('*') == solver => return cells[at],
            Some(_) => {}
        }
    }
    panic!("no `{title}` of {solver} in {page}")
}

fn is_bold(page: &str, solver: &str, title: &str) -> bool {
    cell(page, solver, title).starts_with("**")
}

#[test]
fn a_difference_within_the_tolerance_beats_nobody() {
    let shifted = |by: f64| BASE.map(|value| value - 1.4 + by);
    let two = || [rows("a", "test_nll", &shifted(0.0)), rows("b", "test_nll", &shifted(1e-4))];
    let close = page(&run(two()));
    assert!(cell(&close, "a", "test NLL").starts_with("-0.8640"), "{close}");
    assert!(!close.contains("**"), "{close}");
    let rule = "Nothing is bold: no solver is worse than another by a paired t test over 5 seeds (Holm over the 1 comparison of";
    assert!(close.contains(rule), "{close}");
    // A third solver is worse by more than the tolerance of 0.01: now both are set apart from it.
    let third = page(&run(two().into_iter().chain([rows("c", "test_nll", &shifted(0.1))])));
    let bold = ["a", "b", "c"].map(|solver| is_bold(&third, solver, "test NLL"));
    assert_eq!(bold, [true, true, false], "{third}");
    let rule = "Bold: no other solver is better by a paired t test over 5 seeds (Holm over the 3 comparisons of this table, 5 %) and by \
                more than the metric's tolerance";
    assert!(third.contains(rule), "{third}");
}

#[test]
fn two_seeds_set_nothing_apart() {
    let better = BASE.map(|value| 0.5 * value);
    let solvers = |seeds: usize| {
        let of = |solver: &str, values: &[f64; 5]| rows(solver, names::SECONDS, &values[..seeds]);
        run([of("slow", &BASE), of("fast", &better)])
    };
    let two = page(&solvers(2));
    assert!(two.contains("Nothing is bold: fewer than three seeds.") && !two.contains("**"), "{two}");
    assert_eq!(cell(&two, "fast", "speed-up over slow"), "2.0×");
    assert!(two.contains("no interval: 2 seeds"), "{two}");
    let advice =
        "fewer than three seeds: nothing is bold, and ratios have no interval; five seeds tell solvers apart";
    assert!(export(&solvers(2), Format::Text).unwrap().contains(advice));
    let three = page(&solvers(3));
    assert!(is_bold(&three, "fast", "total [s]") && !is_bold(&three, "slow", "total [s]"), "{three}");
    assert!(!export(&solvers(3), Format::Text).unwrap().contains(advice));
}

#[test]
fn a_solver_that_failed_is_never_bold() {
    let shifted = |by: f64| BASE.map(|value| value + by);
    let mut failing = rows("failing", "test_rmse", &shifted(-0.3));
    failing[3].status = CaseStatus::Crashed;
    let page =
        page(&run([failing, rows("good", "test_rmse", &BASE), rows("bad", "test_rmse", &shifted(0.2))]));
    let bold = ["failing", "good", "bad"].map(|solver| is_bold(&page, solver, "test RMSE"));
    assert_eq!(bold, [false, true, false], "{page}");
    assert!(cell(&page, "failing", "test RMSE").ends_with("(4 of 5)"), "{page}");
}

#[test]
fn what_a_budget_ended_is_compared_by_its_error_and_not_by_its_cost() {
    let of = |solver: &str, by: f64, status: CaseStatus| -> Vec<Row> {
        let metrics = |value: &f64| [("test_rmse", value + by), (names::SECONDS, 10.0 * value - 20.0 * by)];
        let rows = (0..).zip(&BASE).map(|(seed, value)| row(solver, seed, &metrics(value)));
        rows.map(|row| Row { status, ..row }).collect()
    };
    let early = of("early", 0.1, CaseStatus::NotConverged);
    let whole = page(&run([of("a", 0.0, CaseStatus::Ok), of("b", 0.05, CaseStatus::Ok), early]));
    assert!(is_bold(&whole, "a", "test RMSE") && !is_bold(&whole, "early", "test RMSE"), "{whole}");
    // The fastest has not reached the tolerance.
    let bold = ["a", "b", "early"].map(|solver| is_bold(&whole, solver, "total [s]"));
    assert_eq!(bold, [false, true, false], "{whole}");
}

/// Two solvers whose test errors differ by a p-value of 0.039 where seeds are independent.
fn barely_apart(change: impl Fn(&mut Row)) -> Run {
    let worse = [0.02, 0.06, 0.03, 0.07, 0.005];
    let worse: Vec<f64> = BASE.iter().zip(worse).map(|(value, by)| value + by).collect();
    let mut run = run([rows("a", "test_rmse", &BASE), rows("b", "test_rmse", &worse)]);
    run.record.rows.iter_mut().for_each(change);
    run
}

#[test]
fn overlapping_splits_are_no_independent_seeds() {
    let drawn = page(&barely_apart(|_| ()));
    assert!(
        is_bold(&drawn, "a", "test RMSE") && !drawn.contains("this split") && !drawn.contains("overlap"),
        "{drawn}"
    );
    let of_file = |row: &mut Row, split: u32| {
        row.case.dataset.source = Source::Registry { name: "pol".to_owned() };
        row.case.dataset.split = split;
    };
    let by_seed = page(&barely_apart(|row| {
        let seed = row.labels.seed;
        of_file(row, u32::try_from(seed).unwrap());
    }));
    assert!(!by_seed.contains("**"), "{by_seed}");
    assert!(
        by_seed.contains("Splits of different seeds overlap") && by_seed.contains("(1/S + 0.111)"),
        "{by_seed}"
    );
    let fixed = page(&barely_apart(|row| of_file(row, 0)));
    assert!(is_bold(&fixed, "a", "test RMSE") && fixed.contains("are given this split"), "{fixed}");
}

#[test]
fn differences_to_the_baseline_have_intervals() {
    let a = [0.0812, 0.0835, 0.0799, 0.0851, 0.0824];
    let b = [0.0831, 0.086, 0.0817, 0.0862, 0.085];
    let mut run = run([rows("b", "test_rmse", &b), rows("a", "test_rmse", &a)]);
    let difference = |run: &Run| cell(&page(run), "a", "test RMSE − b").to_owned();
    assert_eq!(difference(&run), "-0.00198 [-0.00273, -0.00123]");
    for row in &mut run.record.rows {
        row.case.dataset.source = Source::Registry { name: "pol".to_owned() };
        row.case.dataset.split = u32::try_from(row.labels.seed).unwrap();
    }
    assert_eq!(difference(&run), "-0.00198 [-0.00292, -0.00104]");
    run.record.rows.retain(|row| row.labels.seed != 1 || row.labels.solver != "a");
    run.record.rows.retain(|row| row.labels.seed < 3);
    assert_eq!(difference(&run), "-0.00185");
    assert_eq!(cell(&page(&run), "a", "pairs"), "2");
}

/// Seconds of the repeats of five seeds of two solvers.
const REPEATS: [(&str, [[f64; 3]; 5]); 2] = [
    ("slow", [[6.3, 6.21, 6.42], [9.1, 9.0, 9.25], [5.02, 5.1, 4.95], [13.9, 14.2, 14.0], [8.6, 8.55, 8.71]]),
    ("fast", [[2.1, 2.14, 2.05], [3.3, 3.35, 4.4], [1.62, 1.6, 1.61], [5.05, 5.01, 5.2], [2.75, 2.71, 2.8]]),
];

/// A run of the repeats.
fn repeated() -> Run {
    let of_solver = |(solver, seeds): (&str, [[f64; 3]; 5])| {
        let of_seed = |(seed, repeats): (u64, [f64; 3])| {
            (0..).zip(repeats).map(move |(repeat, seconds)| {
                let mut case = testing::case(solver);
                (case.seed, case.repeat) = (seed, repeat);
                testing::row(case, &[(names::SECONDS, seconds)])
            })
        };
        (0..).zip(seeds).flat_map(of_seed).collect::<Vec<Row>>()
    };
    run(REPEATS.map(of_solver))
}

#[test]
fn a_speed_up_is_stated_with_its_interval_and_the_noise_apart() {
    let page = page(&repeated());
    assert_eq!(cell(&page, "fast", "speed-up over slow"), "2.9× [2.7, 3.2]");
    assert_eq!(cell(&page, "slow", "speed-up over slow"), "1×");
    let caption = "Speed-ups are geometric means over 5 seeds of ratios of median seconds of 3 repeats to the tolerance; brackets are \
                   95 % t intervals over seeds.";
    assert!(page.contains(caption), "{page}");
    assert!(page.contains("Timing noise within seeds: 1.4 % of slow, 7.7 % of fast."), "{page}");
    assert!(!page.contains("ERT"), "no seed failed: {page}");
}

/// Cases that took so many seconds; of the seeds whose seconds are those of a budget, it ended them.
fn timed(solver: &str, seconds: [f64; 5], budget: f64) -> Vec<Row> {
    let mut rows = rows(solver, names::SECONDS, &seconds);
    for row in &mut rows {
        row.case.budget.seconds = Some(budget);
        if row.metrics.get(names::SECONDS) == Some(budget) {
            (row.status, row.reproducible) = (CaseStatus::NotConverged, false);
        }
    }
    rows
}

#[test]
fn a_missed_seed_leaves_a_mark_and_a_spent_budget_a_bound() {
    let slow = || timed("slow", [6.3, 9.1, 5.02, 14.0, 8.6], 60.0);
    let fast = || timed("fast", [2.1, 3.35, 60.0, 5.05, 2.75], 60.0);
    let bounded = page(&run([fast(), slow()]));
    assert_eq!(cell(&bounded, "slow", "speed-up over fast"), "≥ 0.70× (4/5)");
    assert_eq!(cell(&bounded, "fast", "speed-up over fast"), "4/5");
    assert!(bounded.contains("A mark like 4/5 stands in place of a ratio"), "{bounded}");
    let mut crashed = run([slow(), fast()]);
    let failed = crashed.record.rows.iter_mut().find(|row| row.status == CaseStatus::NotConverged).unwrap();
    failed.status = CaseStatus::Crashed;
    assert_eq!(cell(&page(&crashed), "fast", "speed-up over slow"), "4/5");
}

#[test]
fn failures_are_priced_in_beside_the_mean_of_the_others() {
    let risky = timed("risky", [4.0, 5.5, 30.0, 3.2, 30.0], 30.0);
    let safe = timed("safe", [8.0, 9.0, 8.5, 7.5, 9.5], 30.0);
    let never = timed("never", [30.0; 5], 30.0);
    let page = page(&run([safe, risky, never]));
    assert_eq!(cell(&page, "risky", "reached [s]"), "4.23 (3/5)");
    assert_eq!(cell(&page, "risky", "ERT [s]"), "24.2 [7.23, 118]");
    assert_eq!((cell(&page, "never", "reached [s]"), cell(&page, "never", "ERT [s]")), ("", "> 150"));
    assert!(cell(&page, "safe", "ERT [s]").starts_with("8.50 ["), "{page}");
    assert!(page.contains("assumes that a failed run is repeated with a new seed"), "{page}");
    assert!(
        page.contains("Of a solver with no failure in 5, a failure rate up to 45 % is not excluded."),
        "{page}"
    );
}

/// A case that is within 0.1 of the exact mean from an evaluation on, the last one before it, and ends later.
fn to_target(solver: &str, seed: u64, [before, hit, end]: [f64; 3]) -> Row {
    let mut row = row(solver, seed, &[(names::SECONDS, end), (names::RMSE_TO_EXACT, 0.01)]);
    let point = |(seconds, value): (f64, f64)| TracePoint {
        iteration: 1,
        seconds,
        epochs: seconds,
        metrics: Metrics::from_iter([(names::RMSE_TO_EXACT.to_owned(), value)]),
    };
    row.trace = [(before, 0.5), (hit, 0.05)].map(point).into();
    row.metrics.insert(names::SECONDS_TO_TARGET, hit);
    row
}

#[test]
fn with_a_target_speed_ups_are_to_the_target() {
    let of = |solver: &str, ends: [[f64; 3]; 3]| -> Vec<Row> {
        (0..).zip(ends).map(|(seed, ends)| to_target(solver, seed, ends)).collect()
    };
    // The solver that reaches the target first ends last.
    let fast = of("fast", [[0.79, 1.0, 90.0], [1.0, 1.26, 95.0], [1.0, 1.26, 99.0]]);
    let slow = of("slow", [[2.0, 2.51, 3.0], [2.51, 3.16, 4.0], [2.51, 3.16, 4.0]]);
    let mut run = run([slow, fast]);
    run.record.report.target =
        Some(Target { metric: names::RMSE_TO_EXACT.to_owned(), bound: TargetBound::Value(0.1) });
    let reached = page(&run);
    assert_eq!(cell(&reached, "fast", "speed-up over slow"), "2.5× [2.0, 3.2]");
    assert!(
        reached.contains(
            "to the target; brackets are 95 % t intervals over seeds, including the distance between"
        ),
        "{reached}"
    );
    assert!(!reached.contains("ERT"), "{reached}");
    // A case that is no longer within the target at its end has not reached it.
    let lost = run.record.rows.iter_mut().find(|row| row.labels.solver == "fast").unwrap();
    lost.metrics.insert(names::RMSE_TO_EXACT, 0.2);
    let missed = page(&run);
    assert_eq!(cell(&missed, "fast", "speed-up over slow"), "2/3");
    assert!(missed.contains("ERT [s]"), "{missed}");
}

#[test]
fn a_target_whose_limit_is_not_known_is_neither_reached_nor_missed() {
    let of = |solver: &str, hit: f64| -> Vec<Row> {
        (0..3).map(|seed| to_target(solver, seed, [0.5, hit, 9.0])).collect()
    };
    let mut run = run([of("slow", 3.0), of("fast", 1.0)]);
    let bound = TargetBound::Within(Margin::Fraction(0.1), TargetReference::Exact);
    run.record.report.target = Some(Target { metric: names::RMSE_TO_EXACT.to_owned(), bound });
    let unknown = page(&run);
    let told =
        "The limit of 6 cases is not known, so their solvers are not counted: there are no exact figures";
    assert!(unknown.contains(told), "{unknown}");
    assert!(!unknown.contains("0/3") && !unknown.contains("ERT"), "{unknown}");
    let between = between(&run, "fast", "slow").unwrap().pair().unwrap();
    assert!(between.sentences[0].contains("is not compared"), "{:?}", between.sentences);
    run.record.rows.iter_mut().for_each(|row| {
        row.metrics.insert(names::TEST_RMSE_EXACT, 1.0);
    });
    let known = page(&run);
    assert!(known.contains("| 1 | fast | 3/3 |") && known.contains("| 2 | slow | 3/3 |"), "{known}");
}

#[test]
fn bars_of_cases_that_missed_the_tolerance_are_open_and_counted() {
    let risky = timed("risky", [4.0, 5.5, 30.0, 3.2, 30.0], 30.0);
    let output = tempfile::tempdir().unwrap();
    let options = WriteOptions { output: Some(output.path().to_owned()) };
    let both = run([timed("safe", [8.0, 9.0, 8.5, 7.5, 9.5], 30.0), risky]);
    let written = write_all(&both, &options).unwrap();
    let bars = written.figures.iter().find(|path| path.ends_with("seconds.svg")).unwrap();
    let bars = fs::read_to_string(bars).unwrap();
    assert!(bars.contains("s, 3/5 ok") && !bars.contains("5/5 ok"), "{bars}");
    let page = fs::read_to_string(&written.markdown).unwrap();
    assert!(page.contains("An open bar with a count, such as 3/5 ok"), "{page}");
}
