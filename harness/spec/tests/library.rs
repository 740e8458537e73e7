//! `--library`: solvers that take part although the spec does not name their library.

use crate::common;
use std::path::{Path, PathBuf};

use crate::common::{catalog, int, solver};
use gpbench_record::{LibraryInfo, ParamValue};
use gpbench_spec::{Checked, SpecCase, SpecErrors, SpecPlan, load};

const SPEC: &str = r#"
schema = 1
name = "small"
task = "posterior"
[matrix]
dataset = ["pol"]
kernel = ["matern32"]
solver = ["cholesky", "cg", "cg-ten"]
[solver.cg-ten]
plugin = "cg"
params.rank = 10
[budget]
tolerance = 0.01
"#;

/// A library somewhere else that offers these solvers, each with a rank that is 7 by default.
fn library(ids: &[&str]) -> LibraryInfo {
    let solvers = ids.iter().map(|id| solver(id, &[], vec![int("rank", 7, 1.0, 100.0)])).collect();
    LibraryInfo { file: PathBuf::from("/elsewhere/libmine.so"), ..common::library("mine", solvers) }
}

/// Checks a spec with a library, and gives the text that means the same.
fn check(text: &str, library: &LibraryInfo) -> (Result<Checked, SpecErrors>, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("spec.toml");
    std::fs::write(&path, text).expect("a file in it");
    let typed = load(&path, &[]).expect("TOML").with_libraries(std::slice::from_ref(library));
    let mut catalog = catalog();
    catalog.libraries.push(library.clone());
    (typed.check(&catalog), typed.text())
}

fn planned(text: &str, library: &LibraryInfo) -> SpecPlan {
    check(text, library).0.unwrap_or_else(|errors| panic!("{errors}")).plan()
}

/// Name, library and rank of every case, in the order of names.
fn entries<'a>(plan: &'a SpecPlan) -> Vec<(&'a str, &'a Path, Option<&'a ParamValue>)> {
    let entry = |planned: &'a SpecCase| {
        let solver = &planned.case.solver;
        (solver.name.as_str(), planned.plugin_file.as_path(), solver.params.get("rank"))
    };
    let mut entries: Vec<_> = plan.cases.iter().map(entry).collect();
    entries.sort_by_key(|(name, ..)| *name);
    entries
}

#[test]
fn a_strangers_spec_takes_the_solvers_of_this_machine() {
    let named = "plugin = \"cg\"\nlibrary = \"theirs.py\"\npython = \"their-python\"\noptional = true\n";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("spec.toml");
    std::fs::write(&path, SPEC.replace("plugin = \"cg\"\n", named)).expect("a file in it");
    let typed = load(&path, &[]).expect("TOML");
    assert_eq!(typed.libraries().len(), 1);
    let typed = typed.as_foreign();
    assert!(typed.libraries().is_empty());
    let plan = typed.check(&catalog()).unwrap_or_else(|errors| panic!("{errors}")).plan();
    assert!(entries(&plan).iter().any(|(name, ..)| *name == "cg-ten"));
}

#[test]
fn a_solver_that_the_spec_does_not_know_becomes_an_entry() {
    let library = library(&["mine", "mine-too"]);
    let plan = planned(SPEC, &library);
    let names: Vec<&str> = entries(&plan).iter().map(|(name, ..)| *name).collect();
    assert_eq!(names, ["cg", "cg-ten", "cholesky", "mine", "mine-too"]);
    assert_eq!(entries(&plan)[3], ("mine", library.file.as_path(), Some(&ParamValue::Int(7))));

    // The spec as it is stored means the same.
    let (_, text) = check(SPEC, &library);
    assert!(text.starts_with("# Written with"), "{text}");
    assert_eq!(planned(&text, &library), plan);
}

#[test]
fn a_single_name_stands_for_a_list() {
    let spec = SPEC.replace("[\"cholesky\", \"cg\", \"cg-ten\"]", "\"cg\"");
    let spec = spec.replace("[solver.cg-ten]\nplugin = \"cg\"\nparams.rank = 10\n", "");
    let plan = planned(&spec, &library(&["mine"]));
    assert_eq!(entries(&plan).iter().map(|(name, ..)| *name).collect::<Vec<_>>(), ["cg", "mine"]);
}

#[test]
fn entries_that_name_a_solver_of_the_library_take_it_from_there() {
    let library = library(&["cg"]);
    let plan = planned(SPEC, &library);
    let found = entries(&plan);
    assert_eq!(found[0], ("cg", library.file.as_path(), Some(&ParamValue::Int(7))));
    assert_eq!(found[1], ("cg-ten", library.file.as_path(), Some(&ParamValue::Int(10))));
    assert_eq!(found[2].0, "cholesky");
    assert_ne!(found[2].1, library.file);
    assert_eq!(found.len(), 3);
}

#[test]
fn the_command_line_counts_more_than_the_entry() {
    let spec = SPEC.replace("plugin = \"cg\"", "plugin = \"cg\"\nlibrary = \"/nowhere/libcg.so\"");
    let library = library(&["cg"]);
    let plan = planned(&spec, &library);
    assert!(
        entries(&plan)
            .iter()
            .filter(|(name, ..)| name.starts_with("cg"))
            .all(|entry| entry.1 == library.file)
    );
}

#[test]
fn two_libraries_with_one_solver_are_a_mistake() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("spec.toml");
    std::fs::write(&path, SPEC).expect("a file in it");
    let first = library(&["cg", "mine"]);
    let second = LibraryInfo { file: PathBuf::from("/elsewhere/libother.so"), ..library(&["mine"]) };
    let mut catalog = catalog();
    catalog.libraries.extend([first.clone(), second.clone()]);
    let check = |libraries: &[LibraryInfo]| {
        load(&path, &[]).expect("TOML").with_libraries(libraries).check(&catalog).map_err(|e| e.to_string())
    };
    let errors = check(&[first.clone(), second]).expect_err("two libraries");
    assert!(errors.contains("libmine.so and /elsewhere/libother.so"), "{errors}");
    assert!(
        errors.contains("solver `mine`") && errors.contains("name one of them with --library"),
        "{errors}"
    );
    // The same file twice is no mistake.
    check(&[first.clone(), first]).expect("one library");
}

#[test]
fn a_name_that_is_taken_is_reported() {
    let errors = check(SPEC, &library(&["cg-ten"])).0.expect_err("a clash").to_string();
    assert!(errors.contains("--library") && errors.contains("`cg-ten`"), "{errors}");
    assert!(errors.contains("`cg`") && errors.contains("rename"), "{errors}");
}

#[test]
fn mistakes_of_the_spec_are_reported_once() {
    let spec = SPEC.replace("tolerance = 0.01", "tolerance = 0.01\nmax_epoch = 3");
    let errors = check(&spec, &library(&["mine"])).0.expect_err("an unknown key").to_string();
    assert_eq!(errors.matches("max_epoch`").count(), 1, "{errors}");
}
