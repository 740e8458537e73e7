//! Names in specs, and headings and cells of CSV files: no verb passes them on alive.

use crate::support::{Ended, Sandbox, spec};

/// What no output may hold, whatever the names are.
fn is_alive(c: char) -> bool {
    gpbench_record::text::is_hidden(c) && !matches!(c, '\n' | '\t')
}

#[track_caller]
fn check(ended: &Ended) {
    for stream in [&ended.stdout, &ended.stderr] {
        assert!(!stream.contains(is_alive), "{}", stream.escape_debug());
    }
}

/// A name as TOML writes it: red text, a copy to the clipboard, a change of direction, marks of pages.
const NAME: &str = r#""\u001b[31mred\u001b]52;c;aA==\u0007\u202e<script>|![x](http://a)""#;

#[test]
fn names_of_a_spec_are_plain_in_every_output() {
    let sandbox = Sandbox::with_spec(&spec(
        "names",
        &[("[\"draw\"]", &format!("[{NAME}]")), ("[dataset.draw]", &format!("[dataset.{NAME}]"))],
    ));
    for format in ["table", "json", "csv", "md"] {
        check(&sandbox.run(&["plan", "spec.toml", "--format", format]).exits(0));
    }
    check(&sandbox.run(&["run", "spec.toml", "--verbose"]).exits(0).says(&["\\u{1b}[31mred"]));
    for format in ["table", "json", "csv", "md"] {
        check(&sandbox.run(&["report", "latest", "--format", format]).exits(0));
    }
    let folder = sandbox.run(&["list", "runs", "--format", "json"]).exits(0).json();
    let folder = folder["runs"][0]["path"].as_str().expect("a run").to_owned();
    for page in ["index.html", "report.md", "summary.json"] {
        let text = sandbox.read(&format!("{folder}/{page}"));
        assert!(!text.contains(is_alive), "{page}");
        assert!(!text.contains("<script>|") || page.ends_with("json"), "{page}");
    }
}

#[test]
fn mistakes_in_a_spec_are_shown_plain() {
    let text =
        spec("mistakes", &[("solver = [\"cholesky\", \"cg\"]", &format!("solver = [\"cg\", {NAME}]"))]);
    let sandbox = Sandbox::with_spec(&text);
    let ended = sandbox.run(&["run", "spec.toml"]).exits(2);
    check(&ended);
    // Raw characters in a comment of the line that is shown.
    sandbox.write("spec.toml", &text.replace("probes = 2", "probs = 2 # \u{202e}\u{200b}\u{9b}31m"));
    check(&sandbox.run(&["run", "spec.toml"]).exits(2));
}

#[test]
fn cells_and_headings_of_a_csv_file_are_shown_plain() {
    let sandbox = Sandbox::new();
    let hostile = "\u{1b}[31m\u{1b}]52;c;aA==\u{7}\u{9b}2J\u{202e}\u{0}\u{8}";
    for csv in [
        format!("a,b,y\n1,2,3\n1,{hostile},3\n4,5,6\n"),
        format!("{hostile},{hostile},y\n1,2,3\n4,5,6\n"),
        format!("a,{hostile},y\n1,x,3\n4,5,6\n"),
        format!("a,b,y\n{},2,3\n4,5,6\n", "\u{1b}[31m".repeat(100_000)),
    ] {
        sandbox.write("mine.csv", &csv);
        for target in ["y", "no such column"] {
            let ended = sandbox.run(&["data", "import", "mine.csv", "--target", target]);
            check(&ended);
            assert!(ended.stderr.len() < 100_000, "{} bytes", ended.stderr.len());
        }
    }
    let name = "\u{1b}[31m\u{202e}.csv";
    sandbox.write(name, "a,y\n1,x\n");
    check(&sandbox.run(&["data", "import", name]).exits(2));
}
