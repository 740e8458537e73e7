//! Tables and charts for papers, a report in one file, and a report that is published.

use crate::support::{Ended, Sandbox, spec};

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with_spec(&spec("paper", &[("seeds = [0]", "seeds = [0, 1]")]));
    sandbox.run(&["run", "spec.toml"]).exits(0);
    sandbox
}

/// The paths after a word at the beginning of lines of standard error.
fn paths<'e>(ended: &'e Ended, word: &str) -> Vec<&'e str> {
    ended.stderr.lines().filter_map(|line| line.strip_prefix(word)?.strip_prefix(": ")).collect()
}

#[test]
fn tables_are_printed_as_latex() {
    let sandbox = sandbox();
    let report = sandbox.run(&["report", "paper", "--format", "latex"]).exits(0);
    report.prints(&[
        "% The preamble needs",
        r"\toprule",
        "S[table-format = ",
        "2 seeds, 1 repeat; ",
        "cholesky & 2/2 & ",
    ]);
    let compare = ["compare", "paper", "paper", "--format", "latex"];
    sandbox.run(&compare).exits(0).prints(&[r"\caption{Comparison.", r"\bottomrule"]);
    let between = ["compare", "paper", "--between", "cg,cholesky", "--format", "latex"];
    sandbox.run(&between).exits(0).prints(&["on draw/matern32 (no interval: 2 seeds", r"\bottomrule"]);
    sandbox
        .run(&["history", "paper", "--format", "latex"])
        .exits(0)
        .prints(&[r"\caption{paper: total [s].}"]);
    sandbox.run(&["report", "paper", "--format", "tex"]).exits(2).says(&["latex"]);
}

#[test]
fn charts_are_drawn_at_the_width_of_a_column_and_their_paths_are_printed() {
    let sandbox = sandbox();
    let report = |words: &[&str]| sandbox.run(&[&["report", "paper"], words].concat());
    let drawn = report(&["--figure-width", "3.25in", "--no-titles"]).exits(0);
    let charts = paths(&drawn, "chart");
    assert!(!charts.is_empty() && charts.iter().all(|path| path.contains("/paper/")), "{}", drawn.stderr);
    for chart in charts {
        let svg = std::fs::read_to_string(chart).expect(chart);
        assert!(svg.starts_with("<svg width=\"3.2500in\""), "{chart}");
    }
    // The charts of the report stay as they are.
    let page = sandbox.read("reports/paper/latest/index.html");
    assert!(
        page.contains("<svg width=\"760\"") && !page.contains("3.2500in"),
        "the page has charts for a paper"
    );
    assert_eq!(paths(&report(&[]).exits(0), "chart"), [""; 0]);
    assert_eq!(paths(&report(&["--no-titles", "--quiet"]).exits(0), "chart"), [""; 0]);
    for (width, words) in [("3.25", "a number and a unit"), ("1in", "from 2in to 20in")] {
        report(&["--figure-width", width]).exits(2).says(&[words]);
    }
    let history = ["history", "paper", "--chart", "history.svg", "--figure-width", "85mm"];
    sandbox.run(&history).exits(0);
    assert!(sandbox.read("history.svg").starts_with("<svg width=\"3.3465in\""));
}

#[test]
fn a_report_is_sent_as_one_file() {
    let sandbox = sandbox();
    let bundle = || sandbox.run(&["report", "paper", "--bundle", "out/report.html"]).exits(0);
    assert_eq!(paths(&bundle(), "bundle"), ["out/report.html"]);
    let first = sandbox.read("out/report.html");
    assert!(first.contains("href=\"data:text/csv;charset=utf-8,id,dataset,"), "{first}");
    // An earlier file is replaced.
    sandbox.write("out/report.html", "old");
    bundle();
    assert_eq!(sandbox.read("out/report.html"), first);
    sandbox.run(&["report", "paper", "--bundle", "out"]).exits(2).says(&["cannot write out: "]);
}

#[test]
fn a_published_report_is_made_anew_where_it_lies() {
    let sandbox = sandbox();
    let ended = sandbox.run(&["report", "paper", "--publish", "reports/published/first"]).exits(0);
    assert_eq!(paths(&ended, "published"), ["reports/published/first"]);
    let page = sandbox.read("reports/published/first/report.md");
    sandbox.write("reports/published/first/report.md", "");
    sandbox.run(&["report", "reports/published/first"]).exits(0).prints(&["cholesky"]);
    assert_eq!(sandbox.read("reports/published/first/report.md"), page);
    // It is no run of the output folder.
    let latest = sandbox.run(&["report", "latest"]).exits(0);
    assert!(!paths(&latest, "report")[0].contains("published"), "{}", latest.stderr);
    assert!(!sandbox.run(&["list", "runs"]).exits(0).stdout.contains("published"));

    sandbox.run(&["coverage"]).exits(0);
    sandbox.run(&["coverage", "--check"]).exits(0);
    std::fs::remove_file(sandbox.path("reports/published/first/plan.json")).expect("a plan");
    sandbox.run(&["coverage", "--check"]).exits(3).says(&["first has no journal or no plan: write it with"]);
    let named = spec("published", &[]);
    sandbox.write("named.toml", &named);
    sandbox.run(&["run", "named.toml"]).exits(2).says(&["`published` is reserved"]);
}

#[test]
fn claims_are_written_checked_and_refused_where_a_verdict_contradicts_its_number() {
    let sandbox = Sandbox::with_spec(&spec("paper", &[]));
    for folder in ["reports/published/first", "benchmarks/reference"] {
        std::fs::create_dir_all(sandbox.path(folder)).expect("a writable folder");
    }
    let summary = r#"{"groups": [{"dataset": "pol", "kernel": "k", "estimator": null, "solver": "cg", "n": 1, "n_ok": 1,
        "metrics": {"test_rmse": {"mean": 0.1, "stderr": null, "seeds": 1}}}]}"#;
    sandbox.write("reports/published/first/summary.json", summary);
    sandbox.write("benchmarks/spec.toml", "");
    let list = |rule: &str| {
        format!(
            "[[claim]]\npaper = 'lin2023'\nclaim = 'It predicts.'\nmade_in = 'Table 1'\npublished = '0.1'\nspec = 'spec.toml'\n\
             verdict = 'holds'\nwhy = 'It does.'\ntake = 'Use it.'\n[[claim.evidence]]\nwhat = 'RMSE'\nruns = ['first']\n\
             datasets = ['pol']\nmetric = 'test_rmse'\ncompute = 'value'\nof = {{ solvers = ['cg'] }}\nholds = '{rule}'\n"
        )
    };
    sandbox.run(&["claims"]).exits(2).says(&["benchmarks/reference/claims.toml"]);
    sandbox.write("benchmarks/reference/claims.toml", &list("< 0.2"));
    sandbox
        .run(&["claims", "--check"])
        .exits(3)
        .says(&["out of date: README.md; `gpbench claims` writes them again"]);
    sandbox.run(&["claims"]).exits(0).says(&["reports/published/claims/README.md"]);
    sandbox.run(&["claims", "--check"]).exits(0);
    assert!(sandbox.read("reports/published/claims/README.md").contains("| RMSE | 0.100 | 1 |"));
    sandbox.write("benchmarks/reference/claims.toml", &list("> 0.2"));
    let contradiction = "claims.toml:7:11: error: the verdict `holds` contradicts the rule of \"RMSE\"";
    sandbox.run(&["claims", "--check"]).exits(3).says(&[contradiction]);
    sandbox.run(&["claims"]).exits(3).says(&[contradiction]);
}
