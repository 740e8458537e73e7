//! Which Python runs a script.

use std::env;
use std::path::PathBuf;

use crate::failure::Failure;

/// An interpreter, and who chose it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interpreter {
    /// Program; without a slash one on the search path.
    pub program: PathBuf,
    /// What named it, as in `$GPBENCH_PYTHON`.
    named_by: &'static str,
}

impl Interpreter {
    /// The one that the user named in the spec, else `$GPBENCH_PYTHON`, else that of `$VIRTUAL_ENV`, else `python3`.
    pub fn find(runtime: &str) -> Interpreter {
        let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        Interpreter::choose(runtime, variable("GPBENCH_PYTHON"), variable("VIRTUAL_ENV"))
    }

    fn choose(runtime: &str, named: Option<PathBuf>, environment: Option<PathBuf>) -> Interpreter {
        if !runtime.is_empty() {
            return Interpreter { program: runtime.into(), named_by: "`python` of the spec" };
        }
        if let Some(program) = named {
            return Interpreter { program, named_by: "$GPBENCH_PYTHON" };
        }
        if let Some(folder) = environment {
            return Interpreter { program: folder.join("bin/python"), named_by: "$VIRTUAL_ENV" };
        }
        Interpreter { program: "python3".into(), named_by: "the search path" }
    }

    /// The error that there is no such program.
    pub fn not_found(&self) -> String {
        let Interpreter { program, named_by } = self;
        format!(
            "Python was not found: there is no {} ({named_by}). Install one (`apt install python3 python3-numpy`), or name \
             one in GPBENCH_PYTHON",
            program.display()
        )
    }

    /// An error about it.
    pub fn wrong(&self, what: &str) -> Failure {
        Failure::new(format!("{} ({}) {what}", self.program.display(), self.named_by))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spec_comes_before_the_environment() {
        let chosen = |runtime: &str, named: Option<&str>, environment: Option<&str>| {
            Interpreter::choose(runtime, named.map(PathBuf::from), environment.map(PathBuf::from)).program
        };
        assert_eq!(chosen("/a/python", Some("/b"), Some("/c")), PathBuf::from("/a/python"));
        assert_eq!(chosen("", Some("/b"), Some("/c")), PathBuf::from("/b"));
        assert_eq!(chosen("", None, Some("/c")), PathBuf::from("/c/bin/python"));
        assert_eq!(chosen("", None, None), PathBuf::from("python3"));
    }
}
