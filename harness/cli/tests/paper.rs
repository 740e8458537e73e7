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
