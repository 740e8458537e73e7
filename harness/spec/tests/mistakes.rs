//! What the messages say about each kind of mistake: one small spec a file in `tests/mistakes`, one snapshot
//! beside it.

use crate::common;
use std::path::PathBuf;

#[test]
fn every_mistake_is_reported_with_its_place() {
    // The path as a user would type it, so that snapshots hold anywhere.
    let folder = PathBuf::from("tests/mistakes");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the folder of mistakes")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    assert!(files.len() >= 20);
    for file in files {
        let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
        let errors = common::check(&file, &[]).map(|_| ()).expect_err(&name);
        assert!(errors.errors().iter().all(|e| e.line > 0 && e.column > 0 && e.excerpt.is_some()), "{name}");
        insta::with_settings!({ snapshot_path => "mistakes", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(name, errors);
        });
    }
}

#[test]
fn an_unreadable_spec_is_reported_without_a_place() {
    let error =
        common::check("tests/mistakes/absent.toml".as_ref(), &[]).map(|_| ()).unwrap_err().to_string();
    assert!(error.starts_with("tests/mistakes/absent.toml: error: cannot read this spec"), "{error}");
}

#[test]
fn a_mistake_in_an_override_is_shown_in_the_override() {
    let spec = "../../benchmarks/quickstart.toml".as_ref();
    let sets = ["budget.tolerance=-1", "solver.cg-preconditioned.params.rnak = 10"];
    let errors = common::check(spec, &sets).map(|_| ()).unwrap_err();
    insta::assert_snapshot!(errors, @r#"
    --set:1:18: error: `tolerance` must lie between 0 and 1, not -1; it is a relative residual norm, and the zero vector reaches 1
      |
    1 | budget.tolerance=-1
      |                  ^^

    --set:1:33: error: solver `cg` has no parameter `rnak`; did you mean `rank`?
      |
    1 | solver.cg-preconditioned.params.rnak = 10
      |                                 ^^^^
    "#);
    let errors = common::check(spec, &["task=postirior"]).map(|_| ()).unwrap_err();
    insta::assert_snapshot!(errors, @r#"
    --set:1:6: error: unknown task "postirior"; did you mean `posterior`?
      |
    1 | task=postirior
      |      ^^^^^^^^^
    "#);
}
