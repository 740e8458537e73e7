//! A solver in Python that misbehaves costs no row, changes no other case, and leaves no process.

use std::process::Command;

use crate::support::zoo::{
    Expected, HEALTHY, Task, by_solver, files, print_delays, run, spec, survivors, temporary, unmet,
};
use crate::support::{Sandbox, checkout, library, reproducible};

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

/// The interpreter that scripts get, if it has numpy.
fn has_python() -> bool {
    let program = std::env::var_os("GPBENCH_PYTHON").unwrap_or_else(|| "python3".into());
    let output = Command::new(&program).args(["-c", "import numpy"]).output();
    output.is_ok_and(|output| output.status.success())
}

#[test]
fn no_act_of_a_script_loses_a_row_or_changes_another() {
    if !has_python() {
        eprintln!("SKIPPED: no Python with numpy; GPBENCH_PYTHON names an interpreter");
        return;
    }
    library("gpbench_bridge_py");
    let alone = Sandbox::with_spec(&spec(Task::Posterior, &[]));
    run(&alone, &["-j", "4"]).exits(0);
    let expected = alone.cases();
    let expected = by_solver(&expected);

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
    let before = files(&sandbox.path("."));
    run(&sandbox, &["-j", "2", "--kill-after", "5"]).exits(1);

    let cases = sandbox.cases();
    assert_eq!(cases.len(), ACTS.len() + HEALTHY.len());
    let found = by_solver(&cases);
    for name in HEALTHY {
        assert_eq!(reproducible(found[name]), reproducible(expected[name]), "the metrics of {name} changed");
    }
    let wrong = unmet(&found, ACTS);
    assert!(wrong.is_empty(), "{wrong:#?}");
    print_delays(&sandbox);

    assert_eq!(survivors(&sandbox.path(".")), [0; 0]);
    let after = files(&sandbox.path("."));
    assert_eq!(temporary(after.difference(&before)), None);
}
