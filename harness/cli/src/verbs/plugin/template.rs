//! The files that `plugin new` writes: those of this project's examples under another name.
//!
//! The examples are embedded in the program, so that what is written is what is built and tested here.

use clap::ValueEnum;

/// Languages that `gpbench plugin new` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Language {
    /// Rust, with the SDK.
    Rust,
    /// C99.
    C,
    /// Fortran 2018.
    Fortran,
}

/// What a plugin offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A solver of linear systems.
    Solver,
    /// A learner, which finds hyperparameters and predicts by itself.
    Learner,
}

impl Kind {
    /// As a noun.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Solver => "solver",
            Kind::Learner => "learner",
        }
    }
}

/// A file of a new plugin: its path in the folder, and its text.
pub(super) type File = (String, String);

/// The example that a new plugin is a copy of.
struct Example {
    /// The id of its solver or learner.
    id: &'static str,
    /// Paths and texts. Both may hold the id, also in snake case and camel case.
    files: &'static [(&'static str, &'static str)],
    /// The spec that its README names.
    spec: &'static str,
    /// Other replacements in texts.
    replaced: &'static [(&'static str, &'static str)],
}

macro_rules! plugins {
    ($path:literal) => {
        include_str!(concat!("../../../../../plugins/", $path))
    };
}

macro_rules! interface {
    ($path:literal) => {
        include_str!(concat!("../../../../abi/include/", $path))
    };
}

const RUST: Example = Example {
    id: "steepest-descent",
    files: &[
        ("src/lib.rs", plugins!("template/src/lib.rs")),
        ("src/params.rs", plugins!("template/src/params.rs")),
        ("src/solver.rs", plugins!("template/src/solver.rs")),
        ("tests/solve.rs", plugins!("template/tests/solve.rs")),
        ("README.md", plugins!("template/README.md")),
        (".gitignore", "/target\n"),
    ],
    spec: "../../benchmarks/quickstart.toml",
    replaced: &[("../../target", "target"), ("gpbench_template", "steepest_descent")],
};

const RUST_LEARNER: Example = Example {
    id: "minibatch-gp",
    files: &[
        ("src/lib.rs", plugins!("template-learner/src/lib.rs")),
        ("src/params.rs", plugins!("template-learner/src/params.rs")),
        ("src/process.rs", plugins!("template-learner/src/process.rs")),
        ("src/learner.rs", plugins!("template-learner/src/learner.rs")),
        ("tests/fit.rs", plugins!("template-learner/tests/fit.rs")),
        ("README.md", plugins!("template-learner/README.md")),
        (".gitignore", "/target\n"),
    ],
    spec: "../../benchmarks/learners-small.toml",
    replaced: &[("../../target", "target"), ("gpbench_template_learner", "minibatch_gp")],
};

const C_LEARNER: Example = Example {
    id: "c-scale-descent",
    files: &[
        ("c_scale_descent.c", plugins!("examples/c-scale-descent/c_scale_descent.c")),
        ("gpbench.h", interface!("gpbench.h")),
        ("Makefile", plugins!("examples/c-scale-descent/Makefile")),
        ("README.md", plugins!("examples/c-scale-descent/README.md")),
        (".gitignore", "*.so\n"),
    ],
    spec: "../../../benchmarks/learners-small.toml",
    replaced: &[("../../../harness/abi/include", ".")],
};

const C: Example = Example {
    id: "c-richardson",
    files: &[
        ("c_richardson.c", plugins!("examples/c-richardson/c_richardson.c")),
        ("gpbench.h", interface!("gpbench.h")),
        ("Makefile", plugins!("examples/c-richardson/Makefile")),
        ("README.md", plugins!("examples/c-richardson/README.md")),
        (".gitignore", "*.so\n"),
    ],
    spec: "../../../benchmarks/quickstart.toml",
    replaced: &[("../../../harness/abi/include", ".")],
};

const FORTRAN: Example = Example {
    id: "fortran-jacobi",
    files: &[
        ("fortran_jacobi.f90", plugins!("examples/fortran-jacobi/fortran_jacobi.f90")),
        ("gpbench.f90", interface!("gpbench.f90")),
        ("gpbench.h", interface!("gpbench.h")),
        ("Makefile", plugins!("examples/fortran-jacobi/Makefile")),
        ("README.md", plugins!("examples/fortran-jacobi/README.md")),
        (".gitignore", "*.so\n*.mod\n"),
    ],
    spec: "../../../benchmarks/quickstart.toml",
    replaced: &[("../../../harness/abi/include", ".")],
};

/// The files of a plugin called `name`, which is first run with `spec`; none if there is no such example.
pub(super) fn files(kind: Kind, language: Language, name: &str, spec: &str) -> Option<Vec<File>> {
    let example = match (kind, language) {
        (Kind::Solver, Language::Rust) => RUST,
        (Kind::Solver, Language::C) => C,
        (Kind::Solver, Language::Fortran) => FORTRAN,
        (Kind::Learner, Language::Rust) => RUST_LEARNER,
        (Kind::Learner, Language::C) => C_LEARNER,
        (Kind::Learner, Language::Fortran) => return None,
    };
    let (snake, camel) = (snake_case(name), camel_case(name));
    let renamed = |text: &str| {
        text.replace(example.id, name)
            .replace(&snake_case(example.id), &snake)
            .replace(&camel_case(example.id), &camel)
    };
    let file = |(path, text): &(&str, &str)| {
        let text =
            example.replaced.iter().fold((*text).to_owned(), |text, (old, new)| text.replace(old, new));
        (renamed(path), renamed(&text).replace(example.spec, spec))
    };
    Some(example.files.iter().map(file).collect())
}

/// The manifest of a Rust plugin, a workspace of its own.
pub(super) fn manifest(kind: Kind, name: &str, sdk: &str) -> File {
    // A path quoted as JSON is quoted as TOML too.
    let (sdk, kind) = (serde_json::Value::from(sdk), kind.name());
    let text = format!(
        r#"[package]
name = "{name}"
description = "A {kind} for gpbench"
version = "0.1.0"
edition = "2024"
publish = false

[lib]
crate-type = ["cdylib", "rlib"]

[dependencies]
gpbench-sdk = {{ path = {sdk} }}

# Belongs to no workspace around it.
[workspace]
"#
    );
    ("Cargo.toml".to_owned(), text)
}

/// `my-solver` as `my_solver`.
pub(super) fn snake_case(name: &str) -> String {
    name.replace('-', "_")
}

/// `my-solver` as `MySolver`.
fn camel_case(name: &str) -> String {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    name.split('-').filter(|word| !word.is_empty()).map(capital).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_names_are_replaced_everywhere() {
        for (kind, language, old) in [
            (Kind::Solver, Language::Rust, ["steepest-descent", "steepest_descent", "SteepestDescent"]),
            (Kind::Solver, Language::C, ["c-richardson", "c_richardson", "CRichardson"]),
            (Kind::Solver, Language::Fortran, ["fortran-jacobi", "fortran_jacobi", "FortranJacobi"]),
            (Kind::Learner, Language::Rust, ["minibatch-gp", "minibatch_gp", "MinibatchGp"]),
            (Kind::Learner, Language::C, ["c-scale-descent", "c_scale_descent", "CScaleDescent"]),
        ] {
            let files = files(kind, language, "my-method-2", "/of-checkout/spec.toml").expect("an example");
            for (path, text) in &files {
                for old in old.iter().chain(&["gpbench_template", "../../.."]) {
                    assert!(!path.contains(old) && !text.contains(old), "{path} has {old}");
                }
            }
            assert!(files.iter().any(|(_, text)| text.contains("\"my-method-2\"")), "{language:?}");
            let readme = files.iter().find(|(path, _)| path == "README.md").map(|(_, text)| text);
            assert!(readme.is_some_and(|text| text.contains("gpbench run /of-checkout/spec.toml ")));
        }
    }

    #[test]
    fn names_have_three_forms() {
        assert_eq!(snake_case("my-solver-2"), "my_solver_2");
        assert_eq!(camel_case("my-solver-2"), "MySolver2");
    }

    #[test]
    fn an_unusual_path_is_quoted() {
        let (_, text) = manifest(Kind::Learner, "mine", "/a \"b\"\\c");
        assert!(text.contains(r#"{ path = "/a \"b\"\\c" }"#), "{text}");
    }
}
