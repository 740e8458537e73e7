//! What is made for papers and for colleagues: tables in LaTeX, charts at a paper's width, and a report in one file.

use std::fs;

use gpbench_report::{ChartForm, Format, Frame, Run, TextTable, export};

use crate::support::{run, stored};

/// The stored run, copied into a folder that files are written into.
fn copied() -> (tempfile::TempDir, Run) {
    let folder = tempfile::tempdir().unwrap();
    for name in ["journal.jsonl", "plan.json", "spec.toml", "environment.json"] {
        fs::copy(stored().join(name), folder.path().join(name)).unwrap();
    }
    let run = Run::open(folder.path()).unwrap();
    (folder, run)
}

#[test]
fn all_tables_of_a_run_are_set_for_a_paper() {
    let run = run();
    insta::assert_snapshot!(export(&run, Format::Latex).unwrap());
}

#[test]
fn the_tables_of_a_comparison_are_set_too() {
    let run = run();
    let comparison = gpbench_report::compare(&[run.clone(), run]).unwrap().cases().unwrap();
    let document = gpbench_report::latex([&comparison.table()]);
    assert!(document.contains(r"\caption{Comparison.") && document.contains(r"\bottomrule"), "{document}");
    assert_eq!(document.matches(" \\\\\n").count(), comparison.rows.len() + 1, "a line for each row");
}

#[test]
fn charts_have_the_width_of_a_column_and_no_title() {
    let (folder, run) = copied();
    let frame = Frame::new(&run).unwrap();
    let form = ChartForm { width: Some("3.25in".parse().unwrap()), titles: false };
    let charts = frame.write_for_paper(form).unwrap();
    assert_eq!(charts.len(), number_of_charts(&run));
    for chart in &charts {
        assert_eq!(chart.parent(), Some(folder.path().join("paper").as_path()));
        let svg = fs::read_to_string(chart).unwrap();
        let head = svg.split_once('>').unwrap().0;
        assert!(head.contains("width=\"3.2500in\"") && head.contains("viewBox=\"0 0 380 "), "{head}");
        assert!(!svg.contains("font-weight=\"bold\""), "{} has a title", chart.display());
        for x in numbers(&svg, " x=\"").chain(numbers(&svg, " cx=\"")) {
            assert!((0.0..=380.0).contains(&x), "{} has something at {x}", chart.display());
        }
    }
    // Without titles, at the width of a page.
    let untitled = frame.write_for_paper(ChartForm { titles: false, ..ChartForm::default() }).unwrap();
    let svg = fs::read_to_string(&untitled[0]).unwrap();
    assert!(svg.starts_with("<svg width=\"760\"") && !svg.contains("font-weight=\"bold\""), "{svg}");
    assert_eq!(fs::read_dir(folder.path().join("paper")).unwrap().count(), charts.len());
    assert!(!folder.path().join("figures").exists(), "the charts of the report are others");
}

/// The number of charts on the page of a run.
fn number_of_charts(run: &Run) -> usize {
    export(run, Format::Html).unwrap().matches("<svg").count()
}

/// The values of an attribute.
fn numbers<'s>(svg: &'s str, attribute: &'s str) -> impl Iterator<Item = f64> + 's {
    let values = svg.split(attribute).skip(1).filter_map(|rest| rest.split('"').next());
    values.filter_map(|value| value.parse().ok())
}

#[test]
fn a_bundle_needs_no_other_file() {
    let (folder, run) = copied();
    let page = Frame::new(&run).unwrap().bundle().unwrap();
    assert!(
        !page.contains("src=") && !page.contains("<link") && !page.contains("url("),
        "something is not in it"
    );
    assert_eq!(page.matches("<svg").count(), number_of_charts(&run));
    assert!(page.contains("<summary>Spec</summary>"));
    let links: Vec<&str> =
        page.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    for link in links.iter().filter(|link| !link.starts_with("data:")) {
        let id = link.strip_prefix('#').unwrap_or_else(|| panic!("{link} is not in the page"));
        assert!(page.contains(&format!("id=\"{id}\"")), "#{id} is not on the page");
    }
    assert_eq!(attached(&page, "results.csv"), export(&run, Format::Csv).unwrap());
    assert_eq!(attached(&page, "tables.tex"), export(&run, Format::Latex).unwrap());
    assert_eq!(attached(&page, "spec.toml"), fs::read_to_string(folder.path().join("spec.toml")).unwrap());
    let chart = attached(&page, "residual-epochs-pol.svg");
    assert!(chart.starts_with("<svg") && page.contains(&chart), "{chart}");
}

/// The content of a file that is attached to a page.
fn attached(page: &str, name: &str) -> String {
    let (before, _) = page.split_once(&format!("\" download=\"{name}\"")).expect(name);
    let address = before.rsplit('"').next().unwrap().replace("&amp;", "&");
    let (_, content) = address.split_once(',').unwrap();
    let mut bytes = Vec::new();
    let mut rest = content.as_bytes();
    while let [first, after @ ..] = rest {
        rest = match (first, after) {
            (b'%', [high, low, after @ ..]) => {
                let digits = [*high, *low];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap());
                after
            }
            _ => {
                bytes.push(*first);
                after
            }
        };
    }
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_narrow_table_keeps_what_its_reader_came_for() {
    let mut run = run();
    run.record.report.columns =
        ["test_nll", "iterations", "peak_memory_bytes", "residual_y", "epochs", "seconds"]
            .map(str::to_owned)
            .into();
    let fitted = Frame::new(&run).unwrap().for_terminal(Some(80)).unwrap();
    let table: String = fitted.text.lines().take(7).collect::<Vec<_>>().join("\n");
    for title in ["solver", "ok", "test NLL", "total [s]"] {
        let words: Vec<&str> = title.split(' ').collect();
        assert!(words.iter().all(|word| table.contains(word)), "{title} is not in\n{table}");
    }
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    assert!(fitted.is_shortened && table.contains("-1.0223(34)"), "{table}");
}

#[test]
fn a_comparison_of_runs_keeps_all_values_at_80_columns() {
    let mut runs = vec![run(); 2];
    for (run, name) in runs.iter_mut().zip(["solvers-before", "solvers-after"]) {
        run.record.name = name.to_owned();
    }
    let comparison = gpbench_report::compare(&runs).unwrap().cases().unwrap();
    let left_out = |table: TextTable| table.fitted(Some(80)).left_out;
    let left_out = left_out(comparison.table());
    for title in comparison.runs.iter().map(String::as_str).chain(["solver", "metric"]) {
        assert!(!left_out.iter().any(|other| other == title), "{title} is left out");
    }
}
