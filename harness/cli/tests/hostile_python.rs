//! A solver in Python that misbehaves costs no row, changes no other case, and leaves no process.

use crate::support::zoo::{Expected, Task, check_left, run, spec};
use crate::support::{Sandbox, checkout, has_python, library};

/// Acts of `plugins/python/bridge/tests/zoo/faults.py`.
const ACTS: &[Expected] = &[
    ("none", "invalid", "claims to have converged"),
    ("raise", "invalid", "wrong sign"),
    ("memory", "out_of_memory", "a factor of 3 GiB"),
    ("os-exit", "crashed", "exited with status 3"),
    ("segfault", "crashed", "SIGSEGV"),
    ("hog", "out_of_memory", "killed"),
    ("hog-arena", "out_of_memory", "killed"),
    ("hang", "timeout", "killed"),
    ("hang-in-c", "timeout", "killed"),
];

#[test]
fn no_act_of_a_script_loses_a_row_or_changes_another() {
    if !has_python() {
        return;
    }
    library("gpbench_bridge_py");
    let alone = Sandbox::with_spec(&spec(Task::Posterior, &[]));
    run(&alone, &["-j", "4"]).exits(0);

    let sandbox = Sandbox::new();
    let script = checkout("plugins/python/bridge/tests/zoo/faults.py");
    let script = script.canonicalize().expect("a script of this checkout");
    let tables: Vec<(String, String)> = ACTS
        .iter()
        .map(|(act, status, _)| {
            let time = if *status == "timeout" { "" } else { "\nbudget.time = \"1h\"" };
            let table = format!(
                "plugin = \"faults\"\nlibrary = \"{}\"\nparams.act = \"{act}\"{time}",
                script.display()
            );
            ((*act).to_owned(), table)
        })
        .collect();
    sandbox.write("spec.toml", &spec(Task::Posterior, &tables));
    run(&sandbox, &["-j", "2", "--kill-after", "5"]).exits(1);
    check_left(&sandbox, &alone.cases(), ACTS);
}
