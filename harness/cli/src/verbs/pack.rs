//! `gpbench pack` and `gpbench unpack`: a run as one file, for others to read and to verify.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use gpbench_record::sha256_hex;
use gpbench_report::Run;
use gpbench_runs::{NeutralNames, PACK_FORMAT, PackManifest, copy_solutions, kept_solutions};

use crate::args::Global;
use crate::exit::{Failure, OK, Outcome};
use crate::notice::{say, warn};
use crate::{neutral, output, runs, units};

/// `gpbench pack`.
#[derive(Debug, Args)]
pub(crate) struct Pack {
    /// A run folder, the name of a spec (its latest run), `NAME~1` (the run before that), the id of a run or its
    /// beginning, or `latest`.
    run: String,
    /// The file to write, such as `uci.gpbench`, in place of an earlier one.
    #[arg(short, long, value_name = "FILE", required_unless_present = "dry_run")]
    output: Option<PathBuf>,
    /// Pack the solutions of at most this many cases too, from which others recompute residuals and predictions.
    /// `gpbench run
    /// --keep-solutions N` keeps them.
    #[arg(long, value_name = "N", default_value_t = 0)]
    solutions: usize,
    /// Leave the home, working and temporary folders and the host's name as they are. Otherwise neutral names stand
    /// in their places, and what is replaced is listed before the file is written.
    #[arg(long)]
    keep_paths: bool,
    /// List what would be replaced and packed, and write nothing.
    #[arg(long)]
    dry_run: bool,
}

/// `gpbench unpack`.
#[derive(Debug, Args)]
pub(crate) struct Unpack {
    /// The packed run.
    file: PathBuf,
    /// The folder to make of it; by default `<output folder>/<name>/<id of the run>`.
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

pub(crate) fn pack(global: &Global, args: &Pack) -> Outcome {
    let run = runs::open(global, &args.run)?;
    let solutions = chosen(&run, args.solutions)?;
    if run.missing() > 0 {
        warn(global, format!("{} planned cases have no row, which `gpbench verify` will say", run.missing()));
    }
    let staging = tempfile::Builder::new().prefix("gpbench-pack-").tempdir();
    let staging = staging.map_err(|error| Failure::internal(format!("no temporary folder: {error}")))?;
    let names = if args.keep_paths { NeutralNames::default() } else { neutral::names() };
    let replaced = runs::frame(&run)?.publish_whole(staging.path(), &names).map_err(runs::not_written)?;
    copy_solutions(solutions.values().map(PathBuf::as_path), staging.path()).map_err(runs::failure)?;
    neutral::tell(global, &replaced);
    let Some(file) = args.output.as_ref().filter(|_| !args.dry_run) else {
        return packed_files(staging.path()).map(|()| OK);
    };
    let manifest = gpbench_runs::pack(staging.path(), about(&run), file).map_err(runs::failure)?;
    if !global.quiet {
        say(summary(file, &manifest)?);
    }
    Ok(OK)
}

/// What a packed run says of itself.
fn about(run: &Run) -> PackManifest {
    let id = run.record.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    PackManifest {
        format: PACK_FORMAT,
        gpbench: env!("CARGO_PKG_VERSION").to_owned(),
        name: run.record.name.clone(),
        run: id,
        entries: Vec::new(),
    }
}

/// The kept solutions of at most `count` cases that have a row: those with the smallest ids.
fn chosen(run: &Run, count: usize) -> Result<BTreeMap<String, PathBuf>, Failure> {
    let mut kept = kept_solutions(&run.record.folder);
    kept.retain(|id, _| run.record.rows.iter().any(|row| row.id == *id));
    if count > 0 && kept.is_empty() {
        return Err(Failure::usage(format!(
            "{} keeps no solutions; `gpbench run SPEC --fresh --keep-solutions {count}` keeps some",
            run.record.folder.display()
        )));
    }
    Ok(kept.into_iter().take(count).collect())
}

/// Lists the files that would be packed.
fn packed_files(folder: &Path) -> Result<(), Failure> {
    let entries = gpbench_runs::packed_entries(folder).map_err(runs::failure)?;
    let line =
        |entry: &gpbench_runs::PackedEntry| format!("{} ({})", entry.path, units::bytes(entry.bytes as f64));
    output::print(&entries.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// What was packed.
fn summary(file: &Path, manifest: &PackManifest) -> Result<String, Failure> {
    let unreadable =
        |error: io::Error| Failure::internal(format!("{} cannot be read: {error}", file.display()));
    let packed = File::open(file).map_err(unreadable)?;
    let bytes = packed.metadata().map_err(unreadable)?.len();
    let solutions = match manifest.solutions() {
        0 => "no solutions".to_owned(),
        1 => "the solution of 1 case".to_owned(),
        count => format!("the solutions of {count} cases"),
    };
    Ok(format!(
        "packed: {} ({} of {} files, {solutions}; SHA-256 {})",
        file.display(),
        units::bytes(bytes as f64),
        manifest.entries.len(),
        sha256_hex(packed).map_err(unreadable)?
    ))
}

pub(crate) fn unpack(global: &Global, args: &Unpack) -> Outcome {
    let folder = match &args.output {
        Some(folder) => folder.clone(),
        None => {
            let PackManifest { name, run, .. } =
                gpbench_runs::read_manifest(&args.file).map_err(runs::failure)?;
            global.output_dir.join(name).join(run)
        }
    };
    if folder.exists() {
        return Err(Failure::usage(format!("{} exists; name another folder with `-o`", folder.display())));
    }
    gpbench_runs::unpack(&args.file, &folder).map_err(runs::failure)?;
    output::print(&format!("unpacked: {}", folder.display())).map(|()| OK)
}
