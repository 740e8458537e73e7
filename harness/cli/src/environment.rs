//! The environment of a run: the executor's machine, this program, and the checksums of all that the run reads.

use std::path::Path;

use gpbench_data::Sha256Hex;
use gpbench_record::{CaseFiles, ComposedLibrary, Environment, InstructionSet, PartRecord, PlannedCase};

use crate::exit::Failure;
use crate::revision::Revision;

/// The number of processors that this process may use: those in its affinity mask, as `taskset` or a batch system sets it,
/// and no more than the processor time that its control group and those around it allow (`cpu.max`, `cpu.cfs_quota_us`),
/// rounded down.
pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The instruction set that the environment asks for. Fails if there is none of this name.
pub(crate) fn asked_instructions() -> Result<Option<InstructionSet>, Failure> {
    InstructionSet::asked().map_err(Failure::usage)
}

/// Fails if the environment asks for another instruction set than the one that this machine computes with.
pub(crate) fn require_instructions(machine: &Environment) -> Result<(), Failure> {
    let found = &machine.cpu_dispatch;
    match asked_instructions()? {
        Some(asked) if asked.as_str() != *found => Err(Failure::usage(format!(
            "{}={asked}: this machine does not have it, and would compute with {found}; remove the variable, or \
             run elsewhere",
            InstructionSet::VARIABLE
        ))),
        _ => Ok(()),
    }
}

/// Adds this program to the executor's machine.
pub(crate) fn with_program(machine: Environment) -> Environment {
    Environment {
        gpbench: env!("CARGO_PKG_VERSION").to_owned(),
        rustc: env!("GPBENCH_RUSTC").to_owned(),
        ..machine
    }
}

/// Adds what belongs to one run: the revision of the work tree around its spec, and the checksums of spec, plugins
/// and data sets.
pub(crate) fn of_run(
    machine: Environment,
    spec: &Path,
    text: &str,
    (cases, files, libraries): (&[PlannedCase], &[CaseFiles], &[ComposedLibrary]),
) -> Environment {
    let git = Revision::around(spec);
    let datasets = cases.iter().filter_map(|planned| {
        Some((planned.case.dataset.name.clone(), planned.fingerprint.dataset_sha256.clone()?))
    });
    let name = |file: &Path| file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let plugins = cases
        .iter()
        .zip(files)
        .map(|(planned, files)| (name(&files.plugin_file), planned.fingerprint.plugin_sha256.clone()));
    let parts = libraries.iter().map(|ComposedLibrary { file, composition, .. }| {
        (name(file), composition.parts.iter().map(PartRecord::from).collect())
    });
    Environment {
        git_revision: git.as_ref().map(|git| git.commit.clone()),
        git_dirty: git.map(|git| git.dirty),
        spec_sha256: Sha256Hex::of_bytes(text.as_bytes()).to_string(),
        plugins: plugins.collect(),
        plugin_parts: parts.collect(),
        datasets: datasets.collect(),
        ..with_program(machine)
    }
}
