//! Finds, downloads and reads data sets.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use gpbench_data::Repeats;
use gpbench_data::copy as binary_copy;
use gpbench_data::fetch::{self, Progress};
use gpbench_data::locate::{self, SearchPlaces};
use gpbench_data::registry::{self, RegistryEntry};
use gpbench_import::{ImportError, ImportSource, Materialised, materialise_in_subprocess};
use gpbench_record::{DatasetNotes, Source};
use gpbench_spec::OwnFiles;
use indicatif::{ProgressBar, ProgressStyle};

use crate::args::Global;
use crate::exit::Failure;
use crate::notice::{say, warn};

/// The verb of the process that reads a file.
pub(crate) const READ_TABLE: &str = "read-table";

/// Why a data set cannot be used.
pub(crate) struct Unavailable {
    /// The reason, and what to do.
    pub(crate) text: String,
    /// Whether it is absent, rather than present and bad.
    pub(crate) is_absent: bool,
}

/// The folders that are searched for data sets.
pub(crate) fn places(global: &Global) -> Result<SearchPlaces, Failure> {
    SearchPlaces::from_env(global.data_dir.clone()).map_err(Failure::usage)
}

/// The binary copy of a data set that is on this machine. Where there is none, a process of its own reads the files.
pub(crate) fn copy(origin: &ImportSource<'_>, places: &SearchPlaces) -> Result<Materialised, ImportError> {
    // Another program may have taken this one's name since it was started.
    let mut reader = Command::new("/proc/self/exe");
    materialise_in_subprocess(reader.arg0("gpbench").arg(READ_TABLE), origin, &places.copies())
}

/// The binary copy of a source: finds or downloads the data set, and reads it unless there is a copy.
pub(crate) fn obtain(
    global: &Global,
    places: &SearchPlaces,
    source: &Source,
    own: Option<&OwnFiles>,
    offline: bool,
) -> Result<Materialised, Unavailable> {
    let bad = |text: String| Unavailable { text, is_absent: false };
    match (source, own) {
        (Source::Registry { name }, _) => {
            let entry = registry::find(name).map_err(|e| bad(e.to_string()))?;
            let found = if offline {
                locate::locate(entry, places).map_err(|e| e.to_string())
            } else {
                with_bar(global, entry, |show| fetch::obtain(entry, places, show)).map_err(|e| e.to_string())
            };
            let found = found.map_err(|text| Unavailable { text, is_absent: true })?;
            copy(&ImportSource::Collection(&found, entry), places).map_err(|e| bad(e.to_string()))
        }
        (Source::File { options, .. }, Some(OwnFiles { data: path, test })) => {
            let origin = match test {
                Some(test) => ImportSource::HeldOut { path, test, options },
                None => ImportSource::File { path, options },
            };
            let is_absent = !path.exists() || test.as_ref().is_some_and(|test| !test.exists());
            copy(&origin, places).map_err(|e| Unavailable { text: e.to_string(), is_absent })
        }
        _ => Err(bad("this source has no file".to_owned())),
    }
}

/// What a run says about the reading of a data set.
pub(crate) fn notes(source: &Source, copy: &Materialised) -> DatasetNotes {
    let is_default = matches!(source, Source::File { options, .. } if options.target.is_none());
    DatasetNotes {
        default_target: is_default.then(|| copy.names.target.clone()),
        test_rows: matches!(source, Source::File { options, .. } if options.test.is_some())
            .then(|| range_of_test_rows(copy))
            .flatten(),
        split: None,
        warnings: copy.warnings.iter().cloned().chain(known_test_rows(source, copy)).collect(),
    }
}

/// A warning of test rows with the inputs of training rows, where the user's own files say which rows are test rows.
fn known_test_rows(source: &Source, copy: &Materialised) -> Option<String> {
    let is_stated = matches!(source, Source::File { .. }) && copy.splits > 0;
    let Repeats { test_rows, known_test_rows: known, .. } = copy.reading.repeats;
    let of_split = if copy.splits > 1 { " of split 0" } else { "" };
    (is_stated && known > 0).then(|| {
        format!(
            "{known} of {test_rows} test rows{of_split} have inputs of training rows; errors there are not those at new inputs"
        )
    })
}

/// How the test rows of a file of their own lie to the training rows. `None` where the copy has vanished since, or is damaged: it
/// is made again when a case needs it.
pub(crate) fn range_of_test_rows(copy: &Materialised) -> Option<String> {
    Some(binary_copy::read(&copy.path).ok()?.outside_training_box()?.to_string())
}

/// Prints the notes on a data set.
pub(crate) fn tell(global: &Global, name: &str, notes: &DatasetNotes) {
    for warning in &notes.warnings {
        warn(global, format!("data set `{name}`: {warning}"));
    }
    if global.quiet {
        return;
    }
    if let Some(test_rows) = &notes.test_rows {
        say(format_args!("data set `{name}`: {test_rows}"));
    }
    if let Some(target) = &notes.default_target {
        say(format_args!(
            "data set `{name}`: its target is `{target}`, the last column, since no `target` is set"
        ));
    }
}

/// Downloads with a progress bar: `download` gets the function that shows its progress.
pub(crate) fn with_bar<T>(
    global: &Global,
    entry: &RegistryEntry,
    download: impl FnOnce(&mut dyn FnMut(Progress<'_>)) -> T,
) -> T {
    let template = "{msg} {bar:30} {bytes}/{total_bytes} {eta}";
    let style = ProgressStyle::with_template(template).expect("the template is constant and valid");
    let bar = if global.quiet { ProgressBar::hidden() } else { ProgressBar::new(0) }.with_style(style);
    let result = download(&mut |progress| {
        bar.set_message(format!("{}/{}", entry.name, progress.file));
        if let Some(total) = progress.total {
            bar.set_length(total);
        }
        bar.set_position(progress.done);
    });
    bar.finish_and_clear();
    result
}
