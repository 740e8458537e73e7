//! Text of plugins reaches terminals and pages as text only: no escape sequence, no markup.

use crate::support::Sandbox;
use crate::support::zoo::{Task, act, compile, files, spec};

/// Asserts that a terminal would obey nothing in a text.
#[track_caller]
fn is_plain(what: &str, text: &str) {
    let odd = text
        .chars()
        .find(|&c| (c.is_control() && c != '\n' && c != '\t') || ('\u{202a}'..='\u{202e}').contains(&c));
    let line = odd.and_then(|odd| text.lines().find(|line| line.contains(odd)));
    assert!(odd.is_none(), "{what} holds {odd:?}: {line:?}");
}

/// Asserts that a browser would obey nothing in a text.
#[track_caller]
fn has_no_markup(what: &str, text: &str) {
    for live in ["<script>alert", "<img src=x"] {
        let line = text.lines().find(|line| line.contains(live));
        assert!(line.is_none(), "{what} holds `{live}`: {line:?}");
    }
}

/// The lines of a Markdown text that are not inside a fence, without characters that are escaped.
fn outside_fences(text: &str) -> String {
    let mut fence: Option<usize> = None;
    let mut lines = Vec::new();
    for line in text.lines() {
        let ticks = line.chars().take_while(|&c| c == '`').count();
        match fence {
            None if ticks >= 3 => fence = Some(ticks),
            None => lines.push(line),
            Some(open) if ticks >= open && line.trim_end().len() == ticks => fence = None,
            Some(_) => {}
        }
    }
    assert!(fence.is_none(), "every fence is closed");
    lines.join("\n").replace("\\<", "")
}

#[test]
fn text_of_plugins_is_never_obeyed() {
    let sandbox = Sandbox::new();
    let described = sandbox.path("described.so");
    compile("library.c", &["FAULT_FOREIGN_TEXT", "ID=\"described\""], &described);
    let table = format!("plugin = \"described\"\nlibrary = \"{}\"", described.display());
    let others = [act("foreign_text", false), ("described".to_owned(), table)];
    sandbox.write("spec.toml", &spec(Task::Posterior, &others));
    let library = described.to_str().expect("UTF-8");
    let mut commands = 0;
    for args in [
        &["plan", "spec.toml"][..],
        &["run", "spec.toml", "-v"],
        &["run", "spec.toml"],
        &["report", "latest"],
        &["report", "latest", "--format", "md"],
        &["report", "latest", "--format", "csv"],
        &["report", "latest", "--format", "json"],
        &["list", "runs"],
        &["list", "solvers", "-v", "--library", library],
        &["plugin", "inspect", library],
        &["plugin", "test", library],
        &["compare", "latest", "latest"],
    ] {
        let ended = sandbox.run(args);
        is_plain(&format!("standard output of {args:?}"), &ended.stdout);
        is_plain(&format!("standard error of {args:?}"), &ended.stderr);
        commands += 1;
    }
    let case = sandbox.cases().into_iter().find(|case| case["solver"] == "foreign_text").expect("a row");
    assert_eq!(case["status"], "invalid");

    let mut pages = 0;
    for file in files(&sandbox.path("reports/zoo/latest")) {
        let name = file.display().to_string();
        let ending = file.extension().and_then(|e| e.to_str()).unwrap_or_default();
        if ["html", "md", "svg", "csv"].contains(&ending) {
            let text = sandbox.read(&format!("reports/zoo/latest/{name}"));
            is_plain(&name, &text);
            let text = if ending == "md" { outside_fences(&text) } else { text };
            if ending != "csv" {
                has_no_markup(&name, &text);
            }
            if ending == "md" {
                let live = text.lines().find(|line| line.trim_end() == "# Heading");
                assert!(live.is_none(), "{name} holds a heading of the plugin's");
            }
            pages += 1;
        }
    }
    assert!(pages > 0, "the run has pages");
    println!("tried foreign text in {commands} commands and {pages} pages: none obeys it");
}
