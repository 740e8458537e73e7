//! New solvers: `plugin new`, the examples in C and Fortran, and `--library`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Sandbox, build, checkout};
use cargo_metadata::MetadataCommand;
use serde_json::Value;

/// Paths of all files below a folder, relative to it.
fn files(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            found.extend(files(&path).into_iter().map(|inner| format!("{name}/{inner}")));
        } else {
            found.insert(name);
        }
    }
    found
}

/// Runs make without output.
fn make(args: &[&str]) {
    build(Command::new("make").arg("--silent").args(args));
}

/// Builds the examples. Returns the paths of the libraries of solvers, in C and in Fortran.
fn examples(sandbox: &Sandbox) -> [PathBuf; 2] {
    let out = format!("OUT={}", sandbox.path("built").display());
    make(&["-C", &checkout("plugins/examples").to_string_lossy(), &out]);
    assert_eq!(files(&sandbox.path("built")).len(), 3, "one library for each example, and nothing else");
    ["built/libc_richardson.so", "built/libfortran_jacobi.so"].map(|path| sandbox.path(path))
}

/// Id and names of parameters of a library's solver, as `plugin inspect` prints them.
fn inspect(sandbox: &Sandbox, library: &Path) -> (String, Vec<String>) {
    let ended = sandbox.run(&["plugin", "inspect", &library.to_string_lossy(), "--format", "json"]).exits(0);
    let json = ended.json();
    let solver = &json["library"]["solvers"][0];
    let params = solver["params"].as_array().expect("parameters");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    (text(&solver["id"]), params.iter().map(|param| text(&param["name"])).collect())
}

const SPEC: &str = r#"schema = 1
name = "new"
task = "posterior"
seeds = [0]

[matrix]
dataset = ["gp-draw"]
kernel = ["as-drawn"]
estimator = ["pathwise"]
solver = ["cholesky"]

[dataset.gp-draw]
n = 150
d = 3
noise_scale = 0.3
length_scale = 0.5

[kernel.as-drawn]
family = "matern32"
hyperparameters = "generating"

[estimator.pathwise]
probes = 4
features = 100

[budget]
tolerance = 0.01
max_epochs = 200
"#;

#[test]
fn the_examples_build_and_solve() {
    let sandbox = Sandbox::with_spec(SPEC);
    let [c, fortran] = examples(&sandbox);
    let params = |second: &str| ["power_iterations", second, "max_iterations"].map(str::to_owned).to_vec();
    assert_eq!(inspect(&sandbox, &c), ("c-richardson".to_owned(), params("accelerate")));
    assert_eq!(inspect(&sandbox, &fortran), ("fortran-jacobi".to_owned(), params("acceleration")));

    let (c, fortran) = (c.to_string_lossy().into_owned(), fortran.to_string_lossy().into_owned());
    let run = ["run", "spec.toml", "--library", &c, "--library", &fortran];
    sandbox.run(&run).exits(0);
    let cases = sandbox.cases();
    assert_eq!(cases.len(), 3);
    for case in &cases {
        let solver = &case["solver"];
        assert_eq!(case["status"], "ok", "{solver}");
        let number = |name: &str| case["metrics"][name].as_f64().expect(name);
        assert!(number("residual_y") <= 0.01 && number("residual_probes") <= 0.01, "{case}");
        if *solver != "cholesky" {
            // The claimed residual is the true one.
            for (claimed, truth) in
                [("claimed_residual_y", "residual_y"), ("claimed_residual_probes", "residual_probes")]
            {
                assert!((number(claimed) - number(truth)).abs() < 1e-9, "{case}");
            }
            // Ten epochs for the bound on the spectrum, then one for each iteration.
            assert_eq!(number("epochs_setup"), 10.0, "{case}");
            assert_eq!(number("epochs"), 10.0 + number("iterations"), "{case}");
        }
    }
    // The same command continues the same run.
    sandbox.run(&run).exits(0).says(&["nothing was left to run"]);
}

#[test]
fn the_examples_do_not_fail_when_the_budget_is_too_small() {
    let sandbox = Sandbox::with_spec(SPEC);
    let [c, fortran] = examples(&sandbox).map(|library| library.to_string_lossy().into_owned());
    // Within the setup, and within the iterations.
    for epochs in [5.0, 14.0] {
        let budget = format!("budget.max_epochs={epochs}");
        sandbox.run(&["run", "spec.toml", "--set", &budget, "--library", &c, "--library", &fortran]).exits(0);
        let cases = sandbox.cases();
        for case in cases.iter().filter(|case| case["solver"] != "cholesky") {
            assert_eq!(case["status"], "not_converged", "{case}");
            assert_eq!(case["metrics"]["epochs"], epochs, "{case}");
        }
        assert_eq!(cases.len(), 3);
    }
}

#[test]
fn an_unusable_library_is_refused_before_anything_runs() {
    let sandbox = Sandbox::with_spec(SPEC);
    sandbox.run(&["run", "spec.toml", "--library", "nowhere.so"]).exits(2).says(&["nowhere.so"]);
    sandbox.run(&["plan", "spec.toml", "--library", "spec.toml"]).exits(2).says(&["not a usable plugin"]);
    assert!(!sandbox.path("reports/new").exists());
}

#[test]
fn a_new_rust_plugin_is_a_crate_of_its_own() {
    let sandbox = Sandbox::new();
    let sdk = checkout("harness/sdk");
    let ended = sandbox.run(&["plugin", "new", "my-solver", "--sdk", &sdk.to_string_lossy()]).exits(0);
    ended.prints(&[
        "cargo build --release --manifest-path my-solver/Cargo.toml",
        "plugin test ",
        "run ",
        "--library ",
    ]);
    let expected = [
        ".gitignore",
        "Cargo.toml",
        "README.md",
        "src/lib.rs",
        "src/params.rs",
        "src/solver.rs",
        "tests/solve.rs",
    ];
    assert_eq!(files(&sandbox.path("my-solver")), expected.map(str::to_owned).into());

    // Cargo reads the manifest and finds the SDK, and the host of tests beside it.
    let manifest = sandbox.path("my-solver/Cargo.toml");
    let metadata = MetadataCommand::new().manifest_path(manifest).no_deps().exec().expect("a manifest");
    let package = &metadata.packages[0];
    assert_eq!(package.name.as_str(), "my-solver");
    let path = |name: &str| {
        let found = package.dependencies.iter().find(|dependency| dependency.name == name);
        found.and_then(|dependency| dependency.path.clone()).expect("a path").into_std_path_buf()
    };
    let sdk = sdk.canonicalize().expect("the SDK");
    assert_eq!(path("gpbench-sdk"), sdk);
    assert_eq!(path("gpbench-testing"), sdk.with_file_name("testing"));
    let solver = sandbox.read("my-solver/src/solver.rs");
    assert!(solver.contains("impl Solver for MySolver") && solver.contains("= \"my-solver\";"), "{solver}");
}

#[test]
fn new_plugins_in_c_and_fortran_build_under_their_names() {
    let sandbox = Sandbox::new();
    for (language, name, expected) in [
        ("c", "first-c", vec![".gitignore", "Makefile", "README.md", "first_c.c", "gpbench.h"]),
        (
            "fortran",
            "first-fortran",
            vec![".gitignore", "Makefile", "README.md", "first_fortran.f90", "gpbench.f90", "gpbench.h"],
        ),
    ] {
        let ended = sandbox.run(&["plugin", "new", name, "--lang", language, "--dir", "new/here"]);
        ended.exits(0).prints(&["make -C new/here"]);
        let folder = sandbox.path("new/here");
        assert_eq!(files(&folder), expected.into_iter().map(str::to_owned).collect());
        make(&["-C", &folder.to_string_lossy()]);
        let library = folder.join(format!("lib{}.so", name.replace('-', "_")));
        assert_eq!(inspect(&sandbox, &library).0, name);
        std::fs::remove_dir_all(&folder).expect("a folder to remove");
    }
}

#[test]
fn a_new_plugin_in_python_is_two_files() {
    let sandbox = Sandbox::new();
    let ended = sandbox.run(&["plugin", "new", "my-solver", "--lang", "python"]).exits(0);
    ended.prints(&[
        "wrote my_solver.py, test_my_solver.py",
        "python3 -m pytest test_my_solver.py",
        "plugin test my_solver.py",
        "--library my_solver.py",
    ]);
    let code = sandbox.read("my_solver.py");
    assert!(code.contains("class MySolver(Solver)") && code.contains("id = \"my-solver\""), "{code}");

    // Neither file is overwritten, and no second one is written beside.
    let again = ["plugin", "new", "my-solver", "--lang", "python"];
    sandbox.run(&again).exits(2).says(&["my_solver.py exists", "--dir"]);
    std::fs::remove_file(sandbox.path("my_solver.py")).expect("a file to remove");
    sandbox.run(&again).exits(2).says(&["test_my_solver.py exists"]);
    assert!(!sandbox.path("my_solver.py").exists());

    let learner = ["plugin", "new", "mine", "--lang", "python", "--learner", "--dir", "new/here"];
    sandbox.run(&learner).exits(0).prints(&["wrote new/here: mine.py, test_mine.py"]);
    assert!(sandbox.read("new/here/mine.py").contains("class Mine(Learner)"));

    for name in ["numpy", "random", "lambda"] {
        let ended = sandbox.run(&["plugin", "new", name, "--lang", "python"]);
        ended.exits(2).says(&[&format!("my-{name}")]);
    }
}

#[test]
fn an_existing_folder_is_not_overwritten() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("mine")).expect("a folder");
    sandbox.run(&["plugin", "new", "mine", "--lang", "c"]).exits(2).says(&["mine exists", "--dir"]);
    assert!(files(&sandbox.path("mine")).is_empty());
}

#[test]
fn wrong_names_and_folders_are_reported() {
    let sandbox = Sandbox::new();
    sandbox.run(&["plugin", "new", "My_Solver"]).exits(2).says(&["`My_Solver`", "my-method"]);
    sandbox.run(&["plugin", "new", "match"]).exits(2).says(&["`match`", "my-match"]);
    let ended = sandbox.run(&["plugin", "new", "mine", "--sdk", "nowhere"]);
    ended.exits(2).says(&["nowhere", "harness/sdk"]);
    assert!(!sandbox.path("mine").exists());
}
