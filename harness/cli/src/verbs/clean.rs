//! `gpbench clean`: removes what can be made again: cached files, the store of finished cases, and packed runs that were unpacked
//! to be read.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use clap::Args;
use gpbench_files::{may_be_in_use, process_tag};
use gpbench_runs::{FinishedStore, UnpackedRuns};

use crate::args::Global;
use crate::exit::{Failure, OK, Outcome};
use crate::{dataset, output, units};

/// `gpbench clean`.
#[derive(Debug, Args)]
pub(crate) struct Clean {
    /// Remove downloaded data sets too.
    #[arg(long)]
    downloads: bool,
    /// Print what would be removed, and remove nothing.
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn clean(global: &Global, args: &Clean) -> Outcome {
    let places = dataset::places(global)?;
    let mut folders = vec![
        places.cache.join("exact"),
        places.copies(),
        FinishedStore::of(&global.output_dir).folder().to_owned(),
        UnpackedRuns::of(&global.output_dir).folder().to_owned(),
    ];
    if args.downloads {
        folders.push(places.downloads());
    }
    let mut freed = 0;
    // Files are removed even where nothing can be printed.
    let mut printed = Ok(());
    let left_over: Vec<PathBuf> = folders.iter().flat_map(|folder| left_over(folder)).collect();
    for folder in folders.iter().chain(&left_over).filter(|f| f.is_dir()) {
        let size = size_of(folder);
        let verb = if args.dry_run { "would remove" } else { "removed" };
        if !args.dry_run {
            remove(folder)
                .map_err(|e| Failure::internal(format!("{} cannot be removed: {e}", folder.display())))?;
        }
        let line = format!("{verb} {} ({})", folder.display(), units::bytes(size as f64));
        printed = printed.and(output::print(&line));
        freed += size;
    }
    if freed == 0 {
        output::print(&format!(
            "nothing to remove in {} and {}",
            places.cache.display(),
            global.output_dir.display()
        ))?;
    }
    printed.map(|()| OK)
}

/// Removes a folder, into which a run may put files meanwhile. It is renamed first: what a run puts into a new folder of its
/// name stays, so that a run loses a file once at most.
fn remove(folder: &Path) -> io::Result<()> {
    let moved = moved(folder, &process_tag());
    match fs::rename(folder, &moved) {
        Ok(()) => fs::remove_dir_all(moved),
        // Another process has removed it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(_) => remove_in_place(folder),
    }
}

/// Removes a folder that cannot be renamed, such as one in a folder that only others may write to.
fn remove_in_place(folder: &Path) -> io::Result<()> {
    const TRIES: usize = 100;
    for _ in 1..TRIES {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            removed => return removed,
        }
    }
    fs::remove_dir_all(folder)
}

/// The name of a folder that the process of a tag removes.
fn moved(folder: &Path, tag: &str) -> PathBuf {
    let mut name = folder.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{tag}.part"));
    folder.with_file_name(name)
}

/// What is left of a folder that processes had renamed and not removed when they were killed.
fn left_over(folder: &Path) -> Vec<PathBuf> {
    let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else { return Vec::new() };
    let beside = fs::read_dir(parent).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_moved = |path: &PathBuf| {
        let rest = path.file_name().and_then(|file| file.as_bytes().strip_prefix(name.as_bytes()));
        rest.is_some_and(|rest| rest.starts_with(b".") && rest.ends_with(b".part")) && !may_be_in_use(path)
    };
    beside.filter(is_moved).collect()
}

/// Bytes of all files below a folder.
fn size_of(folder: &Path) -> u64 {
    let mut open: Vec<PathBuf> = vec![folder.to_owned()];
    let mut bytes = 0;
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                _ => bytes += entry.metadata().map_or(0, |m| m.len()),
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_away_before_its_files_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("copies");
        fs::create_dir_all(folder.join("contents")).unwrap();
        fs::write(folder.join("contents/a.json"), "a").unwrap();
        remove(&folder).unwrap();
        remove(&folder).unwrap();
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_a_killed_process_left_is_found() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("copies");
        let own = moved(&folder, &process_tag());
        // No process has this number.
        let dead = moved(&folder, &process_tag().replace(&std::process::id().to_string(), "4294967"));
        for path in [&own, &dead, &place.path().join("copies.gpb"), &place.path().join("exact.1.part")] {
            fs::create_dir(path).unwrap();
        }
        assert_eq!(left_over(&folder), [dead]);
    }
}
