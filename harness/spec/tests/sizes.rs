//! Specs that do not fit the sizes of their data sets, and mistakes that must not hide others.

use gpbench_record::{Capability, ParamKind, ParamSchema, ParamValue};
use gpbench_spec::{Catalog, DatasetSize, SpecErrors, TrainingRows, load};

use crate::common::{self, check_text, check_text_against};

/// A spec on a user's file; `dataset` is the rest of its table.
fn spec(task: &str, dataset: &str, rest: &str) -> String {
    let solver = if task == "learn" { "poe" } else { "cholesky" };
    format!(
        r#"schema = 1
name = "sizes"
task = "{task}"
seeds = [0, 1]
[matrix]
dataset = ["mine"]
kernel = ["rbf"]
solver = ["{solver}"]
[dataset.mine]
path = "mine.csv"
{dataset}
{rest}
"#
    )
}

/// A catalogue in which data set `mine` was read.
fn catalog(size: Result<DatasetSize, String>) -> Catalog {
    let sizes = [("mine".to_owned(), size)].into();
    Catalog { sizes, ..common::catalog() }
}

/// A file with two inputs, of whose splits nine rows in ten are for training.
fn drawn(rows: usize) -> Catalog {
    let training = TrainingRows::Drawn(rows - (rows / 10).max(1));
    catalog(Ok(DatasetSize { rows, inputs: 2, training, groups: 0, has_replicates: false }))
}

/// The only mistake, as `line:column: what; hint`.
#[track_caller]
fn mistake(text: &str, catalog: &Catalog) -> String {
    let errors = check_text_against(text, &[], catalog).map(|_| ()).expect_err(text);
    let [error] = errors.errors() else { panic!("{errors}") };
    let hint = error.hint.as_ref().map_or_else(String::new, |hint| format!("; {hint}"));
    format!("{}:{}: {}{hint}", error.line, error.column, error.what)
}

#[test]
fn a_split_that_leaves_too_few_rows_is_reported_at_the_key_that_asks_for_it() {
    for (rows, dataset, expected) in [
        (
            2,
            "",
            "10:8: data set `mine` has 1 training rows and 1 test rows, of 2 rows; at least 2 and 1 are needed; add rows",
        ),
        (
            100,
            "fractions = { train = 0.004, test = 0.5 }",
            "11:13: data set `mine` has 0 training rows and 50 test rows, of 100 rows; at least 2 and 1 are needed; give larger shares",
        ),
        (
            100,
            "fractions = { train = 0.5, test = 0.004 }",
            "11:13: data set `mine` has 50 training rows and 0 test rows, of 100 rows; at least 2 and 1 are needed; give larger shares",
        ),
        // 4.5 rows are rounded to all five.
        (
            5,
            "fractions = { train = 0.9, test = 0.1 }",
            "11:13: data set `mine` has 5 training rows and 0 test rows, of 5 rows; at least 2 and 1 are needed; give larger shares",
        ),
        (100, "subsample = 91", "11:13: data set `mine` has 90 training rows, fewer than 91"),
        (
            100,
            "subsample = 1",
            "11:13: the subsample of data set `mine` has 1 rows of its 90 training rows; at least 2 are needed",
        ),
        (
            100,
            "subsample = 0.01",
            "11:13: the subsample of data set `mine` has 1 rows of its 90 training rows; at least 2 are needed",
        ),
    ] {
        assert_eq!(mistake(&spec("posterior", dataset, ""), &drawn(rows)), expected);
    }
    // What needs no size is found without the file.
    let unknown = mistake(&spec("posterior", "subsample = 1", ""), &common::catalog());
    assert_eq!(unknown, "11:13: the subsample of data set `mine` has 1 rows; at least 2 are needed");
    for (rows, dataset) in [(3, ""), (100, "subsample = 90"), (100, "subsample = 2"), (5, "subsample = 0.5")]
    {
        check_text_against(&spec("posterior", dataset, ""), &[], &drawn(rows)).expect(dataset);
    }
}

#[test]
fn rows_for_validation_are_counted_too() {
    let learn = |dataset: &str, share: &str| {
        spec("learn", dataset, &format!("[learn]\nepochs = 2\nvalidation = {share}"))
    };
    for (rows, dataset, share, expected) in [
        (
            20,
            "",
            "0.01",
            "14:14: validation = 0.01 of the 20 rows of data set `mine` is no row; give a larger share",
        ),
        (
            20,
            "",
            "0.9",
            "14:14: validation = 0.9 leaves 0 training rows of data set `mine`; at least 2 are needed",
        ),
        (
            20,
            "subsample = 15",
            "0.2",
            "14:14: validation = 0.2 leaves 14 training rows of data set `mine`; at least 15 are needed",
        ),
        (
            5,
            "fractions = { train = 0.5, test = 0.3 }",
            "0.2",
            "14:14: validation = 0.2 of the 5 rows of data set `mine` is no row; give a larger share",
        ),
    ] {
        assert_eq!(mistake(&learn(dataset, share), &drawn(rows)), expected);
    }
    check_text_against(&learn("subsample = 14", "0.2"), &[], &drawn(20)).expect("enough rows");
}

#[test]
fn the_masks_of_a_folder_decide_the_training_rows() {
    let masked = |rows| {
        let training = TrainingRows::Masked(rows);
        catalog(Ok(DatasetSize { rows: 20, inputs: 2, training, groups: 0, has_replicates: false }))
    };
    let inducing = spec("posterior", "", "[solver.few]\nplugin = \"sgd-rff\"\n[budget]\nmax_epochs = 1")
        .replace("\"cholesky\"", "\"few\"")
        + "[solver.few.inducing]\nselect = \"subset\"\npoints = 11";
    let found = mistake(&inducing, &masked(vec![15, 10]));
    assert!(
        found.starts_with("18:10: 11 inducing points, but data set `mine` has 10 training rows"),
        "{found}"
    );
    check_text_against(&inducing, &[], &masked(vec![11, 11])).expect("enough rows");

    let whole = mistake(&spec("posterior", "", ""), &masked(vec![15, 20]));
    assert!(
        whole.starts_with("10:8: split 1 of data set `mine` has 20 training rows and 0 test rows"),
        "{whole}"
    );
    let fewer = mistake(&spec("posterior", "", ""), &masked(vec![15]));
    assert!(fewer.contains("data set `mine` has no split 1, only 0 to 0"), "{fewer}");
    // Shares replace the masks.
    let shares = spec("posterior", "fractions = { train = 0.5, test = 0.5 }", "");
    check_text_against(&shares, &[], &masked(vec![15, 20])).expect("shares leave rows of both kinds");
}

#[test]
fn length_scales_are_counted_against_the_inputs_of_the_file() {
    let scales =
        "[kernel.rbf]\nhyperparameters = { signal_scale = 1, noise_scale = 1, length_scale = [1, 2, 3] }";
    let found = mistake(&spec("posterior", "categories = [\"a\"]", scales), &drawn(100));
    assert_eq!(
        found,
        "13:71: 3 length scales for the 2 inputs of data set `mine`; give one number, which all inputs share, or one \
         for every input"
    );
}

#[test]
fn collapsed_duplicates_go_with_linear_systems_alone() {
    for task in ["train", "likelihood"] {
        let found = mistake(&spec(task, "collapse_duplicates = true", ""), &drawn(100));
        assert!(found.starts_with("11:23: `collapse_duplicates` does not go with "), "{found}");
    }
}

#[test]
fn a_file_that_cannot_be_read_hides_no_other_mistake() {
    let unreadable = catalog(Err("mine.csv: the target column `z` does not exist".to_owned()));
    let text = spec("train", "subsample = 1", "[train]\nmean = \"x\"\n[budget]\ntolerance = 2");
    let text = text.replace("\"cholesky\"", "\"cg\"").replace("\"rbf\"", "\"rbff\"");
    let errors = check_text_against(&text, &[], &unreadable).map(|_| ()).unwrap_err().to_string();
    for expected in [
        "unknown kernel `rbff`",
        "data set `mine`: mine.csv: the target column `z` does not exist",
        "the subsample of data set `mine` has 1 rows",
        "unknown mean \"x\"",
        "`tolerance` must lie between 0 and 1",
    ] {
        assert!(errors.contains(expected), "{expected}\n\n{errors}");
    }
}

#[test]
fn a_mistake_elsewhere_does_not_hide_a_missing_bound() {
    let text = spec("train", "", "[train]\nmean = \"x\"").replace("\"cholesky\"", "\"cg\"");
    let errors = check_text(&text, &[]).map(|_| ()).unwrap_err().to_string();
    assert!(
        errors.contains("unknown mean") && errors.contains("nothing bounds the iterative solver"),
        "{errors}"
    );
    // A bound that cannot be read is one mistake.
    let text = spec("train", "", "[budget]\ntime = \"3\"").replace("\"cholesky\"", "\"cg\"");
    assert!(mistake(&text, &common::catalog()).contains("`3` lacks a unit"));
}

#[test]
fn without_a_task_the_names_are_checked() {
    let text = spec("posterior", "", "").replace("task = ", "tak = ").replace("\"rbf\"", "\"rbff\"");
    let unreadable = catalog(Err("mine.csv: the file is empty".to_owned()));
    let errors: SpecErrors = check_text_against(&text, &[], &unreadable).map(|_| ()).unwrap_err();
    let errors = errors.to_string();
    for expected in ["lacks `task`", "unknown key `tak`", "unknown kernel `rbff`", "the file is empty"] {
        assert!(errors.contains(expected), "{expected}\n\n{errors}");
    }
}

#[test]
fn a_parameter_is_finite_where_its_schema_has_no_bound() {
    let step = ParamSchema {
        kind: ParamKind::Float,
        default: ParamValue::Float(0.1),
        min: None,
        max: None,
        ..common::int("step", 0, 0.0, 0.0)
    };
    let free = common::library("free", vec![common::solver("free", &[Capability::Exact], vec![step])]);
    let mut catalog = common::catalog();
    catalog.libraries.push(free);
    for value in ["inf", "-inf", "nan", "1e400", "[0.1, inf]", "{ mine = 1e400 }"] {
        let text = spec("posterior", "", &format!("[solver.free.params]\nstep = {value}"));
        let text = text.replace("\"cholesky\"", "\"free\"");
        let errors = check_text_against(&text, &[], &catalog).map(|_| ()).expect_err(value);
        assert!(errors.to_string().contains("parameter `step` cannot be "), "{value}: {errors}");
        assert!(errors.to_string().contains("it is finite"), "{value}: {errors}");
    }
}

#[test]
fn scales_that_no_kernel_takes_are_refused() {
    let kernel =
        |scales: &str| spec("posterior", "", &format!("[kernel.rbf]\nhyperparameters = {{ {scales} }}"));
    for scales in [
        "signal_scale = 1, noise_scale = 1e-200, length_scale = 1",
        "signal_scale = 1e101, noise_scale = 1, length_scale = 1",
        "signal_scale = 1, noise_scale = 1, length_scale = [1, 1e-101]",
    ] {
        let found = mistake(&kernel(scales), &drawn(100));
        assert!(found.ends_with("scales lie between 1e-100 and 1e100"), "{found}");
    }
}

#[test]
fn the_files_of_the_axis_are_listed_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spec.toml");
    let text = spec(
        "posterior",
        "drop = 1.5",
        "[dataset.other]\npath = \"other.csv\"\n[dataset.uci]\nfrom = \"yacht\"",
    )
    .replace("[\"mine\"]", "[\"mine\", \"other\", \"uci\", \"pol\", \"toy-sine\", \"gp-draw\", \"pol\"]");
    std::fs::write(&path, text).unwrap();
    let files = load(&path, &[]).unwrap().files(&common::catalog());
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    // The key `drop` of `mine` has a wrong type: the file would be read otherwise than the user means.
    assert_eq!(names, ["other", "uci", "pol"]);
    let own = files[0].own.as_ref().unwrap();
    assert_eq!((&own.data, &own.test), (&folder.path().join("other.csv"), &None));
}
