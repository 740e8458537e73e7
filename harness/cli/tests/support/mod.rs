//! Runs the built program in a temporary folder.

pub mod sources;
pub mod zoo;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A spec that runs in a second.
const SPEC: &str = r#"schema = 1
name = "NAME"
task = "posterior"
seeds = [0]

[matrix]
dataset = ["draw"]
kernel = ["matern32"]
estimator = ["pathwise"]
solver = ["cholesky", "cg"]

[dataset.draw]
from = "gp-draw"
n = 60
d = 2

[kernel.matern32]
hyperparameters = { signal_scale = 1.0, noise_scale = 0.1, length_scale = 1.0 }

[estimator.pathwise]
probes = 2
features = 20

[budget]
tolerance = 0.01
"#;

/// A small spec with this name, after replacing texts in it.
pub fn spec(name: &str, replacements: &[(&str, &str)]) -> String {
    let replace = |text: String, (old, new): &(&str, &str)| {
        assert!(text.contains(old), "`{old}` is not in the spec");
        text.replace(old, new)
    };
    replacements.iter().fold(SPEC.replace("NAME", name), replace)
}

/// A temporary folder for specs, runs and cache.
pub struct Sandbox {
    folder: TempDir,
}

impl Sandbox {
    /// An empty folder.
    pub fn new() -> Sandbox {
        built(&format!("gpbench-worker{}", std::env::consts::EXE_SUFFIX));
        for solver in ["cg", "cholesky"] {
            library(&format!("gpbench_plugin_{solver}"));
        }
        Sandbox { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    /// A folder with the file `spec.toml`.
    pub fn with_spec(text: &str) -> Sandbox {
        let sandbox = Sandbox::new();
        sandbox.write("spec.toml", text);
        sandbox
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file into the folder.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).expect("a writable folder");
        path
    }

    /// Reads a file of the folder.
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// A command of the program, run in the folder, without the user's data and cache.
    pub fn command(&self, args: &[&str]) -> Command {
        self.command_of(env!("CARGO_BIN_EXE_gpbench"), args)
    }

    /// A command of another program that starts this one.
    pub fn command_of(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(self.folder.path())
            .env("GPBENCH_CACHE", self.path("cache"))
            .env_remove("GPBENCH_DATA")
            .env_remove("GPBENCH_PLUGIN_PATH")
            .env("NO_COLOR", "1")
            .stdin(Stdio::null());
        command
    }

    /// Runs the program to its end.
    pub fn run(&self, args: &[&str]) -> Ended {
        Ended::of(&mut self.command(args))
    }

    /// Starts the program without output.
    pub fn start(&self, args: &[&str]) -> Child {
        let mut command = self.command(args);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts")
    }

    /// The cases of the newest run, as `report --format json` gives them.
    pub fn cases(&self) -> Vec<Value> {
        let json = self.run(&["report", "latest", "--format", "json"]).exits(0).json();
        json["cases"].as_array().expect("a list of cases").clone()
    }

    /// The same, by id.
    pub fn sorted_cases(&self) -> Vec<Value> {
        let mut cases = self.cases();
        cases.sort_by_key(|case| case["id"].as_str().expect("an id").to_owned());
        cases
    }
}

/// The result of a run of the program.
pub struct Ended {
    /// Exit code.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Ended {
    /// Runs a command to its end.
    pub fn of(command: &mut Command) -> Ended {
        let Output { status, stdout, stderr } = command.output().expect("the program starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Ended { code: status.code().unwrap_or(-1), stdout: text(stdout), stderr: text(stderr) }
    }

    /// Asserts the exit code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Ended {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Asserts that standard error holds each text.
    #[track_caller]
    pub fn says(self, texts: &[&str]) -> Ended {
        for text in texts {
            assert!(self.stderr.contains(text), "`{text}` is missing in standard error:\n{}", self.stderr);
        }
        self
    }

    /// Asserts that standard output holds each text.
    #[track_caller]
    pub fn prints(self, texts: &[&str]) -> Ended {
        for text in texts {
            assert!(self.stdout.contains(text), "`{text}` is missing in standard output:\n{}", self.stdout);
        }
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {}", self.stdout))
    }
}

/// A file beside the program.
pub fn built(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_BIN_EXE_gpbench")).parent().expect("a program lies in a folder");
    let file = folder.join(name);
    assert!(file.exists(), "{} is missing: run `cargo build --release --workspace` first", file.display());
    file
}

/// A plugin library beside the program.
pub fn library(name: &str) -> PathBuf {
    built(&format!("{}{name}{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX))
}

/// A folder of this checkout.
pub fn checkout(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Runs a build tool, which must succeed without warnings.
#[track_caller]
pub fn build(command: &mut Command) {
    let tool = command.get_program().to_string_lossy().into_owned();
    let output = command.output().unwrap_or_else(|e| panic!("`{tool}`: {e}; run ci/bootstrap first"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{tool}: {said}");
}

/// The metrics that two runs of the same case share: all but seconds and memory.
pub fn reproducible(case: &Value) -> Vec<(String, Value)> {
    let metrics = case["metrics"].as_object().expect("metrics");
    let stable = metrics.iter().filter(|(name, _)| is_reproducible(name));
    stable.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Whether two runs of the same case agree in a metric.
pub fn is_reproducible(metric: &str) -> bool {
    gpbench_record::metric::find(metric).is_none_or(|metric| !metric.unit.depends_on_machine())
}

/// Whether the interpreter that scripts get has numpy; says so if not.
pub fn has_python() -> bool {
    let program = std::env::var_os("GPBENCH_PYTHON").unwrap_or_else(|| "python3".into());
    let output = Command::new(&program).args(["-c", "import numpy"]).output();
    let is_here = output.is_ok_and(|output| output.status.success());
    if !is_here {
        eprintln!("SKIPPED: no Python with numpy; GPBENCH_PYTHON names an interpreter");
    }
    is_here
}
