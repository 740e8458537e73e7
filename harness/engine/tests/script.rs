//! A worker that is a shell script.

use std::fs;
use std::path::Path;
use std::time::Duration;

use gpbench_engine::{End, Executor as _, Interrupt, LocalExecutor, Outcome, WorkItem};
use gpbench_record::{Job, Limits, Message, PluginParts, SCHEMA, StopReason};
use tempfile::TempDir;

use crate::support::{planned, plugin, solved, verified};

/// A worker that is a shell script. The shell reads it, because a file that was just written cannot be executed while
/// another thread forks.
pub(crate) struct Script {
    pub(crate) folder: TempDir,
    pub(crate) executor: LocalExecutor,
}

impl Script {
    pub(crate) fn new(body: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("worker.sh");
        fs::write(&path, body).unwrap();
        for (name, message) in [
            ("loading", Message::Loading),
            ("solved", solved(StopReason::Converged, &[0.001, 0.001], 1.0)),
            ("verified", verified(0.001, 0.001)),
        ] {
            fs::write(folder.path().join(name), serde_json::to_string(&message).unwrap() + "\n").unwrap();
        }
        let mut executor = LocalExecutor::new(path);
        executor.wrapper = vec!["/bin/sh".into()];
        executor.grace = Duration::from_secs(5);
        Self { folder, executor }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn case(&self, limits: Limits) -> Outcome {
        self.case_until(limits, &Interrupt::default())
    }

    pub(crate) fn case_until(&self, limits: Limits, interrupt: &Interrupt) -> Outcome {
        let planned = planned("cg", 0);
        let job = Job {
            schema: SCHEMA,
            id: planned.id,
            case: planned.case,
            dataset_file: None,
            dataset_sha256: None,
            plugin: plugin(),
            plugin_parts: PluginParts::default(),
            exact_file: None,
            solution_file: self.path().join("solution"),
            checkpoint_file: None,
            threads: 3,
            limits,
        };
        self.executor.run(&WorkItem::Case(job), &self.path().join("log"), interrupt, &|_| {})
    }

    pub(crate) fn end(&self) -> End {
        self.case(Limits::default()).end
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.path().join("log")).unwrap()
    }
}
