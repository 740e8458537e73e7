//! The programs of a cluster run: copies named by their content, so that a build changes nothing that waits in the queue.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gpbench_cluster::ClusterFolder;
use gpbench_files::{Durability, replace};
use gpbench_record::Program;

use crate::exit::Failure;

/// The runner, in the folder of this program.
pub(super) fn runner() -> Result<PathBuf, Failure> {
    let here = std::env::current_exe()
        .map_err(|error| Failure::internal(format!("the path of this program is unknown: {error}")))?;
    let file = here.with_file_name(format!("gpbench-node{}", std::env::consts::EXE_SUFFIX));
    if file.is_file() {
        return Ok(file);
    }
    Err(Failure::internal(format!("{} is missing; build it with `cargo build --release`", file.display())))
}

/// Copies a program into the folder of the cluster run, unless it is there. A program that looks for others from its own
/// folder, as `stays` tells, is used where it is.
pub(super) fn keep(
    folder: &ClusterFolder,
    file: &Path,
    stays: fn(&Path) -> io::Result<bool>,
) -> Result<PathBuf, Failure> {
    let program = Program::of(file).map_err(Failure::usage)?;
    if stays(file).map_err(Failure::internal)? {
        return std::path::absolute(file).map_err(Failure::internal);
    }
    let name = file.file_name().unwrap_or_default();
    let kept = folder.programs().join(&program.sha256).join(name);
    let failed = |error: io::Error| Failure::internal(format!("cannot write {}: {error}", kept.display()));
    if !Program::of(&kept).is_ok_and(|kept| kept.sha256 == program.sha256) {
        fs::create_dir_all(kept.parent().unwrap_or(folder.path())).map_err(failed)?;
        let copy = |to: &mut dyn io::Write| io::copy(&mut fs::File::open(file)?, to).map(drop);
        replace(&kept, Durability::Whole, copy).map_err(failed)?;
    }
    // Also of a copy that a killed process has left.
    let mode = fs::metadata(file).map_err(failed)?.permissions();
    fs::set_permissions(&kept, mode).map_err(failed)?;
    Ok(kept)
}
