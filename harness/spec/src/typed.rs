//! The first stage: a spec as typed.
//!
//! Every value has the type and the range of its key, and its place; names are not looked up. A key that is absent,
//! or whose value has another type, is `None`; the latter has left a mistake in [`Typed::mistakes`].

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf, absolute};

use gpbench_record::LibraryInfo;

use crate::data_file;
use crate::error::{Mistakes, SpecErrors};
use crate::keys::{Keys, SpecKey};
use crate::library_override;
use crate::overrides;
use crate::source::{SPEC, START, Sources};
use crate::tables::root::{self, Root};
use crate::tree::{self, Node, Table, Value};

/// A spec as typed, with what the command line changed. May hold mistakes, which [`Typed::check`] reports.
#[derive(Debug, Clone)]
pub struct Typed {
    pub(crate) sources: Sources,
    /// The spec's folder: paths in it are relative to this.
    pub(crate) folder: PathBuf,
    pub(crate) mistakes: Mistakes,
    /// Whether `--set` changed an axis, which may leave tables and excludes without use.
    pub(crate) axes_overridden: bool,
    pub(crate) root: Root,
    /// The whole spec, with what the command line changed.
    pub(crate) table: Table,
    /// Whether the command line changed anything.
    is_changed: bool,
}

/// Reads the spec at `path`, or from standard input where that is `-`, and applies `sets`, each a `key=value` of
/// `--set`. Paths in a spec from standard input are relative to the current folder.
///
/// # Errors
/// If the file cannot be read, or if it or an override is not TOML. Every other mistake waits for
/// [`Typed::check`], so that all of them are reported together.
pub fn load(path: &Path, sets: &[String]) -> Result<Typed, SpecErrors> {
    let is_input = is_standard_input(path);
    let name = if is_input { Path::new("<stdin>") } else { path };
    let data = if is_input { Path::new("FILE") } else { path };
    let text = if is_input { read_text(io::stdin().lock()) } else { File::open(path).and_then(read_text) };
    let text = text.map_err(|error| {
        let hint = data_file::advice(data, None).map(|advice| format!("; {advice}")).unwrap_or_default();
        SpecErrors::unreadable(name, format!("cannot read this spec: {error}{hint}"))
    })?;
    let mut mistakes = Mistakes::default();
    let mut table = tree::parse(&text, SPEC, &mut mistakes);
    if let Some(advice) = data_file::advice(data, Some(&text)).filter(|_| !mistakes.is_empty()) {
        return Err(SpecErrors::unreadable(name, format!("this is no spec, which is a TOML file; {advice}")));
    }
    let mut sources = Sources::new(name.to_owned(), text);
    let mut axes_overridden = false;
    for set in sets {
        let key = overrides::apply(&mut table, set, &mut sources, &mut mistakes);
        axes_overridden |= key.is_some_and(|key| matches!(key.as_str(), "matrix" | "seeds" | "exclude"));
    }
    // The parser guesses after a syntax error; mistakes in what it recovers would mislead.
    if !mistakes.is_empty() {
        return Err(mistakes.into_errors(&sources));
    }
    let root = read(&table, &mut mistakes);
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    Ok(Typed { sources, folder, mistakes, axes_overridden, root, table, is_changed: !sets.is_empty() })
}

/// Bytes of the longest spec. A device such as `/dev/zero` has no end.
const LONGEST: u64 = 16 << 20;

/// Whether a spec's path stands for standard input.
pub fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// Reads a text. A byte order mark at its beginning, which some editors write, is left out.
pub(crate) fn read_text(from: impl Read) -> io::Result<String> {
    let mut bytes = Vec::new();
    from.take(LONGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST {
        return Err(io::Error::other("it is longer than 16 MiB, which is too much"));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| io::Error::other("the text is not UTF-8; save the file as UTF-8"))?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// The name of the top level in messages.
const TOP: &str = "the spec";

fn read(table: &Table, mistakes: &mut Mistakes) -> Root {
    Keys::read(table, TOP.to_owned(), &START, mistakes, root::read)
}

/// Every key of a spec, those of a table within the key that holds it.
pub fn reference() -> Vec<SpecKey> {
    Keys::describe(TOP.to_owned(), root::read)
}

impl Typed {
    /// Adds the solvers of `libraries` to the solver axis. An entry that names one of them takes it from its
    /// library; one that no entry names becomes an entry under its id, with default parameters.
    ///
    /// Files have to be absolute: a relative one would be looked for in the spec's folder.
    #[must_use]
    pub fn with_libraries(mut self, libraries: &[LibraryInfo]) -> Typed {
        // Mistakes of the spec are found again when it is read again.
        self.mistakes = Mistakes::default();
        for library in libraries {
            library_override::apply(&mut self.table, library, &mut self.sources, &mut self.mistakes);
            self.is_changed = true;
        }
        self.root = read(&self.table, &mut self.mistakes);
        self
    }

    /// The spec as one that a stranger wrote: no library or interpreter that it names is used, so that its solvers
    /// are those that gpbench finds by their ids; its paths are relative to the current folder, and the archived
    /// results that it names are no part of it.
    #[must_use]
    pub fn as_foreign(mut self) -> Typed {
        let solvers = self.table.0.iter_mut().find(|(key, _)| key.value == "solver");
        if let Some((_, Node { value: Value::Table(solvers), .. })) = solvers {
            for (_, solver) in &mut solvers.0 {
                if let Value::Table(entry) = &mut solver.value {
                    entry
                        .0
                        .retain(|(key, _)| !["library", "python", "optional"].contains(&key.value.as_str()));
                }
            }
        }
        let report = self.table.0.iter_mut().find(|(key, _)| key.value == "report");
        if let Some((_, Node { value: Value::Table(report), .. })) = report {
            report.0.retain(|(key, _)| key.value != "compare");
        }
        self.folder = PathBuf::new();
        self.read_again()
    }

    /// Reads the tables again, after a change of them that makes no mistakes of its own.
    pub(crate) fn read_again(mut self) -> Typed {
        self.root = read(&self.table, &mut Mistakes::default());
        self
    }

    /// The folder of the run that the spec replays. The caller reads it and adds its rows to the
    /// [`Catalog`](crate::Catalog).
    pub fn replayed_run(&self) -> Option<PathBuf> {
        let of_train = self.root.train.value.replay.as_ref();
        let replay = of_train.or(self.root.thompson.value.replay.as_ref())?;
        let run = replay.value.run.as_ref()?;
        Some(self.folder.join(&run.value))
    }

    /// The archived results that the report is to show beside those of the run: their paths as typed, each with the
    /// absolute one. The caller looks for them, and adds why some cannot be read to the [`Catalog`](crate::Catalog).
    pub fn archives(&self) -> Vec<(String, PathBuf)> {
        let typed = self.root.report.compare.iter().flat_map(|compare| &compare.value);
        typed.map(|archive| (archive.value.clone(), self.archive(&archive.value))).collect()
    }

    /// The absolute path of archived results, which does not depend on the folder in which a report is made.
    pub(crate) fn archive(&self, typed: &str) -> PathBuf {
        let path = self.folder.join(typed);
        absolute(&path).unwrap_or(path)
    }

    /// The spec's name, if it gives a usable one.
    pub fn name(&self) -> Option<&str> {
        self.root.name.as_ref().map(|name| name.value.as_str())
    }

    /// A text with the same content as this spec: the file's own, or where the command line changed something a
    /// new one, under a line that says so.
    pub fn text(&self) -> String {
        if self.is_changed {
            let toml = tree::to_toml(&self.table);
            format!("# Written with every --set and --library applied.\n{toml}")
        } else {
            self.sources.text(SPEC).to_owned()
        }
    }
}
