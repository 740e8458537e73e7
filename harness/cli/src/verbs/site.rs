//! `gpbench site`: a static web site of the runs in a folder.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use gpbench_files::read_regular;
use gpbench_record::sha256_hex;
use gpbench_report::{ArchivedRun, Error, Verification, WebSite, run_without_journal};
use gpbench_runs::{is_packed, resolve_run};

use crate::args::Global;
use crate::exit::{Failure, OK, Outcome};
use crate::notice::{say, warn};
use crate::{runs, units};

/// Folders within folders that are searched, such as `reports/NAME/ID`.
const DEEPEST: usize = 4;

/// The rows of a run folder.
const JOURNAL: &str = "journal.jsonl";

/// The report of a run.
const REPORT: &str = "report.md";

/// Files of a run that was published before journals were kept.
const WITHOUT_JOURNAL: [&str; 3] = ["results.parquet", "spec.toml", "environment.json"];

/// The answer of `gpbench verify --format json` in a run folder, and the extension of that of a packed run.
const VERDICT: &str = "verification.json";

/// Most bytes of a verdict that are read.
const MOST_VERDICT_BYTES: u64 = 16 << 20;

/// `gpbench site`.
#[derive(Debug, Args)]
pub(crate) struct Site {
    /// A folder that holds run folders and packed runs, also in folders within.
    folder: PathBuf,
    /// The folder to write, in place of an earlier site there.
    #[arg(short, long, value_name = "FOLDER", default_value = "site")]
    output: PathBuf,
}

pub(crate) fn site(global: &Global, args: &Site) -> Outcome {
    let mut site = WebSite::default();
    let Found { runs: found, without_rows } = find(&args.folder)?;
    if !without_rows.is_empty() {
        let names = without_rows.join(", ");
        warn(global, format!("these reports are only named, since their folders keep no rows: {names}"));
        site.name_without_rows(without_rows);
    }
    for path in found {
        let added =
            open(global, &args.folder, &path).and_then(|run| site.add(run).map_err(Failure::internal));
        if let Err(failure) = added {
            warn(global, format!("{} is left out: {}", path.display(), failure.text));
        }
    }
    if site.runs() == 0 {
        let folder = args.folder.display();
        return Err(Failure::nothing(format!(
            "{folder} holds no run folder and no packed run that can be read"
        )));
    }
    let written = site.write(&args.output).map_err(|error| match error {
        error @ Error::Format { .. } => Failure::usage(error),
        error => runs::not_written(error),
    })?;
    if !global.quiet {
        say(format_args!(
            "site: {} (runs: {}, cases: {}, files: {}, {})",
            written.front.display(),
            site.runs(),
            written.cases,
            written.files,
            units::bytes(written.bytes as f64)
        ));
    }
    Ok(OK)
}

/// What a folder holds.
#[derive(Default)]
struct Found {
    /// Run folders and packed runs, by path.
    runs: Vec<PathBuf>,
    /// Names of folders that keep the report of a run alone.
    without_rows: Vec<String>,
}

/// What a folder and the folders within hold; the folder itself where it is a run.
fn find(folder: &Path) -> Result<Found, Failure> {
    let mut found = Found::default();
    if is_run(folder) || is_packed(folder) {
        found.runs.push(folder.to_owned());
        return Ok(found);
    }
    let unreadable = |error: io::Error| Failure::usage(format!("cannot read {}: {error}", folder.display()));
    search(folder, DEEPEST, &mut found).map_err(unreadable)?;
    Ok(found)
}

/// Links such as `latest` are left out: what they lead to is found under its own name.
fn search(folder: &Path, depth: usize, found: &mut Found) -> io::Result<()> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.sort();
    for path in paths {
        let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if is_hidden || path.is_symlink() {
            continue;
        }
        if is_run(&path) || is_packed(&path) {
            found.runs.push(path);
        } else if path.join(REPORT).is_file() {
            found.without_rows.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
        } else if path.is_dir() && depth > 0 {
            search(&path, depth - 1, found)?;
        }
    }
    Ok(())
}

fn is_run(path: &Path) -> bool {
    path.join(JOURNAL).is_file() || WITHOUT_JOURNAL.iter().all(|file| path.join(file).is_file())
}

/// Reads the run at a path in the folder of the archive, with its verdict.
fn open(global: &Global, archive: &Path, path: &Path) -> Result<ArchivedRun, Failure> {
    let place = place(archive, path);
    if !is_packed(path) && !path.join(JOURNAL).is_file() {
        let run = run_without_journal(path).map_err(Failure::internal)?;
        return Ok(ArchivedRun { run, place, verification: Verification::Impossible });
    }
    let (folder, verdict) = if is_packed(path) {
        let name = path.to_str().ok_or_else(|| Failure::usage("its name is not UTF-8"))?;
        let folder = resolve_run(&global.output_dir, name).map_err(runs::failure)?;
        (folder, path.with_extension(VERDICT))
    } else {
        (path.to_owned(), path.join(VERDICT))
    };
    let run = runs::open_folder(global, &folder)?;
    let verification = verification(&verdict, &folder.join(JOURNAL)).unwrap_or_else(|reason| {
        warn(global, format!("{}: {reason}; the run counts as not verified", verdict.display()));
        Verification::None
    });
    Ok(ArchivedRun { run, place, verification })
}

/// What a file of a verdict says of a journal; nothing where there is no file.
fn verification(verdict: &Path, journal: &Path) -> Result<Verification, String> {
    let text = match read_regular(verdict, MOST_VERDICT_BYTES) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Verification::None),
        Err(error) => return Err(error.to_string()),
    };
    let text = String::from_utf8(text).map_err(|error| error.to_string())?;
    let checksum = File::open(journal).and_then(sha256_hex).map_err(|error| error.to_string())?;
    Verification::parse(&text, &checksum)
}

/// The path of a run below the folder of the archive, without the extension of packed runs.
fn place(archive: &Path, path: &Path) -> String {
    let below = path.strip_prefix(archive).ok().filter(|below| !below.as_os_str().is_empty());
    let below = below.or_else(|| path.file_name().map(Path::new)).unwrap_or(path);
    let below = if is_packed(path) { below.with_extension("") } else { below.to_owned() };
    below.to_string_lossy().into_owned()
}
