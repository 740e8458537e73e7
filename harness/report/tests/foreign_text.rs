//! Names, reasons and logs come from plugins and data sets: in every form of a report they are data, never commands of
//! a terminal or marks of a page.

use std::fs;

use gpbench_record::{Environment, Row, text};
use gpbench_report::{Format, Frame, Run, TextTable, WriteOptions, export, write_all};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::support::run;

const HOSTILE: [&str; 20] = [
    "\u{1b}[31mred\u{1b}[2J",
    "\u{1b}]52;c;aGVsbG8=\u{7}",
    "\u{1b}]8;;http://a.invalid\u{1b}\\here\u{1b}]8;;\u{1b}\\",
    "\r\u{8}\u{7f}\0",
    "\u{9b}2J\u{9d}0;title\u{9c}",
    "\u{202e}txt.exe\u{2066}\u{200b}\u{feff}\u{e0041}",
    "\u{2028}\u{2029}\u{85}\u{fffe}",
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "'><svg/onload=alert(1)>",
    "![x](http://a.invalid/x.png)",
    "[x](javascript:alert(1))",
    "[x]: http://a.invalid",
    "a | b || **c**",
    "\n````\n# out of the fence\n````\n",
    "``````\n# out of the fence\n",
    "--> <!-- ]]>",
    "$(touch x) `touch x` ${x}",
    "=cmd|' /C calc'!A0",
    "@SUM(1+1)",
];

/// The value with a hostile text in place of each of its texts that may be any text.
fn poisoned<T: Serialize + DeserializeOwned>(value: &T, hostile: &str) -> T {
    let mut tree = serde_json::to_value(value).expect("plain data serialises");
    let mut paths = Vec::new();
    find_texts(&tree, String::new(), &mut paths);
    let mut accepted = 0;
    for path in &paths {
        let place = tree.pointer_mut(path).expect("the path was found");
        let old = place.take();
        // What is the same before stays the same, so that groups do not fall apart.
        *place = Value::from(format!("{hostile}{}", old.as_str().expect("a text")));
        match serde_json::from_value::<T>(tree.clone()) {
            Ok(_) => accepted += 1,
            Err(_) => *tree.pointer_mut(path).expect("the path was found") = old,
        }
    }
    assert!(accepted > 2, "only {accepted} of {} texts could be replaced", paths.len());
    serde_json::from_value(tree).expect("each replacement was accepted")
}

fn find_texts(tree: &Value, path: String, found: &mut Vec<String>) {
    match tree {
        Value::String(_) => found.push(path),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, item)| find_texts(item, format!("{path}/{i}"), found));
        }
        Value::Object(fields) => {
            let step = |key: &String| format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
            fields.iter().for_each(|(key, field)| find_texts(field, step(key), found));
        }
        _ => {}
    }
}

fn hostile_run(hostile: &str) -> Run {
    let mut run = run();
    run.record.rows.retain(|row| row.labels.seed == 0);
    for row in &mut run.record.rows {
        row.trace.truncate(3);
        row.log_tail = "last words".to_owned();
        row.reason = "because".to_owned();
        let poisoned: Row = poisoned(row, hostile);
        *row = Row { id: row.id.clone(), finished: row.finished.clone(), ..poisoned };
    }
    let plugins: Vec<String> = run.record.rows.iter().map(|row| row.case.solver.plugin.clone()).collect();
    run.record.sources = plugins.into_iter().map(|plugin| (plugin, format!("{hostile} 2022."))).collect();
    run.record.environments = vec![poisoned(
        &Environment { git_revision: Some("abc".to_owned()), ..Environment::default() },
        hostile,
    )];
    run.record.name = text::cut(hostile, text::NAME).into_owned();
    run.warnings = vec![hostile.to_owned()];
    run.record.report.baseline = None;
    run
}

/// No form holds a character that a terminal or reader obeys.
fn check_characters(document: &str, what: &str) {
    let found = document.chars().find(|c| text::is_hidden(*c) && !matches!(c, '\n' | '\t'));
    assert_eq!(found, None, "{what}");
}

/// No tag but those that the page itself has: its script, and links to its sections and to files beside it.
fn check_tags(document: &str, what: &str) {
    let script = concat!(include_str!("../src/export/tables.js"), include_str!("../src/export/page.js"));
    let script = format!("<script>{script}</script>");
    let nav = document.find("<nav>").zip(document.find("</nav>"));
    let document = match nav {
        Some((begin, end)) => format!("{}{}", &document[..begin], &document[end..]),
        None => document.to_owned(),
    };
    let document = without_chart_links(&document.replacen(&script, "", 1));
    for tag in ["<script", "<img", "<svg/", "href=", "<!--"] {
        assert!(!document.contains(tag), "{tag} in {what}");
    }
}

/// The page without the links to its charts, whose names have nothing but small letters, digits, points and hyphens.
fn without_chart_links(page: &str) -> String {
    let mut parts = page.split("<a href=\"figures/");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once("\">SVG</a>").expect("a link to a chart");
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '-');
        assert!(name.ends_with(".svg") && name.chars().all(is_plain), "{name}");
        out += rest;
    }
    out
}

/// The page without the charts that are attached to it, which are addresses of letters, digits and a few marks.
fn without_attached_charts(page: &str) -> String {
    let mut parts = page.split("<a href=\"data:image/svg+xml;charset=utf-8,");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (link, rest) = part.split_once("\">SVG</a>").expect("a link to a chart");
        let (address, name) = link.split_once("\" download=\"").expect("a name");
        for text in [address, name] {
            assert!(!text.contains(['<', '>', '"', ' ', '&', '\'']), "{text}");
        }
        out += rest;
    }
    out
}

/// No command of LaTeX but those of the tables themselves and of symbols.
fn check_commands(document: &str, what: &str) {
    const OWN: [&str; 33] = [
        "begin",
        "end",
        "centering",
        "caption",
        "toprule",
        "midrule",
        "bottomrule",
        "linewidth",
        "bfseries",
        "textbf",
        "textsuperscript",
        "textbackslash",
        "textasciitilde",
        "textasciicircum",
        "textless",
        "textgreater",
        "textbar",
        "textdagger",
        "textdaggerdbl",
        "dots",
        "times",
        "pm",
        "cdot",
        "le",
        "ge",
        "to",
        "surd",
        "infty",
        "theta",
        "sigma",
        "kappa",
        "mu",
        "frac",
    ];
    let tables = document.split_once("\n\\begin").expect("a table").1;
    let mut rest = tables.replace("\\\\\n", "");
    while let Some((_, after)) = rest.split_once('\\') {
        let name: String = after.chars().take_while(char::is_ascii_alphabetic).collect();
        let is_mark = name.is_empty() && after.starts_with(['&', '%', '$', '#', '_', '{', '}', '|']);
        assert!(is_mark || OWN.contains(&name.as_str()), "\\{name} in {what}");
        rest = after[name.len().max(1)..].to_owned();
    }
}

fn check_markdown(page: &str, what: &str) {
    let mut fence: Option<usize> = None;
    for line in page.lines() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        match fence {
            Some(length) if ticks >= length && ticks == line.trim_end().len() => fence = None,
            Some(_) => continue,
            None if ticks >= 3 => fence = Some(ticks),
            None => {
                assert!(!line.trim_start().starts_with("# out of the fence"), "{what}: {line}");
                let bare = without_escapes(line);
                assert!(!bare.contains("]("), "{what}: {line}");
                let defines = bare.trim_start_matches(['-', ' ']).starts_with('[') && bare.contains("]:");
                assert!(!defines, "{what}: {line}");
                assert!(!bare.contains('<'), "{what}: {line}");
            }
        }
    }
    assert_eq!(fence, None, "{what}: a fence is open");
}

/// The line without the characters that a backslash makes plain.
fn without_escapes(line: &str) -> String {
    let mut out = String::new();
    let mut letters = line.chars();
    while let Some(c) = letters.next() {
        if c == '\\' { letters.next().map_or((), drop) } else { out.push(c) }
    }
    out
}

#[test]
fn no_form_of_a_report_obeys_text_of_others() {
    for hostile in HOSTILE {
        let run = hostile_run(hostile);
        for format in [
            Format::Text,
            Format::Json,
            Format::Csv,
            Format::Markdown,
            Format::Html,
            Format::Summary,
            Format::Latex,
        ] {
            let what = format!("{format:?} of {hostile:?}");
            let document = export(&run, format).unwrap();
            check_characters(&document, &what);
            match format {
                Format::Html => check_tags(&document, &what),
                Format::Markdown => check_markdown(&document, &what),
                Format::Json | Format::Summary => {
                    drop(serde_json::from_str::<Value>(&document).expect(&what))
                }
                Format::Csv => {
                    let cells = document.lines().flat_map(|line| line.split(','));
                    let mut formulas = cells.filter(|c| c.trim_matches('"').starts_with(['=', '@', '+']));
                    assert_eq!(formulas.next(), None, "{what}");
                }
                Format::Latex => check_commands(&document, &what),
                Format::Text => {}
            }
        }
        let bundle = Frame::new(&run).unwrap().bundle().unwrap();
        check_characters(&bundle, hostile);
        check_tags(&without_attached_charts(&bundle), hostile);
    }
}

#[test]
fn the_files_of_a_report_obey_no_text_of_others() {
    let folder = tempfile::tempdir().unwrap();
    for hostile in [HOSTILE[0], HOSTILE[5], HOSTILE[6], HOSTILE[8], HOSTILE[10]] {
        let mut run = hostile_run(hostile);
        // Titles of charts are links to their files in Markdown.
        let name = run.record.rows[0].labels.dataset.clone();
        run.record.rows.iter_mut().for_each(|row| row.labels.dataset.clone_from(&name));
        let written = write_all(&run, &WriteOptions { output: Some(folder.path().to_owned()) }).unwrap();
        check_tags(&fs::read_to_string(&written.html).unwrap(), hostile);
        check_characters(&fs::read_to_string(&written.html).unwrap(), hostile);
        check_characters(&fs::read_to_string(&written.markdown).unwrap(), hostile);
        assert!(!written.figures.is_empty());
        for figure in &written.figures {
            let svg = fs::read_to_string(figure).unwrap();
            check_tags(&svg, hostile);
            check_characters(&svg, hostile);
        }
    }
}

#[test]
fn text_of_a_megabyte_is_cut_in_pages() {
    let run = hostile_run(&"x".repeat(1 << 20));
    for format in [Format::Text, Format::Markdown, Format::Html] {
        let length = export(&run, format).unwrap().len();
        assert!(length < 1 << 20, "{format:?} has {length} bytes");
    }
}

#[test]
fn numbers_stay_numbers_in_csv() {
    let mut table = TextTable::default().words("=name").numbers("value");
    table.row(["-1", "-1"]);
    table.row(["=1+1", "+2"]);
    assert_eq!(table.csv(), "'=name,value\n'-1,-1\n'=1+1,+2\n");
}
