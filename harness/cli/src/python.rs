//! The Python interpreter that scripts get, as `doctor` shows it. The bridge chooses it by the same rule.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use gpbench_processes::exchange_within;
use serde::{Deserialize, Serialize};

/// Time that an interpreter may take to answer.
const LIMIT: Duration = Duration::from_secs(10);

/// Asks an interpreter about itself. A module that lies in the current folder is none that is installed.
const QUESTION: &str = "
import sys
sys.path[:] = [p for p in sys.path if p]
import importlib.util, json
found = importlib.util.find_spec('gpbench')
place = None
if found is not None:
    place = found.origin or next(iter(found.submodule_search_locations or []), None)
try:
    from importlib.metadata import version
    numpy = version('numpy')
except Exception:
    numpy = None
print(json.dumps({'executable': sys.executable, 'version': '.'.join(map(str, sys.version_info[:3])),
                  'numpy': numpy, 'foreign': place}))
";

/// An interpreter, in its own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Python {
    /// Its program.
    executable: String,
    /// Its version.
    version: String,
    /// The version of numpy, if that is installed.
    numpy: Option<String>,
    /// Where a module `gpbench` is installed, which is another project's.
    foreign: Option<String>,
}

/// How the interpreter is chosen, and what the program is called.
fn chosen() -> (&'static str, OsString) {
    let set = |name| std::env::var_os(name).filter(|value: &OsString| !value.is_empty());
    if let Some(program) = set("GPBENCH_PYTHON") {
        return ("GPBENCH_PYTHON", program);
    }
    match set("VIRTUAL_ENV") {
        Some(folder) => ("VIRTUAL_ENV", Path::new(&folder).join("bin/python").into_os_string()),
        None => ("python3 on the path", "python3".into()),
    }
}

impl Python {
    /// The interpreter that scripts get where a spec names none, or why there is none.
    pub(crate) fn find() -> Result<Python, String> {
        let (how, program) = chosen();
        Python::ask(how, &program, LIMIT)
    }

    /// Asks a program, chosen in some way, which is ended after `limit`.
    fn ask(how: &str, program: &OsStr, limit: Duration) -> Result<Python, String> {
        let name = program.to_string_lossy().into_owned();
        let failed = |why: String| format!("{name} ({how}) {why}; scripts in Python cannot run");
        let mut command = Command::new(program);
        command.args(["-B", "-c", QUESTION]);
        let output = exchange_within(&mut command, limit)
            .map_err(|error| failed(format!("does not start: {error}")))?
            .ok_or_else(|| failed(format!("does not answer within {} s", limit.as_secs_f64())))?;
        serde_json::from_slice(&output.stdout).map_err(|_| {
            let text = String::from_utf8_lossy(&output.stderr);
            let last = text.lines().next_back().unwrap_or("it printed nothing");
            failed(format!("does not run: {last}"))
        })
    }

    /// The interpreter and what it has, in one line.
    pub(crate) fn line(&self) -> String {
        let Python { executable, version, numpy, .. } = self;
        let numpy = match numpy {
            Some(numpy) => format!("numpy {numpy}"),
            None => format!("no numpy: run `{executable} -m pip install numpy`"),
        };
        format!("{executable}, version {version}, {numpy} ({})", chosen().0)
    }

    /// What a user of a foreign module has to know, if there is one.
    pub(crate) fn warning(&self) -> Option<String> {
        let place = self.foreign.as_ref()?;
        Some(format!("{place} belongs to another project; that of this one is `gpbench_harness`"))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn an_interpreter_that_hangs_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("python");
        fs::write(&program, "#!/bin/sh\nexec sleep 600\n").unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
        let told = Python::ask("GPBENCH_PYTHON", program.as_os_str(), Duration::from_millis(20)).unwrap_err();
        let expected = "(GPBENCH_PYTHON) does not answer within 0.02 s; scripts in Python cannot run";
        assert!(told.ends_with(expected), "{told}");
    }

    #[test]
    fn an_interpreter_is_told_in_one_line_and_a_foreign_module_in_another() {
        let python = Python {
            executable: "/usr/bin/python3".to_owned(),
            version: "3.11.2".to_owned(),
            numpy: None,
            foreign: Some("/usr/lib/gpbench/__init__.py".to_owned()),
        };
        assert!(
            python.line().contains("version 3.11.2, no numpy: run `/usr/bin/python3 -m pip install numpy`")
        );
        assert!(python.warning().is_some_and(|text| text.ends_with("that of this one is `gpbench_harness`")));
        assert_eq!(Python { foreign: None, ..python }.warning(), None);
    }
}
