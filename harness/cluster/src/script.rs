//! Scripts that the scheduler runs on nodes.

use std::path::Path;

use gpbench_files::{Durability, replace};
use gpbench_record::{Manifest, NodeSettings};

use crate::ClusterError;
use crate::error::Context as _;
use crate::folder::ClusterFolder;

impl ClusterFolder {
    /// Writes the script of every task: lines of the site, then the runner with the run's folder, the task, the attempt, and the
    /// seconds since the script began.
    ///
    /// # Errors
    /// [`ClusterError::Unquotable`] for a path that the shell cannot take; those of the file system.
    pub fn write_script(&self, manifest: &Manifest) -> Result<(), ClusterError> {
        let run = self.path().parent().unwrap_or(Path::new("/"));
        let numerics = &manifest.started_in;
        self.write(&format!(
            "#!/bin/bash\n\
             # One task of an array. Its argument is the number of the submission.\n\
             {setup}{numerics}\n\
             set -- $(sed -n \"$((SLURM_ARRAY_TASK_ID + 1))p\" {submissions}/\"$1\".txt)\n\
             # The runner takes the place of the shell, so that signals reach it, and is told how long the job has run.\n\
             exec {runner} {run} \"$1\" \"$2\" \"$SECONDS\"\n",
            setup = manifest.site.nodes.setup.join("\n"),
            numerics = hold(Some(&numerics.cpu_dispatch), Some(&numerics.blas_core)),
            submissions = quoted(&self.submissions())?,
            runner = quoted(&manifest.runner)?,
            run = quoted(run)?,
        ))
    }

    /// Writes the script that stores a worker's report of its numerics on a node as `answer`.
    ///
    /// # Errors
    /// As [`ClusterFolder::write_script`].
    pub fn write_question(
        &self,
        nodes: &NodeSettings,
        worker: &Path,
        answer: &Path,
    ) -> Result<(), ClusterError> {
        self.write(&format!(
            "#!/bin/bash\n\
             # Asks what a node computes with.\n\
             trap '' USR1\n\
             {setup}{numerics}\n\
             {worker} environment >{answer}.new && mv {answer}.new {answer}\n",
            setup = nodes.setup.join("\n"),
            numerics = hold(nodes.instruction_set.as_ref(), nodes.blas_core.as_ref()),
            worker = quoted(worker)?,
            answer = quoted(answer)?,
        ))
    }

    fn write(&self, script: &str) -> Result<(), ClusterError> {
        let path = self.script();
        replace(&path, Durability::Whole, |file| file.write_all(script.as_bytes())).context("write", &path)
    }
}

/// A path as a word of the shell.
fn quoted(path: &Path) -> Result<String, ClusterError> {
    let unquotable = || ClusterError::Unquotable { text: path.display().to_string() };
    let text = path.to_str().ok_or_else(unquotable)?;
    shlex::try_quote(text).map(|quoted| quoted.into_owned()).map_err(|_| unquotable())
}

/// Lines that limit a more capable node to the instruction set and core type of the plan, so that all nodes give the same bits.
fn hold(instruction_set: Option<&String>, blas_core: Option<&String>) -> String {
    let pairs = [("GPBENCH_SIMD", instruction_set), ("OPENBLAS_CORETYPE", blas_core)];
    let set = pairs.into_iter().filter_map(|(name, value)| Some((name, value.filter(|v| !v.is_empty())?)));
    let quoted = set.filter_map(|(name, value)| Some((name, shlex::try_quote(value).ok()?)));
    quoted.map(|(name, value)| format!("\nexport {name}={value}")).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use gpbench_record::{Attempt, Environment, NodeOptions, SCHEMA, Site};

    use super::*;

    #[test]
    fn the_script_runs_the_attempt_of_its_index() {
        let run = tempfile::tempdir().unwrap();
        let folder = ClusterFolder::of(&run.path().join("it's a run"));
        folder.create().unwrap();
        folder
            .write_submission(3, &[Attempt { task: 7, attempt: 1 }, Attempt { task: 9, attempt: 2 }])
            .unwrap();
        let mut site = Site::default();
        site.nodes.setup = vec!["echo loaded".into()];
        let started_in =
            Environment { cpu_dispatch: "avx2".into(), blas_core: "Zen".into(), ..Environment::default() };
        let manifest = Manifest {
            schema: SCHEMA,
            run: "now".into(),
            runner: "/bin/echo".into(),
            worker: "/shared/gpbench-worker".into(),
            started_in,
            cases: [].into(),
            libraries: Vec::new(),
            options: NodeOptions::default(),
            tasks: Vec::new(),
            site,
        };
        folder.write_script(&manifest).unwrap();
        let mut script = Command::new("bash");
        let output = script.arg(folder.script()).arg("3").env("SLURM_ARRAY_TASK_ID", "1").output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        // Then the seconds since the script began.
        assert!(said.starts_with(&format!("loaded\n{}/it's a run 9 2 ", run.path().display())), "{said}");
        let text = fs::read_to_string(folder.script()).unwrap();
        assert!(text.contains("\nexport GPBENCH_SIMD=avx2\nexport OPENBLAS_CORETYPE=Zen\n"), "{text}");
    }

    #[test]
    fn the_answer_of_a_node_appears_as_a_whole() {
        let run = tempfile::tempdir().unwrap();
        let folder = ClusterFolder::of(run.path());
        folder.create().unwrap();
        let answer = run.path().join("an answer");
        let nodes = NodeSettings {
            setup: vec!["export GPBENCH_SIMD=avx2".into()],
            blas_core: Some("Zen".into()),
            ..NodeSettings::default()
        };
        let worker = run.path().join("worker");
        fs::write(&worker, "#!/bin/bash\necho $1 $GPBENCH_SIMD $OPENBLAS_CORETYPE\n").unwrap();
        let answers = |worker: &Path| {
            folder.write_question(&nodes, worker, &answer).unwrap();
            Command::new("bash").arg(folder.script()).status().unwrap().success()
        };
        assert!(!answers(&run.path().join("nothing")) && !answer.exists());
        assert!(Command::new("chmod").arg("+x").arg(&worker).status().unwrap().success());
        assert!(answers(&worker));
        assert_eq!(fs::read_to_string(&answer).unwrap(), "environment avx2 Zen\n");
    }
}
