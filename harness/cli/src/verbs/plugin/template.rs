//! The files that `plugin new` writes: those of this project's examples under another name.
//!
//! The examples are embedded in the program, so that what is written is what is built and tested here.

use std::path::Path;

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
    /// Python, in one file.
    Python,
}

/// The kind of a plugin.
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
    /// The spec that its README names, if that is one of the files, else [`UNNAMED`].
    spec: &'static str,
    /// Other replacements in texts, before the id is replaced.
    replaced: &'static [(&'static str, &'static str)],
    /// The introduction of the README of an example that is one file; the rest is a common text.
    begins_as: Option<&'static str>,
}

/// The spec of an example whose files name none.
const UNNAMED: &str = "\0";

/// The README of a plugin in one file.
const README: &str = include_str!("readme.md");

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
    begins_as: None,
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
    begins_as: None,
};

const C_LEARNER: Example = Example {
    id: "c-scale-descent",
    files: &[
        ("c_scale_descent.c", plugins!("examples/c-scale-descent/c_scale_descent.c")),
        ("gpbench.h", interface!("gpbench.h")),
        ("Makefile", plugins!("examples/c-scale-descent/Makefile")),
        (".gitignore", "*.so\n"),
    ],
    spec: "../../../benchmarks/learners-small.toml",
    replaced: &[
        ("../../../harness/abi/include", "."),
        (
            "/* Signal and noise scale of a Gaussian process by gradient descent on minibatches: a whole learner in C99.\n *\n",
            "/* The learner `c-scale-descent`: a whole gpbench plugin in C99.\n *\n * It begins as an example that works, to be replaced: signal and noise scale of a Gaussian process by gradient descent.\n *\n",
        ),
        (
            ".doc = TEXT(\"Signal and noise scale by gradient descent on minibatches, written in C\")",
            ".doc = TEXT(\"c-scale-descent: one line about the method\")",
        ),
        (
            "    .source = TEXT(\"H. Chen, L. Zheng, R. Al Kontar, G. Raskutti. Stochastic gradient descent in correlated settings: a \"\n                   \"study on Gaussian processes. NeurIPS, 2020.\"),\n",
            "    /* .source = TEXT(\"A. Author. Title. Venue, year.\"), which reports cite */\n",
        ),
    ],
    begins_as: Some("signal and noise scale by gradient descent on minibatches"),
};

const C: Example = Example {
    id: "c-richardson",
    files: &[
        ("c_richardson.c", plugins!("examples/c-richardson/c_richardson.c")),
        ("gpbench.h", interface!("gpbench.h")),
        ("Makefile", plugins!("examples/c-richardson/Makefile")),
        (".gitignore", "*.so\n"),
    ],
    spec: "../../../benchmarks/quickstart.toml",
    replaced: &[
        ("../../../harness/abi/include", "."),
        (
            "/* Richardson's iteration with Chebyshev acceleration: a whole gpbench plugin in C99.\n *\n",
            "/* The solver `c-richardson`: a whole gpbench plugin in C99.\n *\n * It begins as an example that works, to be replaced: Richardson's iteration with Chebyshev acceleration.\n *\n",
        ),
        (
            ".doc = TEXT(\"Richardson's iteration with Chebyshev acceleration, written in C\")",
            ".doc = TEXT(\"c-richardson: one line about the method\")",
        ),
        (
            "    .source = TEXT(\"G. H. Golub, R. S. Varga. Chebyshev semi-iterative methods, successive overrelaxation iterative \"\n                   \"methods, and second order Richardson iterative methods. Numerische Mathematik 3, 1961.\"),\n",
            "    /* .source = TEXT(\"A. Author. Title. Venue, year.\"), which reports cite */\n",
        ),
    ],
    begins_as: Some("Richardson's iteration with Chebyshev acceleration"),
};

const FORTRAN: Example = Example {
    id: "fortran-jacobi",
    files: &[
        ("fortran_jacobi.f90", plugins!("examples/fortran-jacobi/fortran_jacobi.f90")),
        ("gpbench.f90", interface!("gpbench.f90")),
        ("gpbench.h", interface!("gpbench.h")),
        ("Makefile", plugins!("examples/fortran-jacobi/Makefile")),
        (".gitignore", "*.so\n*.mod\n"),
    ],
    spec: "../../../benchmarks/quickstart.toml",
    replaced: &[
        ("../../../harness/abi/include", "."),
        (
            "!> Jacobi's iteration with Chebyshev acceleration: a whole gpbench plugin in Fortran 2018.\n!>\n",
            "!> The solver `fortran-jacobi`: a whole gpbench plugin in Fortran 2018.\n!>\n!> It begins as an example that works, to be replaced: Jacobi's iteration with Chebyshev acceleration.\n!>\n",
        ),
        (
            "gpb_permanent(\"Jacobi's iteration with Chebyshev acceleration, written in Fortran\")",
            "gpb_permanent(\"fortran-jacobi: one line about the method\")",
        ),
        (
            "    solvers(1)%source = gpb_permanent(\"G. H. Golub, R. S. Varga. Chebyshev semi-iterative methods, successive \"// &\n        \"overrelaxation iterative methods, and second order Richardson iterative methods. \"// &\n        \"Numerische Mathematik 3, 1961.\")\n",
            "    ! solvers(1)%source = gpb_permanent(\"A. Author. Title. Venue, year.\"), which reports cite\n",
        ),
    ],
    begins_as: Some("Jacobi's iteration with Chebyshev acceleration"),
};

const PYTHON: Example = Example {
    id: "fancy-solver",
    files: &[
        ("fancy_solver.py", plugins!("python/template/fancy_solver.py")),
        ("test_fancy_solver.py", plugins!("python/template/test_fancy_solver.py")),
    ],
    spec: UNNAMED,
    replaced: &[("Richardson's iteration with a fixed step", "fancy-solver: one line about the method")],
    begins_as: None,
};

const PYTHON_LEARNER: Example = Example {
    id: "fancy-learner",
    files: &[
        ("fancy_learner.py", plugins!("python/template/fancy_learner.py")),
        ("test_fancy_learner.py", plugins!("python/template/test_fancy_learner.py")),
    ],
    spec: UNNAMED,
    replaced: &[(
        "A Gaussian process whose scales descend on the likelihoods of minibatches",
        "fancy-learner: one line about the method",
    )],
    begins_as: None,
};

/// The files of a plugin called `name`, which is first run with `spec`; none if there is no such example.
pub(super) fn files(kind: Kind, language: Language, name: &str, spec: &str) -> Option<Vec<File>> {
    let example = match (kind, language) {
        (Kind::Solver, Language::Rust) => RUST,
        (Kind::Solver, Language::C) => C,
        (Kind::Solver, Language::Fortran) => FORTRAN,
        (Kind::Solver, Language::Python) => PYTHON,
        (Kind::Learner, Language::Rust) => RUST_LEARNER,
        (Kind::Learner, Language::C) => C_LEARNER,
        (Kind::Learner, Language::Python) => PYTHON_LEARNER,
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
    let mut files: Vec<File> = example.files.iter().map(file).collect();
    if let Some(begins_as) = example.begins_as {
        let library = format!("{}{snake}{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
        let tokens = [
            ("@NAME@", name),
            ("@SOURCE@", &files[0].0),
            ("@EXAMPLE@", begins_as),
            ("@LIBRARY@", &library),
            ("@SPEC@", spec),
        ];
        let text = tokens.iter().fold(README.to_owned(), |text, (token, value)| text.replace(token, value));
        files.push(("README.md".to_owned(), text));
    }
    Some(files)
}

/// Where a Rust plugin finds the SDK.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sdk {
    /// Its folder, as text.
    Path(String),
    /// A version, from a registry.
    Version(String),
}

/// The manifest of a Rust plugin, a workspace of its own.
pub(super) fn manifest(kind: Kind, name: &str, sdk: &Sdk) -> File {
    // A text quoted as JSON is quoted as TOML too.
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let (sdk, testing) = match sdk {
        Sdk::Path(path) => {
            let beside = Path::new(path).with_file_name("testing");
            (format!("path = {}", quoted(path)), format!("path = {}", quoted(&beside.to_string_lossy())))
        }
        Sdk::Version(version) => {
            let version = format!("version = {}", quoted(version));
            (version.clone(), version)
        }
    };
    // The example of a solver has no need for LAPACK, that of a learner has.
    let (comment, features) = match kind {
        Kind::Solver => (
            "Without its feature `blas`, which factorisations and preconditioners need: it links OpenBLAS.",
            ", default-features = false",
        ),
        Kind::Learner => {
            ("Its feature `blas`, on by default, links OpenBLAS (libopenblas-dev on Debian).", "")
        }
    };
    let kind = kind.name();
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
# {comment}
gpbench-sdk = {{ {sdk}{features} }}

[dev-dependencies]
gpbench-testing = {{ {testing} }}

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
    use std::collections::BTreeSet;

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
            let paths: BTreeSet<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
            assert_eq!(paths.len(), files.len(), "{language:?}: a file is written twice");
            let readme = files.iter().find(|(path, _)| path == "README.md").map(|(_, text)| text);
            assert!(readme.is_some_and(|text| text.contains("gpbench run /of-checkout/spec.toml ")));
        }
    }

    #[test]
    fn the_files_of_python_are_the_authors_own() {
        for (kind, old) in [(Kind::Solver, "fancy"), (Kind::Learner, "fancy")] {
            let files = files(kind, Language::Python, "my-method-2", "spec.toml").expect("an example");
            let paths: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
            assert_eq!(paths, ["my_method_2.py", "test_my_method_2.py"]);
            for (path, text) in &files {
                assert!(!text.to_lowercase().contains(old), "{path} has {old}");
            }
            let code = &files[0].1;
            for wanted in [
                "class MyMethod2(",
                "id = \"my-method-2\"",
                "\"\"\"my-method-2: one line about the method\"\"\"",
                "plugin test my_method_2.py",
            ] {
                assert!(code.contains(wanted), "{wanted} is missing in {code}");
            }
            assert!(files[1].1.contains("from my_method_2 import MyMethod2"));
        }
    }

    #[test]
    fn names_have_three_forms() {
        assert_eq!(snake_case("my-solver-2"), "my_solver_2");
        assert_eq!(camel_case("my-solver-2"), "MySolver2");
    }

    #[test]
    fn an_unusual_path_is_quoted() {
        let (_, text) = manifest(Kind::Learner, "mine", &Sdk::Path("/a \"b\"\\c".to_owned()));
        assert!(text.contains(r#"gpbench-sdk = { path = "/a \"b\"\\c" }"#), "{text}");
    }

    #[test]
    fn a_solver_needs_no_blas() {
        let (_, text) = manifest(Kind::Solver, "mine", &Sdk::Version("0.1".to_owned()));
        assert!(text.contains(r#"gpbench-sdk = { version = "0.1", default-features = false }"#), "{text}");
    }

    #[test]
    fn tests_find_their_host_beside_the_sdk() {
        let (_, text) = manifest(Kind::Solver, "mine", &Sdk::Path("/of \"checkout\"/sdk".to_owned()));
        assert!(text.contains(r#"gpbench-testing = { path = "/of \"checkout\"/testing" }"#), "{text}");
        let (_, text) = manifest(Kind::Learner, "mine", &Sdk::Version("0.1".to_owned()));
        assert!(text.contains(r#"gpbench-testing = { version = "0.1" }"#), "{text}");
    }

    #[test]
    fn the_text_of_a_new_plugin_is_its_own() {
        for (kind, language) in [
            (Kind::Solver, Language::Rust),
            (Kind::Solver, Language::C),
            (Kind::Solver, Language::Fortran),
            (Kind::Learner, Language::Rust),
            (Kind::Learner, Language::C),
        ] {
            let files = files(kind, language, "mine", "spec.toml").expect("an example");
            let text = |wanted: fn(&str) -> bool| {
                let found = files.iter().find(|(path, _)| wanted(path)).map(|(_, text)| text.as_str());
                found.expect("a file").to_owned()
            };
            let readme = text(|path| path == "README.md");
            assert!(
                readme.starts_with("# mine\n\n(Fill in: ") && readme.contains("**Source.** (Fill in"),
                "{readme}"
            );
            assert!(!readme.contains('@'), "{readme}");
            let code = text(|path| ["src/solver.rs", "src/learner.rs", "mine.c", "mine.f90"].contains(&path));
            assert!(code.contains("mine: one line about the method"), "{language:?}");
            assert!(code.lines().next().is_some_and(|line| line.contains("`mine`")), "{language:?}");
            for author in ["Cauchy", "Raydan", "H. Chen", "G. H. Golub"] {
                assert!(!readme.contains(author) && !code.contains(author), "{language:?} names {author}");
            }
        }
    }
}
