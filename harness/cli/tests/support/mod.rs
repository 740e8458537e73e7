//! Runs the built program in a folder of its own.

// Each test program uses its own part of this.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A folder for specs, runs and cache, that goes away at the end.
pub struct Bench {
    folder: TempDir,
}

impl Bench {
    /// An empty folder.
    pub fn new() -> Bench {
        Bench { folder: tempfile::tempdir().expect("a temporary folder") }
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

    /// A command of the program, run in the folder, without the user's data and cache.
    pub fn command(&self, args: &[&str]) -> Command {
        self.command_of(env!("CARGO_BIN_EXE_gpbench"), args)
    }

    /// The same of another program, which starts this one.
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
        Ended::from(self.command(args).output().expect("the program starts"))
    }

    /// Starts the program, silently.
    pub fn start(&self, args: &[&str]) -> Child {
        let mut command = self.command(args);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts")
    }

    /// The cases of the newest run, as `report --format json` gives them.
    pub fn cases(&self) -> Vec<Value> {
        let ended = self.run(&["report", "latest", "--format", "json"]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let json: Value = serde_json::from_str(&ended.stdout).expect("JSON");
        json["cases"].as_array().expect("a list of cases").clone()
    }
}

/// How the program ended.
pub struct Ended {
    /// Exit code.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Ended {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Ended {
            code: output.status.code().unwrap_or(-1),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

/// A library that was built beside the program.
pub fn library(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_BIN_EXE_gpbench")).parent().expect("a program lies in a folder");
    let file = folder.join(format!("{}{name}{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX));
    assert!(file.exists(), "{} is missing: build the whole workspace first", file.display());
    file
}

/// What two runs of the same case must share: everything but seconds and memory.
pub fn reproducible(case: &Value) -> Vec<(String, Value)> {
    let metrics = case["metrics"].as_object().expect("metrics");
    let stable = metrics.iter().filter(|(name, _)| !name.contains("seconds") && !name.contains("memory"));
    stable.map(|(name, value)| (name.clone(), value.clone())).collect()
}
