//! `gpbench verify` on each task: what a kept solution determines, and forgeries of it; and data that are not at hand.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;

use flate2::{Compression, write::GzEncoder};
use serde_json::Value;

use crate::support::{Ended, Sandbox, library, spec};
use crate::verify::{JSON, Published, STORED, found, result, scaled};

/// What is forged, and the words by which the check of solutions finds it.
type Forgery = (fn(&Published), &'static str);

/// Verifies a published run as it is; the detail of the check of its solutions.
fn agrees(published: &Published, solutions: u64) -> String {
    let ended = published.verify(&[STORED, JSON].concat()).exits(0);
    assert_eq!(result(&ended, "solutions"), ("agrees".to_owned(), solutions, solutions));
    found(&ended, "solutions")["detail"].as_str().unwrap().to_owned()
}

/// Asserts that each forgery of a run is found.
fn are_found(published: &Published, forgeries: &[Forgery]) {
    for (forge, words) in forgeries {
        published.restore();
        forge(published);
        published.is_found(STORED, "solutions", words);
    }
}

/// Replaces a number of a row, which a JSON pointer names.
fn replaced(pointer: &str, number: f64) -> impl Fn(&mut Value) + use<'_> {
    move |row| {
        let place = row.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}"));
        assert!(place.is_number(), "{pointer} is {place}");
        *place = number.into();
    }
}

#[test]
fn calibrations_and_curves_are_those_of_the_solution() {
    let published = Published::in_sandbox(Sandbox::with_spec(&spec("public", &[("d = 2", "d = 1")])));
    assert!(agrees(&published, 2).starts_with("residuals, errors, predictions and their calibration, with"));
    let forgeries: [Forgery; 2] = [
        (
            |run| run.edit_row("cg", replaced("/output/calibration/own/coverage/0", 0.987)),
            "its calibration is not that of its solution",
        ),
        (
            |run| run.edit_row("cg", replaced("/output/curve/mean/3", 9.0)),
            "its curve is not that of its solution",
        ),
    ];
    are_found(&published, &forgeries);
}

#[test]
fn training_is_verified_at_the_hyperparameters_that_its_row_states() {
    let text = spec(
        "public",
        &[
            ("task = \"posterior\"", "task = \"train\""),
            ("features = 20", "features = 20\nwarm_start = true\n\n[train]\nsteps = 3"),
        ],
    );
    let published = Published::in_sandbox(Sandbox::with_spec(&text));
    assert!(agrees(&published, 2).contains("at the learned hyperparameters"));
    let forgeries: [Forgery; 3] = [
        (|run| run.edit_row("cg", replaced("/output/hyperparameters/noise_scale", 0.7)), "residual_y is"),
        (|run| run.edit_row("cg", scaled("log_marginal_likelihood", 1.01)), "log_marginal_likelihood is"),
        (|run| run.edit_row("cholesky", scaled("test_rmse", 0.9)), "test_rmse is"),
    ];
    are_found(&published, &forgeries);
    // A path that no solution holds is not checked, and the table says so.
    published.restore();
    published.edit_row("cg", replaced("/output/steps/0/metrics/epochs", 0.5));
    let ended = published.verify(&[STORED, JSON].concat()).exits(0);
    assert_eq!(result(&ended, "traces and steps"), ("not checked".to_owned(), 0, 2));
}

#[test]
fn a_learners_model_and_its_predictions_are_verified() {
    let learners = library("gpbench_learners");
    let solver = |name: &str, batch: u32| {
        format!(
            "[solver.{name}]\nplugin = \"scale-descent\"\nlibrary = \"{}\"\nparams.batch = {batch}\n",
            learners.display()
        )
    };
    let text = format!(
        r#"schema = 1
name = "public"
task = "learn"
seeds = [0]

[matrix]
dataset = ["draw"]
kernel = ["matern32"]
solver = ["descent", "other"]

[dataset.draw]
from = "gp-draw"
n = 100
d = 2
noise_scale = 0.2
length_scale = 0.5

[kernel.matern32]
hyperparameters = {{ signal_scale = 2.0, noise_scale = 1.0, length_scale = 1.0 }}

[learn]
epochs = 4
every = 2
select = "nlml"

{}
{}"#,
        solver("descent", 32),
        solver("other", 16)
    );
    let published = Published::in_sandbox(Sandbox::with_spec(&text));
    assert!(agrees(&published, 2).starts_with("errors, likelihood, predictions and hyperparameters of "));
    let forgeries: [Forgery; 5] = [
        (|run| run.edit_row("descent", scaled("test_rmse", 0.9)), "test_rmse is"),
        (|run| run.edit_row("descent", scaled("nlml", 0.99)), "nlml is"),
        (
            |run| run.edit_row("descent", replaced("/output/hyperparameters/noise_scale", 0.7)),
            "its hyperparameters are not those of its solution",
        ),
        (
            |run| run.edit_row("descent", |row| row["output"]["model"] = "inducing".into()),
            "its model is of another kind",
        ),
        (
            |run| {
                fs::copy(run.solution("other"), run.solution("descent")).unwrap();
            },
            "descent/seed 0: ",
        ),
    ];
    are_found(&published, &forgeries);
}

#[test]
fn the_points_of_a_search_are_evaluated_again() {
    let text = r#"schema = 1
name = "public"
task = "thompson"
seeds = [0]

[matrix]
dataset = ["draw"]
kernel = ["matern32"]
estimator = ["pathwise"]
solver = ["cholesky", "cg"]

[dataset.draw]
from = "objective"
n = 60
d = 1

[kernel.matern32]
hyperparameters = "generating"

[estimator.pathwise]
probes = 2
features = 50

[thompson]
steps = 3
candidates = { rounds = 2, points = 50 }
ascent.steps = 5

[budget]
tolerance = 1e-3
"#;
    let published = Published::in_sandbox(Sandbox::with_spec(text));
    assert!(agrees(&published, 2).starts_with("values of the objective at the points of each step"));
    let forgeries: [Forgery; 4] = [
        (|run| run.edit_row("cg", scaled("best", 1.01)), "best is"),
        (
            |run| run.edit_row("cg", replaced("/output/points/0", 0.123)),
            "its points are not those of its solution",
        ),
        (
            |run| run.edit_row("cg", replaced("/output/steps/0/metrics/best", 9.0)),
            "the best values of its steps are not those at its points",
        ),
        (
            |run| run.edit_row("cg", replaced("/output/random_search/0", 9.0)),
            "its random search is not that of its objective",
        ),
    ];
    are_found(&published, &forgeries);
}

/// Writes a set of the registry, `yacht`, with rows of our own in the layout of the collection: 308 rows of 6 inputs
/// and a target, and one split.
fn write_yacht(sandbox: &Sandbox, folder: &str, factor: f64) {
    let (mut data, mut masks) = (String::new(), String::new());
    for row in 0..308_u32 {
        let at = f64::from(row);
        let inputs = [0.61, 0.37, 0.23, 0.71, 0.53, 0.17].map(|step: f64| (step * at).fract());
        let target = factor * (6.0 * inputs[0]).sin() + inputs[1] + 0.1 * (17.0 * at).cos();
        let inputs = inputs.map(|input| format!("{input:.6}")).join(",");
        writeln!(data, "{inputs},{target:.6}").unwrap();
        writeln!(masks, "{}", u8::from(row.is_multiple_of(10))).unwrap();
    }
    let files = sandbox.path(&format!("{folder}/yacht"));
    fs::create_dir_all(&files).unwrap();
    for (name, text) in [("data.csv.gz", &data), ("test_mask.csv.gz", &masks)] {
        let mut file = GzEncoder::new(File::create(files.join(name)).unwrap(), Compression::fast());
        file.write_all(text.as_bytes()).unwrap();
        file.finish().unwrap();
    }
}

#[test]
fn a_set_of_the_registry_is_verified_where_it_is_at_hand() {
    let text = spec(
        "public",
        &[
            ("dataset = [\"draw\"]", "dataset = [\"yacht\"]"),
            ("[dataset.draw]\nfrom = \"gp-draw\"\nn = 60\nd = 2\n\n", ""),
        ],
    );
    let sandbox = Sandbox::with_spec(&text);
    write_yacht(&sandbox, "uci", 1.0);
    write_yacht(&sandbox, "other", 2.0);
    let published = Published::with(sandbox, &["--data-dir", "uci"]);
    // Without the data, nothing is claimed, and the table says what is missing.
    let absent = published.verify(&[STORED, JSON].concat()).exits(4);
    let told = "not checked: data set `yacht` is not here; set GPBENCH_DATA";
    for (check, of) in [("solutions", 2), ("data sets", 1)] {
        assert_eq!(result(&absent, check), ("not checked".to_owned(), 0, of));
        let detail = found(&absent, check)["detail"].to_string();
        assert!(detail.contains(told), "{detail}");
    }
    // With them, by the variable as by the option.
    let verify = ["verify", "forged.gpbench", "--rerun", "0"];
    let mut command = published.sandbox.command(&verify);
    Ended::of(command.env("GPBENCH_DATA", published.sandbox.path("uci"))).exits(0);
    let at_hand = published.verify(&[STORED, JSON, &["--data-dir", "uci"]].concat()).exits(0);
    assert_eq!(result(&at_hand, "solutions"), ("agrees".to_owned(), 2, 2));
    assert_eq!(result(&at_hand, "data sets"), ("agrees".to_owned(), 1, 1));
    // Other rows under the same name.
    let others = [STORED, &["--data-dir", "other"]].concat();
    published.is_found(&others, "data sets", "`yacht` has another content here");
    published.is_found(&others, "solutions", "cg/seed 0: ");
}
