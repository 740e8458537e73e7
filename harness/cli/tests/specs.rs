//! Every spec of `benchmarks` can be planned on a machine without data sets; forms of a spec that run and report.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::support::{Sandbox, checkout, spec};

/// The spec files below a folder. `reference` holds published figures, no specs, and the specs of `examples` need files that a
/// script makes.
fn specs(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) = entries.partition(|path| path.is_dir());
    let mut found: Vec<PathBuf> =
        files.into_iter().filter(|path| path.extension().is_some_and(|e| e == "toml")).collect();
    let below =
        folders.iter().filter(|folder| !["reference", "examples"].iter().any(|name| folder.ends_with(name)));
    found.extend(below.flat_map(|folder| specs(folder)));
    found
}

#[test]
fn every_spec_can_be_planned() {
    let folder = checkout("benchmarks");
    let specs = specs(&folder);
    assert!(specs.len() > 10, "{specs:?}");
    let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let sandbox = Sandbox::new();
    for spec in specs {
        // Tables that a script makes may be missing.
        sandbox.run(&["plan", spec.to_str().unwrap(), "--skip-missing"]).exits(0);
        let name = spec.file_name().unwrap().to_str().unwrap();
        assert!(readme.contains(&format!("{name})")), "{name} is missing in benchmarks/README.md");
    }
}

/// A spec as typed.
fn table(path: &Path) -> toml::Table {
    toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The names on an axis of a spec.
fn axis(spec: &toml::Table, name: &str) -> BTreeSet<String> {
    let names = spec["matrix"][name].as_array().expect("an axis");
    names.iter().map(|name| name.as_str().expect("a name").to_owned()).collect()
}

/// The table of a name on an axis, if it has one.
fn entry<'s>(spec: &'s toml::Table, axis: &str, name: &str) -> Option<&'s toml::Value> {
    spec.get(axis)?.get(name)
}

/// The plugin of a name on the solver axis.
fn plugin(spec: &toml::Table, solver: &str) -> String {
    let stated = entry(spec, "solver", solver).and_then(|entry| entry.get("plugin"));
    stated.and_then(toml::Value::as_str).unwrap_or(solver).to_owned()
}

/// `gpbench compare` leaves out data sets of which two runs have different rows.
#[test]
fn specs_that_are_to_be_compared_have_the_same_rows_and_seeds() {
    let folder = checkout("benchmarks");
    let mut compared = 0;
    for path in specs(&folder) {
        let text = std::fs::read_to_string(&path).unwrap();
        for rest in text.split("gpbench compare ").skip(1) {
            let mut names = rest.split_whitespace().map(|name| name.trim_end_matches('`'));
            let (Some(one), Some(other)) = (names.next(), names.next()) else { continue };
            let files = [one, other].map(|name| folder.join(format!("{name}.toml")));
            if !files.iter().all(|file| file.is_file()) {
                continue;
            }
            let [one, other] = files.map(|file| table(&file));
            assert_eq!(one["seeds"], other["seeds"], "{}", path.display());
            for dataset in axis(&one, "dataset").intersection(&axis(&other, "dataset")) {
                let [one, other] = [&one, &other].map(|spec| entry(spec, "dataset", dataset));
                assert_eq!(one, other, "{}: {dataset}", path.display());
                compared += 1;
            }
        }
    }
    assert!(compared >= 10, "{compared}");
}

#[test]
fn contestants_are_all_solvers_and_all_learners() {
    let answer = Sandbox::new().run(&["list", "solvers", "--format", "json"]).exits(0).json();
    let methods = answer["solvers"].as_array().expect("a list");
    for (file, kind) in [
        ("contestants", "solver"),
        ("contestants-small", "solver"),
        ("contestants-learn", "learner"),
        ("contestants-learn-small", "learner"),
    ] {
        let spec = table(&checkout(&format!("benchmarks/{file}.toml")));
        let contestants: BTreeSet<String> =
            axis(&spec, "solver").iter().map(|solver| plugin(&spec, solver)).collect();
        let of_kind = methods.iter().filter(|method| method["kind"] == kind);
        let ids = of_kind.filter_map(|method| method["id"].as_str());
        let missing: Vec<&str> = ids.filter(|id| !contestants.contains(*id)).collect();
        assert!(missing.is_empty(), "{file}.toml lacks {missing:?}");
    }
}

#[test]
fn a_text_on_an_axis_is_a_list_of_one() {
    let text = "solver = \"cg\"";
    let sandbox = Sandbox::with_spec(&spec("text", &[("solver = [\"cholesky\", \"cg\"]", text)]));
    sandbox.run(&["run", "spec.toml"]).exits(0).prints(&["cg"]);
    sandbox.run(&["report", "text"]).exits(0).prints(&["cg"]);
    assert_eq!(sandbox.cases().len(), 1);
    sandbox.run(&["check", "spec.toml", "--update"]).exits(0);
}
