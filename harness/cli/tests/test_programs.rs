//! No test is left out: a crate's test program has every file of the folder `tests` as a module, and a library whose
//! manifest says that it has no unit tests has none.

use std::path::{Path, PathBuf};

use cargo_metadata::{MetadataCommand, Package};

fn packages() -> Vec<Package> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml");
    MetadataCommand::new().manifest_path(root).no_deps().exec().expect("cargo metadata").packages
}

fn folder(package: &Package) -> &Path {
    package.manifest_path.parent().expect("a manifest lies in a folder").as_std_path()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = std::fs::read_dir(folder).into_iter().flatten();
    read.map(|entry| entry.expect("a readable folder").path()).collect()
}

/// Files beside `root` and below that no module declaration names.
fn unnamed(root: &Path) -> Vec<PathBuf> {
    let text = std::fs::read_to_string(root).expect("readable source");
    let names: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_suffix(';')?.rsplit_once("mod ").map(|(_, name)| name))
        .collect();
    let mut left = Vec::new();
    for path in entries(root.parent().expect("a file lies in a folder")) {
        let inner = path.join("mod.rs");
        let is_module = inner.exists() || path.extension().is_some_and(|extension| extension == "rs");
        if path == root || !is_module {
            continue;
        }
        if !names.contains(&path.file_stem().and_then(|stem| stem.to_str()).expect("a name in UTF-8")) {
            left.push(path);
        } else if inner.exists() {
            left.extend(unnamed(&inner));
        }
    }
    left
}

#[test]
fn every_test_file_is_a_module() {
    for package in packages() {
        let tests = folder(&package).join("tests");
        let main = tests.join("main.rs");
        if main.exists() {
            assert_eq!(unnamed(&main), Vec::<PathBuf>::new(), "not in {}", main.display());
        } else {
            let files =
                entries(&tests).into_iter().filter(|path| path.extension().is_some_and(|e| e == "rs"));
            let programs = package.targets.iter().filter(|target| target.is_test());
            assert_eq!(files.count(), programs.count(), "{}: several files need a main.rs", tests.display());
        }
    }
}

#[test]
fn libraries_without_a_test_program_have_no_unit_tests() {
    let packages = packages();
    let untested = packages
        .iter()
        .flat_map(|package| &package.targets)
        .filter(|target| !target.test && (target.is_lib() || target.is_cdylib()));
    for target in untested {
        let mut open =
            vec![target.src_path.parent().expect("a file lies in a folder").as_std_path().to_owned()];
        while let Some(path) = open.pop() {
            if path.is_dir() {
                open.extend(entries(&path));
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("readable source");
                assert!(!text.contains("#[cfg(test)]") && !text.contains("#[test]"), "{}", path.display());
            }
        }
    }
}
