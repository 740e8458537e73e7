//! Groups, replicates and rules that divide the rows of a data set.

use gpbench_record::{Dataset, Source, SplitRule};
use gpbench_spec::{Catalog, DatasetSize, SplitCheck, TrainingRows};

use crate::common::{self, check_text_against};

/// A spec on a user's file; `dataset` is the rest of its table.
fn spec(seeds: &str, dataset: &str) -> String {
    format!(
        r#"schema = 1
name = "rules"
task = "posterior"
seeds = {seeds}
[matrix]
dataset = ["mine"]
kernel = ["rbf"]
solver = ["cholesky"]
[dataset.mine]
path = "mine.csv"
{dataset}
"#
    )
}

/// A catalogue in which a file of 100 rows in three groups was read; some rows share their inputs. Splits of rows that stay
/// together have 77 training rows.
fn catalog() -> Catalog {
    let size = |training| DatasetSize { rows: 100, inputs: 2, training, groups: 3, has_replicates: true };
    let sizes = [("mine".to_owned(), Ok(size(TrainingRows::Drawn(90))))].into();
    let splits = SplitCheck::new(|dataset| Some(Ok(if dataset.is_grouped() { 77 } else { 90 })));
    Catalog { sizes, splits, ..common::catalog() }
}

/// The data sets of the cases, and their training rows.
fn datasets(seeds: &str, dataset: &str) -> Vec<(Dataset, Option<usize>)> {
    let checked = check_text_against(&spec(seeds, dataset), &[], &catalog());
    let plan = checked.unwrap_or_else(|errors| panic!("{errors}")).plan();
    let mut found: Vec<_> = plan.cases.into_iter().map(|planned| (planned.case.dataset, planned.n)).collect();
    found.sort_by_key(|(dataset, _)| dataset.split);
    found
}

/// The only mistake, as `line:column: what; hint`.
#[track_caller]
fn mistake(seeds: &str, dataset: &str) -> String {
    let errors = check_text_against(&spec(seeds, dataset), &[], &catalog()).map(|_| ()).expect_err(dataset);
    let [error] = errors.errors() else { panic!("{errors}") };
    let hint = error.hint.as_ref().map_or_else(String::new, |hint| format!("; {hint}"));
    format!("{}:{}: {}{hint}", error.line, error.column, error.what)
}

#[test]
fn replicates_of_a_file_stay_together_unless_the_spec_divides_its_rows() {
    for (text, together) in [
        ("", true),
        ("replicates = \"apart\"", false),
        ("replicates = \"together\"", true),
        ("fractions = { train = 0.5, test = 0.2 }", true),
        ("group = \"site\"", false),
        ("group = \"site\"\nreplicates = \"together\"", true),
        ("split = { blocks = 5, by = \"lon\" }", false),
        ("split = { time = \"when\" }", false),
    ] {
        let (dataset, n) = datasets("[0]", text).remove(0);
        assert_eq!(dataset.keep_replicates, together, "{text}");
        assert_eq!(n, Some(if dataset.is_grouped() { 77 } else { 90 }), "{text}");
    }
    // Without replicates, and with splits of its own, a case is what it was.
    let size =
        |training, has_replicates| DatasetSize { rows: 100, inputs: 2, training, groups: 0, has_replicates };
    for size in [size(TrainingRows::Drawn(90), false), size(TrainingRows::Masked(vec![90, 80]), true)] {
        let catalog = Catalog { sizes: [("mine".to_owned(), Ok(size))].into(), ..common::catalog() };
        let plan = check_text_against(&spec("[0]", ""), &[], &catalog).expect("no mistake").plan();
        let dataset = &plan.cases[0].case.dataset;
        let json = serde_json::to_string(dataset).expect("plain data");
        assert_eq!(json, r#"{"name":"mine","source":{"from":"file","path":"mine.csv"},"split":0}"#);
    }
}

#[test]
fn rules_are_read() {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let blocks = SplitRule::Blocks { blocks: 5, by: words(&["lon", "1"]) };
    let future = |test| SplitRule::Future { time: "when".to_owned(), test };
    for (text, rule) in [
        ("group = \"site\"\nsplit = { leave_out = \"group\" }", SplitRule::LeaveGroupOut),
        ("split = { blocks = 5, by = [\"lon\", 1] }", blocks),
        ("split = { time = \"when\" }", future(0.1)),
        ("split = { time = \"when\", test = 0.25 }", future(0.25)),
        (
            "split = { time = \"when\", blocks = 4 }",
            SplitRule::Rolling { time: "when".to_owned(), blocks: 4 },
        ),
    ] {
        let found = datasets("[0, 1, 2]", text);
        let splits: Vec<u32> = found.iter().map(|(dataset, _)| dataset.split).collect();
        let has_one = matches!(rule, SplitRule::Future { .. });
        assert_eq!(splits, if has_one { [0, 0, 0] } else { [0, 1, 2] }, "{text}");
        let Source::File { options, .. } = &found[0].0.source else { panic!("{text}") };
        assert_eq!(options.split_by, rule.columns(), "{text}");
        assert_eq!(found[0].0.rule.as_ref(), Some(&rule), "{text}");
    }
    let fixed = datasets("[0, 1]", "split = { blocks = 5, by = \"lon\", index = 3 }");
    assert!(fixed.iter().all(|(dataset, _)| dataset.split == 3));
}

#[test]
fn splits_beyond_a_rule_and_rules_that_lack_something_are_mistakes() {
    let group = "group = \"site\"\nsplit = { leave_out = \"group\" }";
    assert_eq!(
        mistake("[0, 3]", group),
        "4:13: data set `mine` has no group 3 to leave out, only 0 to 2; seed k leaves out group k; use fewer seeds, or fix one \
         by `index` in `split`"
    );
    assert!(mistake("[5]", "split = { blocks = 5, by = \"lon\" }").contains("gives no split 5, only 0 to 4"));
    assert!(
        mistake("[3]", "split = { time = \"when\", blocks = 4 }").contains("gives no split 3, only 0 to 2")
    );
    assert_eq!(
        mistake("[0]", "split = { leave_out = \"group\" }"),
        "11:9: `leave_out` of data set `mine` needs a column of groups; set `group`, for instance group = \"site\""
    );
    assert!(
        mistake("[0]", "fractions = { train = 0.5, test = 0.2 }\nsplit = { time = \"when\" }")
            .contains("has both `fractions` and a rule in `split`; a rule decides the sizes")
    );
    for text in [
        "split = { blocks = 5 }",
        "split = { by = \"lon\" }",
        "split = { blocks = 5, by = [] }",
        "split = { time = \"when\", by = \"lon\" }",
        "split = { time = \"when\", blocks = 3, test = 0.1 }",
        "split = { index = 1 }",
        "split = {}",
    ] {
        let found = mistake("[0]", text);
        assert!(
            found.starts_with("11:9: `split` of [dataset.mine] states no rule that divides rows; write {"),
            "{found}"
        );
    }
    // A mistake in a key is told alone.
    assert!(
        mistake("[0]", "split = { blocks = \"five\", by = \"lon\" }")
            .contains("`blocks` takes a whole number")
    );
    assert!(mistake("[0]", "split = { block = 5, by = \"lon\" }").contains("unknown key `block`"));
    assert!(
        mistake("[0]", "group = \"site\"\ncomment = \"//\"").contains("a mark of comments is one character")
    );
}

#[test]
fn sets_of_the_registry_take_rules_by_their_inputs() {
    let text =
        spec("[0]", "").replace("path = \"mine.csv\"", "from = \"pol\"\nsplit = { blocks = 4, by = [0, 3] }");
    let plan =
        check_text_against(&text, &[], &common::catalog()).unwrap_or_else(|errors| panic!("{errors}")).plan();
    assert_eq!(plan.cases[0].case.dataset.rule.as_ref().map(|rule| rule.columns().len()), Some(2));
    let grouped = text.replace("split =", "group = \"a\"\nsplit =");
    let errors =
        check_text_against(&grouped, &[], &common::catalog()).map(|_| ()).expect_err("fixed columns");
    assert!(errors.to_string().contains("`group` does not apply to data set `mine`"), "{errors}");
}
