//! What a terminal shows: nothing wider than its window, and no options that a verb does not have.

use crate::support::{Ended, Sandbox, spec};

/// Standard output and standard error of a command in a terminal of so many columns.
fn in_terminal(sandbox: &Sandbox, columns: usize, words: &str) -> String {
    let program = env!("CARGO_BIN_EXE_gpbench");
    let command = format!("stty cols {columns} rows 24; {program} {words}");
    let mut script = sandbox.command_of("script", &["-qefc", &command, "/dev/null"]);
    let ended = Ended::of(script.env("TERM", "xterm").env_remove("COLUMNS"));
    assert_eq!(ended.code, 0, "{}", ended.stdout);
    console::strip_ansi_codes(&ended.stdout).into_owned()
}

/// Width of the widest line, without blanks at its end.
fn widest(text: &str) -> usize {
    text.split(['\r', '\n']).map(|line| console::measure_text_width(line.trim_end())).max().unwrap_or(0)
}

#[test]
fn tables_fit_the_terminal_and_name_what_they_lack() {
    let sandbox = Sandbox::with_spec(&spec("wide", &[]));
    sandbox.run(&["run", "spec.toml"]).exits(0);
    let piped = sandbox.run(&["report", "latest"]).exits(0);
    let table = |text: &str| {
        // A message says which run the latest is.
        let lines = text.lines().filter(|line| !line.starts_with("latest: "));
        lines.take_while(|line| !line.contains("(not shown: ")).take(4).collect::<Vec<_>>().join("\n")
    };
    assert!(widest(&table(&piped.stdout)) > 100 && !piped.stdout.contains("not shown"), "{}", piped.stdout);

    for columns in [40, 80, 120] {
        let shown = in_terminal(&sandbox, columns, "report latest --quiet");
        assert!(widest(&table(&shown)) <= columns, "{shown}");
        // Headings wrap before columns go.
        let heading = table(&shown).replace("residual y", "residual");
        assert!(heading.contains("residual") && heading.contains("ok") && heading.contains("[s]"), "{shown}");
        assert!(shown.contains("(not shown: "), "{shown}");
        assert!(shown.contains("`--wide` prints all columns"), "{shown}");
    }
    let wide = in_terminal(&sandbox, 80, "report latest --wide --quiet").replace('\r', "");
    assert!(wide.contains(&piped.stdout), "{wide}");
    for (words, kept) in
        [("list", "documentation"), ("plan spec.toml", "about"), ("compare latest latest --quiet", "metric")]
    {
        let shown = in_terminal(&sandbox, 60, words);
        assert!(widest(&table(&shown)) <= 60 && shown.contains(kept), "{shown}");
    }
}

#[test]
fn the_line_of_a_run_never_wraps() {
    let sandbox = Sandbox::with_spec(&spec("line", &[]));
    for columns in [20, 60] {
        let shown = in_terminal(&sandbox, columns, "run spec.toml --fresh");
        // A line that stands above comes filled up to the width, without an end of its own.
        let live = shown.split(['\r', '\n']).filter_map(|line| Some(&line[line.find("/2  0:0")? - 1..]));
        for line in live {
            assert!(console::measure_text_width(line.trim_end()) < columns, "{line}");
        }
    }
}

#[test]
fn options_of_other_verbs_are_not_shown_and_are_refused() {
    let sandbox = Sandbox::new();
    let help = sandbox.run(&["list", "--help"]).exits(0);
    assert!(help.stdout.contains("--output-dir") && !help.stdout.contains("--threads"), "{}", help.stdout);
    let help = sandbox.run(&["schema", "--help"]).exits(0);
    assert!(!help.stdout.contains("-dir") && !help.stdout.contains("--verbose"), "{}", help.stdout);
    for words in [
        &["schema", "--data-dir", "d"][..],
        &["--data-dir", "d", "schema"],
        &["data", "import", "table.csv", "--data-dir", "d"],
    ] {
        sandbox.run(words).exits(2).says(&["has no option `--data-dir`", "run, plan, check"]);
    }
    sandbox.run(&["report", "-v"]).exits(2).says(&["`gpbench report` has no option `--verbose`"]);
    sandbox.run(&["list", "--threads", "2"]).exits(2).says(&["--threads"]);
    sandbox.run(&["check", "spec.toml", "--retry-failed"]).exits(2).says(&["--retry-failed"]);
    sandbox.run(&["--output-dir", "runs", "list", "runs"]).exits(4).says(&["there are no runs under runs"]);
}
