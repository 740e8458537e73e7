//! Every spec of `benchmarks` can be planned on a machine without data sets; forms of a spec that run and report.

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

#[test]
fn a_text_on_an_axis_is_a_list_of_one() {
    let text = "solver = \"cg\"";
    let sandbox = Sandbox::with_spec(&spec("text", &[("solver = [\"cholesky\", \"cg\"]", text)]));
    sandbox.run(&["run", "spec.toml"]).exits(0).prints(&["cg"]);
    sandbox.run(&["report", "text"]).exits(0).prints(&["cg"]);
    assert_eq!(sandbox.cases().len(), 1);
    sandbox.run(&["check", "spec.toml", "--update"]).exits(0);
}
