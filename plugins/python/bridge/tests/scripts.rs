//! Scripts and interpreters that cannot be used: one error each, which says where and what to do.

use std::fs;
use std::path::{Path, PathBuf};

use gpbench_abi::Status;
use gpbench_bridge_py::script::{self, ScriptLimits};
use tempfile::TempDir;

use crate::python::{is_here, small, solver, zoo};

const ONE_THREAD: ScriptLimits = ScriptLimits { threads: 1, memory: 0 };

fn write(folder: &TempDir, text: &str) -> PathBuf {
    let path = folder.path().join("mine.py");
    fs::write(&path, text).unwrap();
    path
}

fn error(path: &Path, runtime: &str) -> String {
    script::open(path, runtime, ONE_THREAD).expect_err("an error").to_string()
}

const HEAD: &str = "from gpbench_harness import Report, Solver, param\n\n";

#[test]
fn mistakes_in_the_text_have_line_and_column() {
    if !is_here() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = write(
        &folder,
        &format!(
            "{HEAD}class Mine(Solver):\n    \"\"\"Mine\"\"\"\n    id = compute()\n\n    def solve(self, problem):\n        pass\n"
        ),
    );
    let text = error(&path, "");
    assert!(text.starts_with(&format!("{}:5:", path.display())), "{text}");
    let path = write(&folder, "class Mine(:\n");
    let text = error(&path, "");
    assert!(text.starts_with(&format!("{}:1:", path.display())), "{text}");
    let text = error(&folder.path().join("none.py"), "");
    assert!(text.contains("cannot be read"), "{text}");
}

#[test]
fn what_is_not_installed_is_named() {
    if !is_here() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "# /// script\n# dependencies = [\"no-such-package-here>=2\"]\n# ///\n{HEAD}class Mine(Solver):\n    \"\"\"Mine\"\"\"\n    \
         id = \"mine\"\n\n    def solve(self, problem):\n        return Report(\"converged\")\n"
    );
    let failure = script::open(&write(&folder, &text), "", ONE_THREAD).expect_err("an error");
    assert_eq!(failure.status(), Status::UNSUPPORTED);
    let text = failure.to_string();
    assert!(text.starts_with("needs no-such-package-here>=2"), "{text}");
}

#[test]
fn an_interpreter_that_is_not_there_is_named() {
    let text = error(&zoo("richardson"), "/nowhere/python3");
    assert!(text.contains("/nowhere/python3 (`python` of the spec)"), "{text}");
    assert!(text.contains("apt install python3 python3-numpy"), "{text}");
    let text = error(&zoo("richardson"), "/bin/false");
    assert!(text.starts_with("/bin/false (`python` of the spec) failed to read"), "{text}");
    let text = error(&zoo("richardson"), "/bin/true");
    assert!(text.contains("in other words"), "{text}");
}

#[test]
fn an_import_that_fails_is_the_error_of_its_case() {
    if !is_here() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let body = "class Mine(Solver):\n    \"\"\"Mine\"\"\"\n    id = \"mine\"\n\n    def solve(self, problem):\n        pass\n";
    let path = write(&folder, &format!("{HEAD}raise RuntimeError('no licence')\n\n\n{body}"));
    let failed = small().solve_with(&solver(&path, "mine"), &[]).unwrap_err().to_string();
    assert!(failed.contains("RuntimeError: no licence (mine.py:3, in <module>)"), "{failed}");
}

#[test]
fn parts_name_the_script_the_package_the_interpreter_and_numpy() {
    if !is_here() {
        return;
    }
    let script = script::open(&zoo("richardson"), "", ONE_THREAD).unwrap();
    // SAFETY: the parts of a plugin, which are static.
    let parts = unsafe { std::slice::from_raw_parts(script.plugin.parts, script.plugin.n_parts as usize) };
    // SAFETY: static texts.
    let names: Vec<String> =
        parts.iter().map(|part| unsafe { gpbench_bridge_py::host::read(&part.name) }.unwrap()).collect();
    for name in ["richardson.py", "gpbench_harness/_worker.py", "numpy", "cpython"] {
        assert!(names.iter().any(|found| found == name), "{name} in {names:?}");
    }
}
