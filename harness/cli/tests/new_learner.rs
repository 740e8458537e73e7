//! New learners: `plugin new --learner`, and the example in C.

use std::path::Path;
use std::process::Command;

use crate::support::{Ended, Sandbox, build, checkout, library};
use cargo_metadata::MetadataCommand;
use serde_json::Value;

/// The only entry of a library, as `plugin inspect` prints it.
fn inspect(sandbox: &Sandbox, library: &Path) -> Value {
    let ended = sandbox.run(&["plugin", "inspect", &library.to_string_lossy(), "--format", "json"]).exits(0);
    let library = ended.json()["library"].clone();
    let entries = library["solvers"].as_array().expect("entries");
    assert_eq!((library["abi"].as_str(), entries.len()), (Some("1.5"), 1), "{library}");
    entries[0].clone()
}

#[test]
fn a_new_rust_learner_is_a_crate_of_its_own() {
    let sandbox = Sandbox::new();
    let sdk = checkout("harness/sdk");
    let sdk = sdk.to_string_lossy();
    let ended = sandbox.run(&["plugin", "new", "my-learner", "--learner", "--sdk", &sdk]).exits(0);
    ended.prints(&["cargo build --release --manifest-path my-learner/Cargo.toml", "plugin test ", "run "]);

    let manifest = sandbox.path("my-learner/Cargo.toml");
    let metadata = MetadataCommand::new().manifest_path(manifest).no_deps().exec().expect("a manifest");
    assert_eq!(metadata.packages[0].name.as_str(), "my-learner");
    assert_eq!(metadata.packages[0].description.as_deref(), Some("A learner for gpbench"));
    let learner = sandbox.read("my-learner/src/learner.rs");
    assert!(
        learner.contains("impl Learner for MyLearner") && learner.contains("= \"my-learner\";"),
        "{learner}"
    );
    assert!(sandbox.read("my-learner/src/lib.rs").contains("learners: [MyLearner]"));
    assert!(sandbox.read("my-learner/tests/fit.rs").contains("use my_learner::MyLearner;"));
}

#[test]
fn a_new_learner_in_c_builds_under_its_name() {
    let sandbox = Sandbox::new();
    sandbox
        .run(&["plugin", "new", "first-c", "--learner", "--lang", "c"])
        .exits(0)
        .prints(&["make -C first-c"]);
    build(Command::new("make").args(["--silent", "-C"]).arg(sandbox.path("first-c")));
    let learner = inspect(&sandbox, &sandbox.path("first-c/libfirst_c.so"));
    assert_eq!((learner["id"].as_str(), learner["kind"].as_str()), (Some("first-c"), Some("learner")));
    assert_eq!(learner["capabilities"], serde_json::json!(["kernel"]));
    let params = learner["params"].as_array().expect("parameters");
    let names: Vec<&str> = params.iter().filter_map(|param| param["name"].as_str()).collect();
    assert_eq!(names, ["batch", "learning_rate"]);
}

/// Runs the commands of a plugin's README in its folder, with faster verbs in place of `test` and `run`.
fn follow_readme(sandbox: &Sandbox, folder: &str) {
    let readme = sandbox.read(&format!("{folder}/README.md"));
    let commands =
        readme.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).expect("commands");
    assert!(commands.contains("gpbench plugin test ") && commands.contains("\ngpbench run /"), "{commands}");
    let commands = commands.replace("gpbench plugin test", "gpbench plugin inspect");
    let commands = commands.replace("gpbench run", "gpbench plan");
    let gpbench = sandbox.command(&[]);
    let programs = Path::new(gpbench.get_program()).parent().expect("a folder of programs").to_owned();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").expect("a PATH"));
    let mut shell = sandbox.command_of("bash", &["-e", "-c", &commands]);
    let ended = Ended::of(shell.current_dir(sandbox.path(folder)).env("PATH", path)).exits(0);
    assert!(ended.stdout.contains(folder), "the plan has cases of the new plugin: {}", ended.stdout);
}

#[test]
fn the_commands_of_a_new_readme_work_as_they_are() {
    let sandbox = Sandbox::new();
    for (folder, options) in [("c-learner", &["--learner"][..]), ("c-solver", &[])] {
        let new = ["plugin", "new", folder, "--lang", "c", "--dir"];
        let path = sandbox.path(folder).to_string_lossy().into_owned();
        let mut command = sandbox.command(&[&new[..], &[&path], options].concat());
        // The checkout, whose specs the README names.
        Ended::of(command.current_dir(checkout("benchmarks"))).exits(0);
        follow_readme(&sandbox, folder);
    }
}

#[test]
fn a_taken_name_is_refused() {
    library("gpbench_plugin_cg");
    let sandbox = Sandbox::new();
    for options in [&["--learner"][..], &[], &["--lang", "c"]] {
        let ended = sandbox.run(&[&["plugin", "new", "cg"], options].concat()).exits(2);
        ended.says(&["`cg` is taken", "libgpbench_plugin_cg.so", "my-cg"]);
        assert!(!sandbox.path("cg").exists());
    }
}

#[test]
fn a_learner_in_fortran_has_no_example() {
    let sandbox = Sandbox::new();
    let ended = sandbox.run(&["plugin", "new", "mine", "--learner", "--lang", "fortran"]);
    ended.exits(2).says(&["no example of a learner in Fortran", "--lang c"]);
    assert!(!sandbox.path("mine").exists());
}
