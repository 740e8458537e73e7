//! Scripts of `zoo/` and the interpreter that runs them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use gpbench_bridge_py::script::{self, ScriptLimits};
use gpbench_host::{LearnerEntry, SolverEntry};
use gpbench_testing::DenseProblem;
use ndarray::{Array2, array};

const TWO_THREADS: ScriptLimits = ScriptLimits { threads: 2, memory: 0 };

/// Whether Python with numpy is here. A test that needs it says so if not, and passes.
pub fn is_here() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let program = std::env::var_os("GPBENCH_PYTHON").unwrap_or_else(|| "python3".into());
        let found = Command::new(&program).args(["-c", "import numpy"]).output();
        let found = found.is_ok_and(|output| output.status.success());
        if !found {
            eprintln!(
                "skipped: {} has no numpy; GPBENCH_PYTHON names another interpreter",
                Path::new(&program).display()
            );
        }
        found
    })
}

/// A script of `zoo/`.
pub fn zoo(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/zoo").join(format!("{name}.py"))
}

/// A solver of a script.
pub fn solver(script: &Path, id: &str) -> SolverEntry {
    let plugin = script::open(script, "", TWO_THREADS).unwrap_or_else(|wrong| panic!("{wrong}")).plugin;
    // SAFETY: the tables of a plugin, which are static.
    let tables = unsafe { std::slice::from_raw_parts(plugin.solvers, plugin.n_solvers as usize) };
    let entries = tables.iter().map(|table| {
        // SAFETY: a copy of a static table, whose texts and functions are static too.
        unsafe { SolverEntry::of(std::ptr::read(table)) }.unwrap_or_else(|wrong| panic!("{wrong}"))
    });
    entries.into_iter().find(|entry| entry.info.id == id).expect("a solver of that id")
}

/// A learner of a script.
pub fn learner(script: &Path, id: &str) -> LearnerEntry {
    let plugin = script::open(script, "", TWO_THREADS).unwrap_or_else(|wrong| panic!("{wrong}")).plugin;
    // SAFETY: the tables of a plugin, which are static.
    let tables = unsafe { std::slice::from_raw_parts(plugin.learners, plugin.n_learners as usize) };
    let entries = tables.iter().map(|table| {
        // SAFETY: a copy of a static table, whose texts and functions are static too.
        unsafe { LearnerEntry::of(std::ptr::read(table)) }.unwrap_or_else(|wrong| panic!("{wrong}"))
    });
    entries.into_iter().find(|entry| entry.info.id == id).expect("a learner of that id")
}

/// A small system with two right-hand sides, one of them a probe.
pub fn small() -> DenseProblem {
    let a = array![[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]];
    DenseProblem::new(a, array![[1.0, 0.5], [2.0, -1.0], [-1.0, 2.0]]).tolerance(1e-8)
}

/// A diagonally dominant matrix of n rows.
pub fn dominant(n: usize) -> Array2<f64> {
    Array2::from_shape_fn(
        (n, n),
        |(i, j)| {
            if i == j { 3.0 } else { 1.0 / (1.0 + (i as f64 - j as f64).powi(2)) }
        },
    )
}
