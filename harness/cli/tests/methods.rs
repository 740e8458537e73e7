//! The table of methods in plugins/README.md holds what the plugins state.

use serde_json::Value;

use crate::support::{Sandbox, checkout};

/// What stands before and after the table.
const MARKS: [&str; 2] = ["<!-- methods -->\n", "<!-- /methods -->\n"];

const HEAD: &str = "\
| method | kind | computes | a step costs | memory | guarantees | when to use it | source |
|---|---|---|---|---|---|---|---|
";

const FACTS: [&str; 4] = ["step", "memory", "guarantees", "advice"];

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().replace('|', "\\|")
}

/// Authors and year of a source: "A. One, B. Two, C. Three. Title. Venue, 2020." is "One et al. 2020".
fn cited(source: &str) -> String {
    let is_last = |at: usize| source[..at].ends_with(|c: char| c.is_lowercase());
    let end = source.match_indices(". ").map(|(at, _)| at).find(|at| is_last(*at)).unwrap_or(source.len());
    let surname = |name: &str| name.rsplit(' ').next().unwrap_or_default().to_owned();
    let names: Vec<String> = source[..end].split(", ").map(surname).collect();
    let authors = match &names[..] {
        [one] => one.clone(),
        [one, two] => format!("{one} and {two}"),
        [one, ..] => format!("{one} et al."),
        [] => String::new(),
    };
    let year = source.trim_end_matches('.').rsplit([' ', ',']).next().unwrap_or_default();
    format!("{authors} {year}").trim().to_owned()
}

#[test]
fn sources_are_cited_by_authors_and_year() {
    assert_eq!(cited("D. P. O'Leary. The method. Linear Algebra 29, 1980."), "O'Leary 1980");
    assert_eq!(cited("S. Ma, M. Belkin. Kernel Machines. MLSys 2019."), "Ma and Belkin 2019");
    assert_eq!(cited("J. A. Lin, J. Antorán, A. Three. On X. NeurIPS 2023."), "Lin et al. 2023");
    assert_eq!(cited(""), "");
}

/// The line of a method, which lies in the folder of its plugin.
fn line(method: &Value) -> String {
    let [id, kind, plugin, doc, source] =
        ["id", "kind", "plugin", "doc", "source"].map(|key| text(&method[key]));
    let facts = FACTS.map(|key| text(&method["facts"][key])).join(" | ");
    format!("| [{id}]({plugin}) | {kind} | {doc} | {facts} | {} |\n", cited(&source))
}

#[test]
fn the_table_of_methods_is_what_the_plugins_state() {
    let answer = Sandbox::new().run(&["list", "solvers", "--format", "json"]).exits(0).json();
    let methods = answer["solvers"].as_array().expect("a list");
    for method in methods {
        let unstated = FACTS.iter().find(|key| text(&method["facts"][**key]).is_empty());
        assert_eq!(unstated, None, "`FACTS` of `{}` lack it", method["id"]);
    }
    let lines =
        |kind: &str| methods.iter().filter(|method| method["kind"] == kind).map(line).collect::<String>();
    let table = format!("{HEAD}{}{}", lines("solver"), lines("learner"));
    let file = checkout("plugins/README.md");
    let page = std::fs::read_to_string(&file).expect("a page");
    let (before, rest) = page.split_once(MARKS[0]).expect("a mark before the table");
    let (found, after) = rest.split_once(MARKS[1]).expect("a mark after the table");
    if std::env::var_os("UPDATE_METHODS").is_some() {
        let page = [before, MARKS[0], &table, MARKS[1], after].concat();
        std::fs::write(&file, page).expect("a writable page");
        return;
    }
    assert!(
        found == table,
        "the table of methods in plugins/README.md is not what the plugins state; \
         `UPDATE_METHODS=1 cargo test --release -p gpbench-cli methods` rewrites it"
    );
}

#[test]
fn what_a_plugin_states_is_listed() {
    let sandbox = Sandbox::new();
    let stated = ["Conjugate gradients, optionally", "n^2 entries, and 4 n k s", "Lin, S. Padhy"];
    for args in [&["list", "solvers"][..], &["list", "-v"], &["list", "--format", "md"]] {
        sandbox.run(args).exits(0).prints(&stated).prints(&["a step costs", "when to use it"]);
    }
}
