//! No test is left out: a crate's test program has every file of the folder `tests` as a module, and a library whose
//! manifest says that it has no unit tests or no examples has none.

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
fn what_a_library_does_not_test_it_does_not_have() {
    let packages = packages();
    let libraries = packages
        .iter()
        .flat_map(|package| &package.targets)
        .filter(|target| target.is_lib() || target.is_cdylib());
    for library in libraries.filter(|library| !library.test || !library.doctest) {
        let mut open =
            vec![library.src_path.parent().expect("a file lies in a folder").as_std_path().to_owned()];
        while let Some(path) = open.pop() {
            if path.is_dir() {
                open.extend(entries(&path));
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("readable source");
                let has_tests = text.contains("#[cfg(test)]") || text.contains("#[test]");
                assert!(
                    library.test || !has_tests,
                    "{} has unit tests: take `test = false` away",
                    path.display()
                );
                assert!(
                    library.doctest || !has_example(&text),
                    "{} has an example: take `doctest = false` away",
                    path.display()
                );
            }
        }
    }
}

/// Whether documentation has a block of Rust, which is one without another language.
fn has_example(text: &str) -> bool {
    let mut inside = false;
    for line in text.lines() {
        let Some(comment) = ["///", "//!"].iter().find_map(|mark| line.trim_start().strip_prefix(mark))
        else {
            inside = false;
            continue;
        };
        if let Some(language) = comment.trim_start().strip_prefix("```") {
            if !inside
                && (language.is_empty() || language.starts_with("rust") || language.contains("should_panic"))
            {
                return true;
            }
            inside = !inside;
        }
    }
    false
}
