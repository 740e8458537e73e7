//! The tutorial, benchmarks/TUTORIAL.md: its files are written and its commands are run, in their order.

use std::path::Path;

use serde_json::Value;

use crate::support::{Ended, Sandbox, checkout};

/// A fenced block: the words after its fence, and its text.
type Block<'t> = (Vec<&'t str>, &'t str);

/// The fenced blocks of a page.
fn blocks(page: &str) -> Vec<Block<'_>> {
    let fenced = page.split("\n```").skip(1).step_by(2);
    fenced
        .map(|block| {
            let (words, text) = block.split_once('\n').expect("a block has lines");
            (words.split_whitespace().collect(), text)
        })
        .collect()
}

#[test]
fn every_step_of_the_tutorial_works() {
    let page = std::fs::read_to_string(checkout("benchmarks/TUTORIAL.md")).expect("the tutorial");
    let sandbox = Sandbox::new();
    let gpbench = sandbox.command(&[]);
    let programs = Path::new(gpbench.get_program()).parent().expect("a folder of programs");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").expect("a PATH"));
    let mut commands = 0;
    for (words, text) in blocks(&page) {
        let code = match words[..] {
            ["toml" | "awk", file] => {
                sandbox.write(file.strip_prefix("file=").expect("the name of a file"), text);
                continue;
            }
            ["sh"] => 0,
            ["sh", "exits", code] => code.parse().expect("an exit code"),
            _ => panic!("a block of the tutorial is neither a file nor a command: {words:?}"),
        };
        Ended::of(sandbox.command_of("bash", &["-e", "-c", text]).env("PATH", &path)).exits(code);
        commands += 1;
    }
    assert!(commands >= 10, "{commands} commands");

    // What the text says of the numbers.
    let cases = cases_of(&sandbox, "yield");
    assert_eq!(cases.len(), 20);
    let mean = |kernel: &str, metric: &str| {
        let exact = cases.iter().filter(|case| case["solver"] == "cholesky" && case["kernel"] == kernel);
        let values: Vec<f64> = exact.map(|case| number(case, metric)).collect();
        assert_eq!(values.len(), 5);
        values.iter().sum::<f64>() / 5.0
    };
    for metric in ["test_rmse", "test_nll"] {
        assert!(mean("rbf", metric) < mean("matern32", metric), "{metric}");
    }
    assert!((0.85..=1.0).contains(&mean("rbf", "coverage_95")));
    assert!(cases.iter().all(|case| number(case, "optimum_distance") < 0.2));
    let at_new_sites = cases_of(&sandbox, "yield-sites");
    assert_eq!(at_new_sites.len(), 6);
    assert!(at_new_sites.iter().all(|case| number(case, "test_rmse") > 2.0 * mean("rbf", "test_rmse")));
}

/// The cases of a run.
fn cases_of(sandbox: &Sandbox, run: &str) -> Vec<Value> {
    let report = sandbox.run(&["report", run, "--format", "json"]).exits(0).json();
    report["cases"].as_array().expect("cases").clone()
}

/// A metric of a case.
fn number(case: &Value, metric: &str) -> f64 {
    case["metrics"][metric].as_f64().unwrap_or_else(|| panic!("no {metric}: {case}"))
}
