//! Folders of the files of running cases.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use gpbench_files::{Durability, process_tag, replace};

use crate::layout::{CHECKPOINTS, LOGS, PROGRAMS, SCRATCH, SOLUTIONS, solution};

/// Folders of the files of the running cases of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    logs: PathBuf,
    scratch: PathBuf,
    programs: PathBuf,
    checkpoints: PathBuf,
    solutions: PathBuf,
    /// Inserted in the names of checkpoints before their extension.
    attempt: Option<String>,
}

impl Workspace {
    /// The workspace of a process that runs the cases of a run folder by itself.
    pub(crate) fn of(folder: &Path) -> Self {
        Self {
            logs: folder.join(LOGS),
            scratch: folder.join(SCRATCH).join(process_tag()),
            programs: folder.join(PROGRAMS).join(process_tag()),
            checkpoints: folder.join(CHECKPOINTS),
            solutions: folder.join(SOLUTIONS),
            attempt: None,
        }
    }

    /// The workspace of one of several processes, on any host, that run cases of the run folder `run`. Solutions of
    /// running cases and programs are below `local`, a folder of its own; solutions that are kept go into the run
    /// folder. `attempt` is part of the names of its checkpoints, so that it shares none with an earlier process that
    /// may still run.
    pub fn of_attempt(run: &Path, local: &Path, attempt: &str) -> Self {
        Self {
            scratch: local.join(SCRATCH),
            programs: local.join(PROGRAMS),
            attempt: Some(attempt.to_owned()),
            ..Self::of(run)
        }
    }

    /// All folders with files of cases.
    pub fn folders(&self) -> [&Path; 4] {
        // The checkpoints come after the scratch folder, which keeps other processes from removing theirs.
        [&self.logs, &self.scratch, &self.programs, &self.checkpoints]
    }

    /// The log of a case.
    pub fn log(&self, id: &str) -> PathBuf {
        self.logs.join(format!("{id}.log"))
    }

    /// The folder that running cases write into.
    pub fn scratch(&self) -> &Path {
        &self.scratch
    }

    /// The folder of the programs that running cases execute and load, each in a folder named by its SHA-256.
    pub fn programs(&self) -> &Path {
        &self.programs
    }

    /// The solution of a case while it runs and is verified.
    pub fn solution(&self, id: &str) -> PathBuf {
        self.scratch.join(format!("{id}.solution"))
    }

    /// Keeps the solution of a case that has ended, for others to verify. The scratch folder may be on another file
    /// system, as that of a node is. The file has its name once it is whole.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn keep_solution(&self, id: &str) -> io::Result<()> {
        fs::create_dir_all(&self.solutions)?;
        let (from, to) = (self.solution(id), self.solutions.join(solution(id)));
        fs::rename(&from, &to).or_else(|_| copy_whole(&from, &to))
    }

    /// The checkpoint from which a case continues after an interruption.
    pub fn checkpoint(&self, id: &str) -> PathBuf {
        let attempt = self.attempt.iter().map(|attempt| format!(".{attempt}")).collect::<String>();
        self.checkpoints.join(format!("{id}{attempt}.safetensors"))
    }

    /// Removes the checkpoint of a case that has its row, or whose checkpoint cannot be read. What cannot be removed is
    /// removed when the run is continued.
    pub fn remove_checkpoint(&self, id: &str) {
        let _ = fs::remove_file(self.checkpoint(id));
    }
}

/// Copies a file in place of another, which stays until the copy is whole.
fn copy_whole(from: &Path, to: &Path) -> io::Result<()> {
    let mut content = File::open(from)?;
    replace(to, Durability::Whole, |out| io::copy(&mut content, out).map(drop))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copied_solution_replaces_an_earlier_one_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("new"), "numbers").unwrap();
        fs::write(at("kept"), "longer than these").unwrap();
        copy_whole(&at("new"), &at("kept")).unwrap();
        assert_eq!(fs::read_to_string(at("kept")).unwrap(), "numbers");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        assert!(copy_whole(&at("none"), &at("kept")).is_err() && at("kept").is_file());
    }

    #[test]
    fn attempts_on_nodes_keep_solutions_in_the_run_folder() {
        let folder = tempfile::tempdir().unwrap();
        let (run, local) = (folder.path().join("run"), folder.path().join("node"));
        let workspace = Workspace::of_attempt(&run, &local, "0000.01");
        workspace.folders().into_iter().for_each(|path| fs::create_dir_all(path).unwrap());
        assert!(workspace.solution("a").starts_with(&local));
        fs::write(workspace.solution("a"), "numbers").unwrap();
        workspace.keep_solution("a").unwrap();
        assert_eq!(crate::kept_solutions(&run).into_keys().collect::<Vec<_>>(), ["a"]);
    }
}
