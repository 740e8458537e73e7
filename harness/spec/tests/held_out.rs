//! Test rows in a file of their own, and predictions that are kept.

use gpbench_record::Dataset;
use gpbench_spec::{Catalog, DatasetSize, TrainingRows};

use crate::common::{self, check_text_against};

/// A spec of a task on a user's file; `keys` are those of its table.
fn spec(task: &str, keys: &str) -> String {
    format!(
        r#"schema = 1
name = "held-out"
task = "{task}"
seeds = [0, 1]
[matrix]
dataset = ["mine"]
kernel = ["rbf"]
solver = ["cholesky"]
[dataset.mine]
path = "mine.csv"
{keys}
"#
    )
}

/// A catalogue in which the file of data set `mine` has 100 training rows, and its file of test rows as many as this.
fn catalog(test: usize) -> Catalog {
    let training = TrainingRows::Masked(vec![100]);
    let size = DatasetSize { rows: 100 + test, inputs: 2, training, groups: 0, has_replicates: false };
    Catalog { sizes: [("mine".to_owned(), Ok(size))].into(), ..common::catalog() }
}

/// The data sets of the cases, in the order of the seeds.
fn datasets(text: &str) -> Vec<Dataset> {
    let checked = check_text_against(text, &[], &catalog(20)).unwrap_or_else(|errors| panic!("{errors}"));
    let mut cases = checked.plan().cases;
    cases.sort_by_key(|planned| planned.case.seed);
    cases.into_iter().map(|planned| planned.case.dataset).collect()
}

/// The mistakes, as `line:column: what; hint`.
fn mistakes(text: &str, test: usize) -> Vec<String> {
    let errors = check_text_against(text, &[], &catalog(test)).map(|_| ()).expect_err(text);
    let line = |error: &gpbench_spec::SpecError| {
        let hint = error.hint.as_ref().map_or_else(String::new, |hint| format!("; {hint}"));
        format!("{}:{}: {}{hint}", error.line, error.column, error.what)
    };
    errors.errors().iter().map(line).collect()
}

#[test]
fn all_seeds_have_the_one_split() {
    let found = datasets(&spec("posterior", "test = \"held-out.csv\"\nsubsample = 50"));
    assert_eq!(found.iter().map(|dataset| dataset.split).collect::<Vec<_>>(), [0, 0]);
    assert!(found.iter().all(|dataset| dataset.test_file() == Some("held-out.csv")));
    let text = spec("posterior", "test = \"held-out.csv\"");
    let plan =
        check_text_against(&text, &[], &catalog(20)).unwrap_or_else(|errors| panic!("{errors}")).plan();
    let own = plan.cases[0].own_files.as_ref().expect("the user's own files");
    assert!(own.data.ends_with("mine.csv") && own.test.as_ref().is_some_and(|t| t.ends_with("held-out.csv")));
    assert_eq!(plan.cases[0].n, Some(100));
}

#[test]
fn keys_of_other_splits_are_refused() {
    let text =
        spec("posterior", "test = \"held-out.csv\"\nsplit = 0\nfractions = { train = 0.5, test = 0.2 }");
    let why = "does not apply to data set `mine`; with `test` there is one split: all rows of `path` are training rows";
    let found = mistakes(&text, 20);
    assert!(found.contains(&format!("12:9: `split` {why}")), "{found:?}");
    assert!(found.contains(&format!("13:13: `fractions` {why}")), "{found:?}");
    let text =
        spec("posterior", "").replace("path = \"mine.csv\"", "from = \"pol\"\ntest = \"held-out.csv\"");
    let expected = "11:8: `test` does not apply to data set `mine`; it goes with `path`, a file of your own";
    assert!(mistakes(&text, 20).iter().any(|mistake| mistake == expected), "{:?}", mistakes(&text, 20));
}

#[test]
fn predictions_are_kept_where_they_can_be() {
    for (keys, expected) in
        [("", None), ("predictions = true", Some(true)), ("predictions = false", Some(false))]
    {
        let text = spec("posterior", &format!("test = \"held-out.csv\"\n{keys}"));
        assert!(datasets(&text).iter().all(|dataset| dataset.predictions == expected), "{keys}");
    }
    let many = mistakes(&spec("posterior", "test = \"held-out.csv\"\npredictions = true"), 300_000);
    assert_eq!(
        many,
        [
            "12:15: data set `mine` has 300000 test rows; predictions of 200000 can be kept; remove `predictions`, or give \
          `fractions` with a smaller share of test rows"
        ]
    );
    let solve = mistakes(&spec("solve", "test = \"held-out.csv\"\npredictions = true"), 20);
    assert_eq!(
        solve,
        [
            "12:15: `predictions` has no effect: this task predicts no test rows; it is for tasks \"posterior\", \"train\" and \
          \"learn\""
        ]
    );
}
