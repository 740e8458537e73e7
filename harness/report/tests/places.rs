//! Runs on several machines: whose times are shown and compared, and what the report says of it.

use std::path::Path;

use gpbench_record::{Environment, NodePlace, Row, Shard};
use gpbench_report::{Format, History, Run, between, compare, export};
use gpbench_runs::{MergedRun, NameKind, OtherContent};

use crate::support;

/// The stored run as one of a cluster: all cases on node `n1` of one kind of machine.
fn run() -> Run {
    let mut run = support::run();
    run.record.environments = vec![machine("EPYC 9654", 96)];
    for row in &mut run.record.rows {
        row.environment = Some(run.record.environments[0].kind());
        row.place =
            Some(NodePlace { node: "n1".into(), job: 7, attempt: 1, shared: false, suspended_seconds: 0.0 });
    }
    run
}

fn machine(cpu: &str, cores: usize) -> Environment {
    let (os, memory_bytes) = ("Linux 6.1".into(), 64 << 30);
    Environment { cpu: cpu.into(), cores, os, memory_bytes, ..Environment::default() }
}

fn place(row: &mut Row) -> &mut NodePlace {
    row.place.as_mut().unwrap()
}

/// The rows of a solver on a data set.
fn rows<'r>(run: &'r mut Run, dataset: &str, solver: &str) -> impl Iterator<Item = &'r mut Row> {
    let names = (dataset.to_owned(), solver.to_owned());
    run.record
        .rows
        .iter_mut()
        .filter(move |row| (&row.labels.dataset, &row.labels.solver) == (&names.0, &names.1))
}

/// Moves a row to node `n2`, which is of another kind.
fn move_away(row: &mut Row, kind: &Environment) {
    row.environment = Some(kind.kind());
    place(row).node = "n2".into();
}

/// The tables of a report in Markdown, without what follows `How this was measured`.
fn page(run: &Run) -> String {
    let page = export(run, Format::Markdown).unwrap();
    page.split("## How this was measured").next().unwrap().to_owned()
}

#[test]
fn times_on_nodes_of_its_own_are_compared() {
    let text = export(&run(), Format::Text).unwrap();
    assert!(text.contains("speed-up over") && !text.contains('†'), "{text}");
}

#[test]
fn times_on_shared_nodes_are_marked_and_not_ranked() {
    let mut shared = run();
    shared.record.rows.iter_mut().for_each(|row| place(row).shared = true);
    insta::assert_snapshot!(export(&shared, Format::Text).unwrap());
    let html = export(&shared, Format::Html).unwrap();
    assert!(html.contains("† the times of 17 of 18 cases"), "no note");
}

#[test]
fn suspended_cases_and_divided_blocks_are_marked() {
    let mut run = run();
    let other = machine("Xeon 8480", 112);
    run.record.environments.push(other.clone());
    place(rows(&mut run, "pol", "cg").next().unwrap()).suspended_seconds = 3.0;
    let moved = rows(&mut run, "draw", "cg").nth(1).unwrap();
    move_away(moved, &other);
    place(moved).attempt = 3;
    insta::assert_snapshot!(page(&run));
    // Where all cases of a seed are on the other kind of machine, their times are left out, and no others.
    for row in
        run.record.rows.iter_mut().filter(|row| (row.labels.dataset.as_str(), row.labels.seed) == ("draw", 1))
    {
        move_away(row, &other);
    }
    let page = page(&run);
    assert!(!page.contains("another kind of machine"), "{page}");
    assert!(page.contains("cases were timed in other environments"), "{page}");
}

#[test]
fn comparisons_give_no_verdict_on_times_that_are_not_comparable() {
    let mut shared = run();
    shared.record.rows.iter_mut().for_each(|row| place(row).shared = true);
    let comparison = compare(&[run(), shared.clone()]).unwrap().cases().unwrap();
    assert!(comparison.check.remarks.iter().any(|text| text.starts_with("here, the times of ")));
    let seconds = |row: &&gpbench_report::Compared| row.metric.name.starts_with("seconds");
    assert_eq!(comparison.rows.iter().filter(seconds).count(), 0);
    // Means of times are of the same seeds.
    let [mut first, mut last] = [run(), run()];
    place(rows(&mut first, "draw", "cg").next().unwrap()).suspended_seconds = 1.0;
    place(rows(&mut last, "draw", "cg").nth(1).unwrap()).suspended_seconds = 1.0;
    let comparison = compare(&[first, last]).unwrap().cases().unwrap();
    let of_draw = comparison.rows.iter().filter(|row| row.problem.dataset == "draw").filter(seconds);
    let means: Vec<(usize, bool)> = of_draw.map(|row| (row.seeds, row.means[0] == row.means[1])).collect();
    assert!(!means.is_empty() && means.iter().all(|mean| *mean == (1, true)), "{means:?}");
    // Of two solvers of one run, the block tells.
    let mut divided = run();
    let other = machine("Xeon 8480", 112);
    divided.record.environments.push(other.clone());
    rows(&mut divided, "pol", "cg").for_each(|row| move_away(row, &other));
    let between = between(&divided, "cholesky", "cg").unwrap().pair().unwrap();
    let json = between.json();
    let of_pol = json["rows"].as_array().unwrap().iter().filter(|row| row["dataset"] == "pol");
    let timed = of_pol.filter(|row| row["metric"].as_str().unwrap().starts_with("seconds"));
    assert_eq!(timed.filter(|row| !row["ratio"].is_null()).count(), 0);
    let sentence = "The speed of cholesky and cg is not compared on pol";
    assert!(between.sentences.iter().any(|told| told.starts_with(sentence)), "{:?}", between.sentences);
}

#[test]
fn ratios_of_times_on_different_machines_are_not_shown() {
    let mut faster = run();
    faster.record.environments = vec![machine("Xeon 8480", 112)];
    let kind = faster.record.environments[0].kind();
    faster.record.rows.iter_mut().for_each(|row| row.environment = Some(kind.clone()));
    let table = compare(&[run(), faster]).unwrap().cases().unwrap().table();
    for row in &table.rows {
        let [metric, ratio] = [4, row.len() - 1].map(|at| row[at].text.as_str());
        assert!(!metric.ends_with("[s]") || ratio.is_empty(), "{metric} {ratio}");
    }
    assert!(table.rows.iter().any(|row| !row[row.len() - 1].text.is_empty()));
}

#[test]
fn merged_runs_are_listed_with_what_was_left_out() {
    let mut run = run();
    run.record.rows.iter_mut().for_each(|row| row.place = None);
    let merged = |run: &str, number, revision: &str, rows, left_out| MergedRun {
        run: run.into(),
        shard: Some(Shard { number, count: 2 }),
        plan: "p".into(),
        revision: Some(revision.into()),
        rows,
        left_out,
    };
    run.record.merged =
        vec![merged("uci/a", 1, "0123456789ab", 12, 0), merged("uci/b", 2, "cdef01234567", 6, 4)];
    let page = page(&run);
    let section = page.split("## Where it ran").nth(1).unwrap();
    insta::assert_snapshot!(section);
    let html = export(&run, Format::Html).unwrap();
    assert!(html.contains("id=\"places\"") && html.contains("href=\"#places\""));
}

/// A run with rows of others.
fn merge(name: &str, of: &[&Run], now: &str) -> Run {
    let label = |run: &Run| format!("uci/{}", run.record.folder.file_name().unwrap().to_str().unwrap());
    let mut merged = run_named(name, now);
    merged.record.rows.clear();
    for run in of {
        let own = label(run);
        let rows = run.record.rows.iter().map(|row| Row {
            reused_from: row.reused_from.clone().or_else(|| Some(own.clone())),
            ..row.clone()
        });
        merged.record.rows.extend(rows);
        let one = MergedRun { run: own, shard: None, plan: "p".into(), revision: None, rows: 0, left_out: 0 };
        merged.record.merged.extend(if run.record.merged.is_empty() {
            vec![one]
        } else {
            run.record.merged.clone()
        });
    }
    merged
}

fn run_named(name: &str, finished: &str) -> Run {
    let mut run = run();
    run.record.folder = Path::new("/runs/uci").join(name);
    run.record.name = "uci".into();
    run.record.rows.iter_mut().for_each(|row| row.finished = finished.into());
    run
}

#[test]
fn history_counts_each_row_of_runs_that_were_merged_in_steps_once() {
    let parts = [0, 1, 2].map(|seed| {
        let mut part = run_named(&format!("part{seed}"), "2026-01-01T00:00:00Z");
        part.record.rows.retain(|row| row.labels.seed == seed);
        part
    });
    let [a, b, c] = &parts;
    let first = merge("q1", &[a, b], "2026-01-02T00:00:00Z");
    let both = merge("q2", &[&first, c], "2026-01-03T00:00:00Z");
    let runs = [a, b, c, &first, &both].map(Run::clone);
    let seconds = gpbench_record::metric::find("seconds").unwrap();
    let history = History::new("uci", seconds, &runs).unwrap();
    let found: Vec<(&str, usize)> = history.points.iter().map(|p| (p.run.as_str(), p.seeds)).collect();
    assert!(!found.is_empty() && found.iter().all(|(run, _)| *run == "q2"), "{found:?}");
    let alone = History::new("uci", seconds, &[run_named("q2", "2026-01-03T00:00:00Z")]).unwrap();
    assert_eq!(found, alone.points.iter().map(|p| (p.run.as_str(), p.seeds)).collect::<Vec<_>>());
    // Of two merged runs that share a part, the newer one has its rows.
    let other = merge("q3", &[b, c], "2026-01-04T00:00:00Z");
    let history = History::new("uci", seconds, &[a, b, c, &first, &other].map(Run::clone)).unwrap();
    let of = |name: &str| history.points.iter().filter(|p| p.run == name).map(|p| p.seeds).max();
    assert_eq!((of("q1"), of("q3"), of("part0")), (Some(1), Some(2), None));
}

#[test]
fn contents_that_differ_between_runs_are_listed() {
    let mut run = run();
    assert!(!page(&run).contains("differ between the runs"));
    run.record.other_contents = vec![OtherContent {
        kind: NameKind::Dataset,
        name: "pol [2]".into(),
        sha256: "two".into(),
        beside: "pol".into(),
        beside_sha256: "one".into(),
        runs: vec!["solvers/later".into()],
    }];
    let page = page(&run);
    assert!(page.contains("Data and plugins that differ between the runs"), "{page}");
    assert!(page.contains("| data set pol \\[2\\] | solvers/later | two | pol | one |"), "{page}");
}
