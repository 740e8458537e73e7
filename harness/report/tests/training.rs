//! What a report shows of training: its rows, charts, and the distance to exact training.

use std::fs;

use gpbench_record::{GradientEstimator, Landscape, Row, Task, TaskOutput, Training, TrainingOutput};
use gpbench_report::{Format, Run, WriteOptions, export, write_all};
use polars::prelude::{ParquetReader, SerReader};

use crate::support::{charts, trained};

/// The training of a case.
fn training(row: &mut Row) -> &mut Training {
    let Task::Train(training) = &mut row.case.task else { panic!("the case does not train") };
    training
}

/// What a case's training yielded.
fn output(row: &mut Row) -> &mut TrainingOutput {
    let TaskOutput::Train(output) = &mut row.output else { panic!("the case did not train") };
    output
}

#[test]
fn training_has_a_row_for_each_solver_and_estimator() {
    let run = trained();
    let shown = export(&run, Format::Text).unwrap();
    let line = |solver: &str, estimator: &str| {
        let words = |line: &&str| line.split_whitespace().take(2).eq([solver, estimator]);
        shown.lines().find(words).unwrap_or_else(|| panic!("{shown}")).to_owned()
    };
    assert!(line("cg", "pathwise").contains(" 2.0× [2.0, 2.0] "), "{shown}");
    assert!(line("cg", "standard").contains(" 1× "), "{shown}");

    let output = tempfile::tempdir().unwrap();
    let options = WriteOptions { output: Some(output.path().to_owned()) };
    let written = write_all(&run, &options).unwrap();
    let names: Vec<_> = written.figures.iter().map(|f| f.file_name().unwrap().to_str().unwrap()).collect();
    assert!(names.contains(&"training-pol-cg.svg"), "{names:?}");
    assert!(!names.iter().any(|name| name.starts_with("residual")), "{names:?}");
    let steps =
        ParquetReader::new(fs::File::open(output.path().join("steps.parquet")).unwrap()).finish().unwrap();
    assert_eq!(steps.height(), 4 * run.record.rows.len());
    assert!(steps.column("length_scale_0").is_ok());
    let page = fs::read_to_string(&written.markdown).unwrap();
    assert!(page.contains("cold starts"), "the conventions are those of training");
    let html = fs::read_to_string(&written.html).unwrap();
    assert!(html.contains("href=\"steps.parquet\""), "the page does not link the steps");
    assert!(html.contains(" of input 1"), "the models do not name the inputs of length scales");
}

#[test]
fn seconds_of_training_are_the_solver_and_the_rest() {
    let mut run = trained();
    for row in &mut run.record.rows {
        row.metrics.insert("seconds", 7.5);
    }
    let charts = charts(&run);
    let bars = &charts["seconds.svg"];
    for words in ["right-hand sides and gradients", "cg · pathwise", "7.50 + 2.50 s", "7.50 + 12.5 s"] {
        assert!(bars.contains(words), "{words}");
    }
    let along = &charts["training-pol-cg.svg"];
    assert!(along.contains("initial distance") && along.contains("iterations"));
}

#[test]
fn estimators_that_differ_in_their_probes_alone_are_drawn_over_them() {
    let mut run = trained();
    assert!(!charts(&run).keys().any(|name| name.starts_with("probes")));
    let more = run.record.rows.clone().into_iter().map(|mut row| {
        row.id += "-256";
        row.labels.estimator.as_mut().unwrap().push_str("-256");
        let training = training(&mut row);
        training.estimator += "-256";
        training.prediction.targets.probes = 256;
        let GradientEstimator::Solutions { probes, .. } = &mut training.gradient else { panic!() };
        *probes = probes.with_count(256);
        row
    });
    run.record.rows.extend(more.collect::<Vec<_>>());
    let charts = charts(&run);
    let probes = &charts["probes-pol.svg"];
    for words in ["probes", "test RMSE", "seconds of training", "cg · standard", "cg · pathwise", "64", "256"]
    {
        assert!(probes.contains(words), "{words}");
    }
}

/// Training whose noise scales are off by a share, and exact training beside it.
fn trained_exactly_too(off: f64) -> Run {
    let mut run = trained();
    let exact =
        run.record.rows.iter().filter(|row| row.labels.solver == "cholesky").cloned().map(|mut row| {
            row.id += "-exact";
            row.labels.estimator = Some("exact".into());
            training(&mut row).gradient = GradientEstimator::Exact;
            row
        });
    let exact: Vec<Row> = exact.collect();
    for step in run.record.rows.iter_mut().flat_map(|row| output(row).steps.iter_mut()) {
        *step.hyperparameters.get_mut("noise_scale").unwrap() *= 1.0 + off;
    }
    run.record.rows.extend(exact);
    run
}

#[test]
fn training_has_a_distance_to_exact_training() {
    let run = trained_exactly_too(0.025);
    let page = export(&run, Format::Markdown).unwrap();
    let (_, table) = page.split_once("### Distance to exact training").unwrap();
    let (table, _) = table.split_once("\n## ").unwrap();
    // Half of the hyperparameters are noise scales; the others are the same.
    assert!(table.contains("| pol | cg | pathwise | 2.50 % | 2.50 % | 2.50 % |"), "{table}");
    assert!(!table.contains("| exact |"), "{table}");
    let svg = &charts(&run)["training-distance-pol.svg"];
    assert!(svg.contains("cg · standard") && !svg.contains("cholesky · exact"));
    assert!(!charts(&trained()).contains_key("training-distance-pol.svg"));

    // As many steps, but not of the same size: nothing to compare with.
    let mut other = run.clone();
    for training in other.record.rows.iter_mut().map(training) {
        if training.gradient == GradientEstimator::Exact {
            training.learning_rate = 0.01;
        }
    }
    assert!(!export(&other, Format::Markdown).unwrap().contains("### Distance to exact training"));
}

#[test]
fn truncated_training_is_shown_with_exact_training() {
    let mut run = trained_exactly_too(0.0);
    assert!(!charts(&run).keys().any(|name| name.starts_with("truncation")), "a tolerance ended all solves");
    for row in &mut run.record.rows {
        row.case.budget.tolerance = None;
        row.metrics.insert("steps", 4.0);
        row.metrics.insert(
            "iterations",
            if row.labels.estimator.as_deref() == Some("standard") { 80.0 } else { 40.0 },
        );
    }
    let charts = charts(&run);
    let truncation = &charts["truncation-pol.svg"];
    for words in ["iterations of a solve", "test RMSE", "test NLL", "cg · standard", "cg · pathwise"] {
        assert!(truncation.contains(words), "{words}");
    }
    assert!(!truncation.contains("cholesky · exact"), "it is the level");
}

#[test]
fn starts_lie_on_the_quadratic_that_is_minimised() {
    let mut run = trained_exactly_too(0.0);
    assert!(!charts(&run).keys().any(|name| name.starts_with("section")));
    for step in run.record.rows.iter_mut().flat_map(|row| output(row).steps.iter_mut()) {
        let numbers = [("curvature_1", 900.0), ("curvature_2", 100.0), ("start_1", 0.5), ("start_2", -2.0)];
        numbers.into_iter().for_each(|(name, value)| step.metrics.insert(name, value));
    }
    let charts = charts(&run);
    let section = &charts["section-pol.svg"];
    for words in ["in step 4: pol", "standard probes", "pathwise targets", "along the steepest direction"] {
        assert!(section.contains(words), "{words}");
    }
}

#[test]
fn a_landscape_lies_under_the_paths() {
    let mut run = trained();
    for row in &mut run.record.rows {
        let output = output(row);
        for step in &mut output.steps {
            let length = step.hyperparameters.remove("length_scale_0").unwrap();
            step.hyperparameters.insert("length_scale".to_owned(), length);
        }
        output.hyperparameters = output.steps[3].hyperparameters.clone();
    }
    let plain = charts(&run).remove("training-paths-pol.svg").unwrap();
    assert!(!plain.contains("nats below"));
    let scales: Vec<f64> = (-4..=4).map(|e| 10f64.powf(0.25 * f64::from(e))).collect();
    let bowl = |noise: &f64, length: &f64| -40.0 * (noise.ln().powi(2) + (length.ln() - 0.5).powi(2));
    let row_of = |noise: &f64| scales.iter().map(|length| Some(bowl(noise, length))).collect();
    let landscape = Landscape {
        log_likelihood: scales.iter().map(row_of).collect(),
        length_scale: scales.clone(),
        noise_scale: scales.clone(),
    };
    let pol = run.record.rows.iter_mut().find(|row| row.labels.dataset == "pol").unwrap();
    output(pol).landscape = Some(Box::new(landscape));
    let charts = charts(&run);
    let paths = &charts["training-paths-pol.svg"];
    for words in ["nats below", "maximum of the likelihood", "\n10\n", "\n100\n"] {
        assert!(paths.contains(words), "{words}");
    }
    assert!(!charts["training-paths-draw.svg"].contains("nats below"));
}
