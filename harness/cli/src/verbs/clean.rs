//! `gpbench clean`: removes what can be made again: cached files, and the store of finished cases.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use gpbench_runs::FinishedStore;

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
    ];
    if args.downloads {
        folders.push(places.downloads());
    }
    let mut freed = 0;
    // Files are removed even where nothing can be printed.
    let mut printed = Ok(());
    for folder in folders.iter().filter(|f| f.is_dir()) {
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

/// Removes a folder, into which a run may put files meanwhile.
fn remove(folder: &Path) -> io::Result<()> {
    const TRIES: usize = 100;
    for _ in 1..TRIES {
        match std::fs::remove_dir_all(folder) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            removed => return removed,
        }
    }
    std::fs::remove_dir_all(folder)
}

/// Bytes of all files below a folder.
fn size_of(folder: &Path) -> u64 {
    let mut open: Vec<PathBuf> = vec![folder.to_owned()];
    let mut bytes = 0;
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                _ => bytes += entry.metadata().map_or(0, |m| m.len()),
            }
        }
    }
    bytes
}
