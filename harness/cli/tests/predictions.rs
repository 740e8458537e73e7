//! `predictions.parquet`: the metrics of the report follow from it, and it stays with its cases.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;

use polars::prelude::{DataFrame, ParquetReader, SerReader};

use crate::support::{Sandbox, library, spec};

const DRAWN: &str = "from = \"gp-draw\"\nn = 60\nd = 2";

/// Longitude, depth and oxygen of these numbers of rows: a smooth function with noise that is not random.
fn rows(numbers: std::ops::Range<u32>) -> Vec<[f64; 3]> {
    let row = |number: u32| {
        let at = f64::from(number);
        let (lon, depth) = (7.0 + 0.5 * (0.61 * at).fract(), 200.0 * (0.37 * at).fract());
        [lon, depth, 250.0 + 40.0 * (4.0 * lon).sin() - 0.3 * depth + 5.0 * (17.0 * at).cos()]
    };
    numbers.map(row).collect()
}

/// The rows as CSV, in another order of the columns where this is so.
fn csv(rows: &[[f64; 3]], turned: bool) -> String {
    let mut text = if turned { "oxygen,depth,lon\n" } else { "lon,depth,oxygen\n" }.to_owned();
    for [lon, depth, oxygen] in rows {
        let [first, last] = if turned { [oxygen, lon] } else { [lon, oxygen] };
        writeln!(text, "{first},{depth},{last}").unwrap();
    }
    text
}

/// A table of the newest run of a name.
fn table(sandbox: &Sandbox, run: &str, file: &str) -> DataFrame {
    parquet(&sandbox.path(&format!("reports/{run}/latest/{file}.parquet")))
}

fn parquet(path: &Path) -> DataFrame {
    ParquetReader::new(File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
        .finish()
        .unwrap()
}

/// A column of numbers, those that are null as NaN.
fn numbers(table: &DataFrame, name: &str) -> Vec<f64> {
    let column = table.column(name).unwrap_or_else(|error| panic!("{error}"));
    column.f64().unwrap().iter().map(|number| number.unwrap_or(f64::NAN)).collect()
}

fn texts(table: &DataFrame, name: &str) -> Vec<String> {
    table.column(name).unwrap().str().unwrap().iter().map(|text| text.unwrap().to_owned()).collect()
}

/// The predictions of one case.
#[derive(Default)]
struct Predicted {
    row: Vec<u64>,
    target: Vec<f64>,
    mean: Vec<f64>,
    deviation: Vec<f64>,
    latent: Vec<f64>,
    limits: Vec<[f64; 2]>,
}

fn predicted(predictions: &DataFrame, id: &str) -> Predicted {
    let row: Vec<u64> =
        predictions.column("row").unwrap().u64().unwrap().iter().map(Option::unwrap).collect();
    let [target, mean, deviation, latent, lower, upper] =
        ["target", "mean", "deviation", "latent_deviation", "lower_95", "upper_95"]
            .map(|name| numbers(predictions, name));
    let mut found = Predicted::default();
    let ids = texts(predictions, "id");
    for at in (0..ids.len()).filter(|at| ids[*at] == id) {
        found.row.push(row[at]);
        found.target.push(target[at]);
        found.mean.push(mean[at]);
        found.deviation.push(deviation[at]);
        found.latent.push(latent[at]);
        found.limits.push([lower[at], upper[at]]);
    }
    found
}

#[track_caller]
fn assert_close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{what}: {found}, not {expected}");
}

/// Asserts that the metrics of every case follow from its predictions; the test rows of each case, by its seed.
#[track_caller]
fn check(sandbox: &Sandbox, run: &str) -> Vec<(u64, Predicted)> {
    let (results, predictions) = (table(sandbox, run, "results"), table(sandbox, run, "predictions"));
    let metric = |name: &str| numbers(&results, name);
    let [rmse, in_units, nll, coverage, scale] =
        ["test_rmse", "test_rmse_units", "test_nll", "coverage_95", "target_scale"].map(metric);
    let seeds: Vec<u64> = results.column("seed").unwrap().u64().unwrap().iter().map(Option::unwrap).collect();
    let ids = texts(&results, "id");
    let cases: Vec<Predicted> = ids.iter().map(|id| predicted(&predictions, id)).collect();
    for (at, case) in cases.iter().enumerate() {
        let count = case.row.len() as f64;
        assert!(count > 0.0, "case {at} has no predictions");
        let error: Vec<f64> =
            case.target.iter().zip(&case.mean).map(|(target, mean)| target - mean).collect();
        let found = (error.iter().map(|error| error * error).sum::<f64>() / count).sqrt();
        assert_close(in_units[at], found, "test_rmse_units");
        assert_close(rmse[at], found / scale[at], "test_rmse");
        let density = error.iter().zip(&case.deviation).map(|(error, deviation)| {
            let deviation = deviation / scale[at];
            let z = error / scale[at] / deviation;
            0.5 * (z * z + (2.0 * std::f64::consts::PI).ln()) + deviation.ln()
        });
        assert_close(nll[at], density.sum::<f64>() / count, "test_nll");
        let is_covered = |at: &usize| (case.limits[*at][0]..=case.limits[*at][1]).contains(&case.target[*at]);
        assert_close(
            coverage[at],
            (0..case.row.len()).filter(is_covered).count() as f64 / count,
            "coverage_95",
        );
        for place in 0..case.row.len() {
            let [lower, upper] = case.limits[place];
            assert_close(upper - lower, 2.0 * 1.959963984540054 * case.deviation[place], "the interval");
            assert!(case.latent[place] < case.deviation[place], "noise widens the interval");
        }
    }
    seeds.into_iter().zip(cases).collect()
}

/// Mean and standard deviation of a column over the rows of the file that are not test rows.
fn moments(rows: &[[f64; 3]], test: &[u64], column: usize) -> (f64, f64) {
    let values: Vec<f64> =
        (0..rows.len()).filter(|row| !test.contains(&(*row as u64))).map(|row| rows[row][column]).collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64;
    (mean, variance.sqrt())
}

#[test]
fn metrics_of_solvers_follow_from_the_predictions_of_a_users_file() {
    let text = spec(
        "sea",
        &[(DRAWN, "path = \"sea.csv\""), ("seeds = [0]", "seeds = [0, 1]"), ("probes = 2", "probes = 8")],
    );
    let sandbox = Sandbox::with_spec(&text);
    let all = rows(0..90);
    sandbox.write("sea.csv", &csv(&all, false));
    sandbox.run(&["run", "spec.toml"]).exits(0);
    let cases = check(&sandbox, "sea");
    assert_eq!(cases.len(), 4);
    for (_, case) in &cases {
        assert_eq!(case.row.len(), 9, "a tenth of the rows");
        assert!(case.row.iter().zip(&case.target).all(|(row, target)| all[*row as usize][2] == *target));
    }
    let rows_of =
        |seed: u64| cases.iter().find(|(other, _)| *other == seed).map(|(_, case)| case.row.clone());
    assert_ne!(rows_of(0), rows_of(1), "seeds select splits");
    let results = table(&sandbox, "sea", "results");
    let (_, deviation) = moments(&all, &rows_of(0).unwrap(), 1);
    let length = numbers(&results, "units.length_scale.depth");
    assert!(length.iter().any(|length| (length - deviation).abs() < 1e-9), "{length:?}, not {deviation}");
    assert!(results.column("learned.noise_scale").is_err(), "nothing was learned");
    let page = sandbox.read("reports/sea/latest/report.md").replace('\\', "");
    assert!(page.contains("RMSE in units") && page.contains(" of depth"), "{page}");
    assert!(sandbox.read("reports/sea/latest/index.html").contains("href=\"predictions.parquet\""));
    // Asked for none, they are other cases, whose results are the same.
    sandbox
        .run(&["run", "spec.toml", "--set", "dataset.draw.predictions=false", "--set", "name=\"none\""])
        .exits(0);
    assert!(!sandbox.path("reports/none/latest/predictions.parquet").exists());
    let none = table(&sandbox, "none", "results");
    let sorted = |table: &DataFrame| {
        let mut rmse = numbers(table, "test_rmse");
        rmse.sort_by(f64::total_cmp);
        rmse
    };
    assert_eq!(sorted(&none), sorted(&results));
}

#[test]
fn they_stay_with_cases_that_are_re_used_and_merged() {
    let text = spec("sea", &[(DRAWN, "path = \"sea.csv\""), ("seeds = [0]", "seeds = [0, 1]")]);
    let sandbox = Sandbox::with_spec(&text);
    sandbox.write("sea.csv", &csv(&rows(0..50), false));
    for shard in ["1/2", "2/2"] {
        sandbox.run(&["run", "spec.toml", "--shard", shard]).exits(0);
    }
    sandbox.run(&["merge", "sea"]).exits(0);
    sandbox.run(&["report", "sea"]).exits(0);
    assert_eq!(check(&sandbox, "sea").len(), 4);
    let again = sandbox.run(&["run", "spec.toml", "--set", "name=\"again\"", "-s", "cg"]).exits(0);
    assert!(again.stderr.contains("finished cases re-used from earlier runs: 2"), "{}", again.stderr);
    assert_eq!(check(&sandbox, "again").len(), 2);
    // What `clean` removes holds none of them, and the report is made anew from the journal.
    sandbox.run(&["clean"]).exits(0);
    fs::remove_file(sandbox.path("reports/again/latest/predictions.parquet")).unwrap();
    sandbox.run(&["report", "again"]).exits(0);
    assert_eq!(check(&sandbox, "again").len(), 2);
}

#[test]
fn trained_scales_are_in_columns_of_their_own_and_in_the_units_of_the_file() {
    let text = spec(
        "trained",
        &[
            (DRAWN, "path = \"sea.csv\"\ntest = \"held-out.csv\""),
            ("task = \"posterior\"", "task = \"train\""),
            (
                "hyperparameters = { signal_scale = 1.0, noise_scale = 0.1, length_scale = 1.0 }",
                "hyperparameters = \"ones\"",
            ),
            ("[estimator.pathwise]", "[train]\nsteps = 5\n\n[estimator.pathwise]"),
            ("seeds = [0]", "seeds = [0, 1]"),
            ("probes = 2", "probes = 8"),
        ],
    );
    let sandbox = Sandbox::with_spec(&text);
    let training = rows(0..70);
    sandbox.write("sea.csv", &csv(&training, false));
    let mut test = rows(70..80);
    test[3][0] = 9.0;
    sandbox.write("held-out.csv", &csv(&test, true));
    let said = "1 of 10 test rows (10.0 %) lies outside the range of the training rows, where predictions extrapolate: in `lon` (1)";
    for verb in ["plan", "run"] {
        sandbox.run(&[verb, "spec.toml"]).exits(0).says(&["data set `draw`: ", said]);
    }
    assert!(sandbox.read("reports/trained/latest/report.md").replace('\\', "").contains(said));
    for (_, case) in check(&sandbox, "trained") {
        assert_eq!(
            case.row,
            (0..10).collect::<Vec<u64>>(),
            "rows are counted in the file of test rows, for every seed"
        );
        assert!(case.target.iter().zip(&test).all(|(target, row)| *target == row[2]));
    }
    let results = table(&sandbox, "trained", "results");
    let column = |name: &str| numbers(&results, name);
    assert!(column("kernel.noise_scale").iter().all(|start| *start == 1.0), "the start");
    assert!(column("learned.noise_scale").iter().all(|learned| *learned != 1.0));
    let ratio = |name: &str, of: &str| -> Vec<f64> {
        column(name).iter().zip(column(of)).map(|(in_units, learned)| in_units / learned).collect()
    };
    for (name, of, index) in [
        ("units.length_scale.lon", "learned.length_scale_0", 0),
        ("units.length_scale.depth", "learned.length_scale_1", 1),
        ("units.noise_scale", "learned.noise_scale", 2),
    ] {
        let (_, deviation) = moments(&training, &[], index);
        ratio(name, of).iter().for_each(|ratio| assert_close(*ratio, deviation, name));
    }
}

#[test]
fn a_learners_model_predicts_the_held_out_rows() {
    let text = r#"schema = 1
name = "learned"
task = "learn"
seeds = [0]
[matrix]
dataset = ["sea"]
kernel = ["matern32"]
solver = ["descent"]
[dataset.sea]
path = "sea.csv"
test = "held-out.csv"
[kernel.matern32]
hyperparameters = { signal_scale = 1.0, noise_scale = 0.3, length_scale = 1.0 }
[learn]
epochs = 4
[solver.descent]
plugin = "scale-descent"
library = "LIBRARY"
params.batch = 16
"#;
    let sandbox =
        Sandbox::with_spec(&text.replace("LIBRARY", &library("gpbench_learners").display().to_string()));
    sandbox.write("sea.csv", &csv(&rows(0..60), false));
    sandbox.write("held-out.csv", &csv(&rows(60..66), true));
    sandbox.run(&["run", "spec.toml"]).exits(0);
    let cases = check(&sandbox, "learned");
    assert_eq!((cases.len(), cases[0].1.row.len()), (1, 6));
}

#[test]
fn intervals_at_known_scales_hold_the_share_that_they_state() {
    let seeds: Vec<String> = (0..20).map(|seed| seed.to_string()).collect();
    let seeds = format!("seeds = [{}]", seeds.join(", "));
    let draw = "from = \"gp-draw\"\nn = 200\nn_test = 200\nd = 2\nnoise_scale = 0.5\nlength_scale = 0.5";
    let given = "hyperparameters = { signal_scale = 1.0, noise_scale = 0.1, length_scale = 1.0 }";
    let changes = [
        (DRAWN, draw),
        (given, "hyperparameters = \"generating\""),
        ("seeds = [0]", seeds.as_str()),
        ("probes = 2", "probes = 64"),
        ("features = 20", "features = 1000"),
    ];
    let sandbox = Sandbox::with_spec(&spec("honest", &changes));
    sandbox.run(&["run", "spec.toml", "-s", "cholesky"]).exits(0);
    let cases = sandbox.cases();
    assert_eq!(cases.len(), 20);
    for metric in ["coverage_95", "coverage_95_exact"] {
        let of_case = |case: &serde_json::Value| case["metrics"][metric].as_f64().unwrap();
        let mean = cases.iter().map(of_case).sum::<f64>() / 20.0;
        assert!((0.93..=0.97).contains(&mean), "{metric}: {mean}");
    }
}

#[test]
fn test_rows_that_repeat_training_rows_are_warned_of() {
    let text = spec("known", &[(DRAWN, "path = \"sea.csv\"\ntest = \"held-out.csv\"")]);
    let sandbox = Sandbox::with_spec(&text);
    let all = rows(0..60);
    sandbox.write("sea.csv", &csv(&all, false));
    sandbox.write("held-out.csv", &csv(&[&all[..2], &rows(60..70)].concat(), false));
    let said = "2 of 12 test rows have inputs of training rows; errors there are not those at new inputs";
    sandbox.run(&["plan", "spec.toml"]).exits(0).says(&[&format!("warning: data set `draw`: {said}")]);
    sandbox.run(&["run", "spec.toml", "-s", "cholesky"]).exits(0).says(&[said]);
    assert!(sandbox.read("reports/known/latest/report.md").contains(said));
}

#[test]
fn predictions_that_are_too_many_to_be_kept_are_warned_of() {
    let own = "path = \"sea.csv\"\nfractions = { train = 0.1, test = 0.88 }";
    let sandbox = Sandbox::with_spec(&spec("many", &[(DRAWN, own)]));
    sandbox.write("sea.csv", &csv(&rows(0..12_000), false));
    let said = "warning: data set `draw`: it has more than 10000 test rows, so that predictions.parquet leaves them out";
    sandbox.run(&["plan", "spec.toml"]).exits(0).says(&[said]);
    let kept = sandbox.run(&["plan", "spec.toml", "--set", "dataset.draw.predictions=true"]).exits(0);
    assert!(!kept.stderr.contains("predictions.parquet"), "{}", kept.stderr);
}

#[test]
fn import_shows_the_range_of_the_test_rows() {
    let sandbox = Sandbox::new();
    sandbox.write("sea.csv", &csv(&rows(0..40), false));
    sandbox.write("held-out.csv", &csv(&rows(3..5), true));
    let shown =
        sandbox.run(&["data", "import", "sea.csv", "--test", "held-out.csv", "--target", "oxygen"]).exits(0);
    let words: Vec<&str> = shown.stdout.split_whitespace().collect();
    let words = words.join(" ");
    for expected in [
        "sea.csv: 40 training rows, 2 test rows of held-out.csv, 2 inputs target: oxygen",
        "split: all rows are training rows, and those of `held-out.csv` are test rows; 0 of 2 test rows lie outside the range of the \
         training rows",
        "path = \"sea.csv\" test = \"held-out.csv\" target = \"oxygen\"",
    ] {
        assert!(words.contains(expected), "`{expected}` is missing in:\n{}", shown.stdout);
    }
    sandbox.write("held-out.csv", "lon,oxygen\n1,2\n");
    let refused = sandbox.run(&["data", "import", "sea.csv", "--test", "held-out.csv"]).exits(2);
    refused.says(&["held-out.csv: the file lacks the column `depth` of sea.csv"]);
}
