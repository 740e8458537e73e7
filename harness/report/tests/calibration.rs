//! Calibration in reports: columns of the results, the table among the details, charts and captions.

use std::fs;

use gpbench_record::metric::{METRICS, Metric, Shown, of_exact};
use gpbench_record::{CalibrationShares, Row, RowShares, Task, names};
use gpbench_report::{Format, Run, WriteOptions, export, write_all};

use crate::support::{charts, run, trained};

/// Shares of rows of which more or fewer lie in the lowest bin than a tenth.
fn shares(lowest: f64) -> RowShares {
    let mut pit = vec![(1.0 - lowest) / 9.0; RowShares::BINS];
    pit[0] = lowest;
    RowShares { pit, coverage: RowShares::nominal().map(|q| q.powf(1.0 + lowest)).collect() }
}

/// Adds the calibration of predictions whose measures are `off` from those of the exact process.
fn calibrate(row: &mut Row, exact: f64, off: f64) {
    let seed = row.labels.seed as f64;
    let measures: Vec<&Metric> =
        METRICS.iter().filter(|metric| metric.is_shown(Shown::Calibration)).collect();
    for metric in measures {
        row.metrics.insert(metric.name, exact + 0.01 * seed + off);
        row.metrics.insert(of_exact(metric).unwrap().name, exact + 0.01 * seed);
    }
    let found = CalibrationShares { own: shares(0.1 + off), exact: Some(shares(0.1)) };
    row.output.set_calibration(Some(Box::new(found)));
}

/// The stored run with the calibration of its predictions.
fn calibrated() -> Run {
    let mut run = run();
    for row in run.record.rows.iter_mut().filter(|row| row.status.is_answer()) {
        let off = if row.labels.solver == "cholesky" { 0.02 } else { -0.05 };
        calibrate(row, 0.5, off);
    }
    run
}

/// A page of a run: what stands before the details, and these.
fn page(run: &Run) -> (String, String) {
    let page = export(run, Format::Markdown).unwrap();
    let (before, details) = page.split_once("## Details of ").unwrap();
    (before.to_owned(), details.to_owned())
}

#[test]
fn results_have_one_column_and_its_exact_value_and_the_details_have_all() {
    let paper = export(&calibrated(), Format::Latex).unwrap();
    assert!(paper.contains("\\caption{Calibration: pol."), "{paper}");
    let (results, details) = page(&calibrated());
    assert!(results.contains(" coverage 95 % | exact coverage 95 % |"), "{results}");
    assert!(!results.contains("| CRPS |") && !results.contains("coverage 90 %"), "{results}");

    let (_, table) = details.split_once("### Calibration: pol\n").unwrap();
    let (table, _) = table.split_once("\n###").unwrap();
    let heading = "| solver | coverage 50 % | coverage 90 % | coverage 95 % | width 50 % | width 90 % | width 95 % | CRPS | SMSE \
                   | MSLL | mean z² | calibration error | coverage 95 % less exact |";
    assert!(table.contains(heading), "{table}");
    let line = |name: &str| table.lines().find(|line| line.starts_with(&format!("| {name} |"))).unwrap();
    assert!(line("cholesky").starts_with("| cholesky | 0.5300 ± 0.0058 |"), "{table}");
    assert!(line("cholesky").ends_with(r"| 0.0200 \[0.0200, 0.0200\] |"), "{table}");
    assert!(line("cg").ends_with(r"| -0.0500 \[-0.0500, -0.0500\] |"), "{table}");
    assert!(line("jacobi").ends_with("| -0.0500 (2 of 3) |"), "{table}");
    assert!(line("exact process").starts_with("| exact process | 0.5100 ± 0.0058 |"), "{table}");
    assert!(!table.contains("**"), "no predictor is the best by its coverage");
    for words in [
        "paired by seed",
        "95 % t interval",
        "(1/S + 0.111)",
        "one seed has no error",
        "means over 64 posterior samples",
    ] {
        assert!(table.contains(words), "{words}: {table}");
    }
    let crps = METRICS.iter().find(|metric| metric.name == names::CRPS).unwrap();
    assert!(details.contains(&format!("- CRPS: {}", crps.doc())));
}

#[test]
fn a_run_without_calibration_has_neither_table_nor_charts() {
    let (results, details) = page(&run());
    assert!(!results.contains("coverage 95 % |") && !details.contains("### Calibration"));
    assert!(!charts(&run()).keys().any(|name| name.starts_with("calibration") || name.starts_with("pit")));
}

#[test]
fn the_bias_of_sampled_variances_is_named_with_the_number_of_samples() {
    let note = |run: &Run| {
        let (results, _) = page(run);
        let at = results.find("Variances are means over")?;
        Some(
            results[at..]
                .split_once(" intervals to as little as ")
                .map(|(a, b)| format!("{a}: {}", &b[..6]))
                .unwrap(),
        )
    };
    let mut run = run();
    let expected = |count: &str, by: &str, coverage: &str| {
        let what = "posterior samples, which alone raises the NLL";
        Some(format!(
            "Variances are means over {count} {what} {by} and lowers the coverage of 95 %: {coverage}"
        ))
    };
    assert_eq!(note(&run), expected("64", "by up to 0.0083", "0.9456"));
    let set = |run: &mut Run, samples: usize| {
        for row in run.record.rows.iter_mut().filter(|row| row.labels.solver == "cg") {
            let Task::Posterior(posterior) = &mut row.case.task else {
                panic!("the stored cases are posteriors")
            };
            posterior.targets.probes = samples;
        }
    };
    set(&mut run, 16);
    assert_eq!(note(&run), expected("16 to 64", "by up to 0.0395", "0.9323"));
    set(&mut run, 2);
    assert!(
        note(&run).unwrap().contains("2 to 64 posterior samples, which alone raises the NLL without bound")
    );
    // The likelihood is what variances enter.
    for row in &mut run.record.rows {
        let kept = row.metrics.iter().filter(|(name, _)| *name != names::TEST_NLL);
        row.metrics = kept.map(|(name, value)| (name.to_owned(), value)).collect();
    }
    assert_eq!(note(&run), None);
}

#[test]
fn charts_show_the_exact_process_beside_each_solver() {
    let run = calibrated();
    let all = charts(&run);
    let curves = &all["calibration-pol.svg"];
    for words in
        ["Calibration: pol", "exact process", "coverage less probability", "cholesky", "cg", "jacobi"]
    {
        assert!(curves.contains(words), "{words}");
    }
    let bars = &all["pit-draw.svg"];
    for words in
        ["Probability integral transform", "exact process", "calibrated", "share of the test rows", "jacobi"]
    {
        assert!(bars.contains(words), "{words}");
    }
    let output = tempfile::tempdir().unwrap();
    let written = write_all(&run, &WriteOptions { output: Some(output.path().to_owned()) }).unwrap();
    let page = fs::read_to_string(&written.markdown).unwrap();
    let caption = |file: &str| page.lines().skip_while(|line| !line.contains(file)).nth(2).unwrap();
    assert!(
        caption("figures/calibration-pol.svg")
            .contains("what a solver adds is the difference to it. Variances are means over 64")
    );
    assert!(caption("figures/pit-pol.svg").contains("There is no band of chance"));

    // Without an exact process, nothing of it is drawn.
    let mut alone = run;
    for row in &mut alone.record.rows {
        let own = row.output.calibration().map(|shares| shares.own.clone());
        row.output.set_calibration(own.map(|own| Box::new(CalibrationShares { own, exact: None })));
    }
    let alone = charts(&alone);
    for name in ["calibration-pol.svg", "pit-pol.svg"] {
        assert!(!alone[name].contains("exact process"), "{name}");
    }
}

#[test]
fn after_training_each_group_has_an_exact_process_of_its_own() {
    let mut run = trained();
    for row in run.record.rows.iter_mut().filter(|row| row.status.is_answer()) {
        let is_standard = row.labels.estimator.as_deref() == Some("standard");
        calibrate(row, if is_standard { 0.6 } else { 0.5 }, 0.02);
    }
    let (_, details) = page(&run);
    let (_, table) = details.split_once("### Calibration: pol\n").unwrap();
    for line in [
        "| cg | pathwise | 0.5300 ± 0.0058 |",
        "| exact process of cg | pathwise | 0.5100 ± 0.0058 |",
        "| exact process of cg | standard | 0.6100 ± 0.0058 |",
    ] {
        assert!(table.contains(line), "{line}: {table}");
    }
    let all = charts(&run);
    assert!(
        all["calibration-pol.svg"].contains("cg · standard") && all["pit-pol.svg"].contains("cg · pathwise")
    );
}
