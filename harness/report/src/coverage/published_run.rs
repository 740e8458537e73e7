//! A published run, read from its committed files.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use gpbench_record::{Case, CaseStatus, Environment, Labels, Metrics, Row, TaskOutput, counted, revisions};
use gpbench_runs::RunRecord;
use polars::prelude::{AnyValue, DataFrame, DataType, ParquetReader, SerReader};
use serde::Deserialize;

use crate::error::{Error, Result, at};
use crate::frame::{CASE, CaseView, Cases, Frame};
use crate::run::Run;

/// A folder with `results.parquet`, `spec.toml` and `environment.json`.
pub(super) struct PublishedRun {
    /// Name of the folder.
    pub(super) name: String,
    /// The paper that the spec compares with.
    pub(super) reference: Option<String>,
    /// Its rows, without metrics, traces and steps.
    pub(super) run: Run,
    /// The table of its results.
    pub(super) results: DataFrame,
}

/// The keys of a spec that coverage needs.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Spec {
    name: String,
    report: ReportTable,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ReportTable {
    reference: Option<String>,
}

impl PublishedRun {
    /// All below a folder that have their results, by name.
    ///
    /// # Errors
    /// If a file cannot be read, or is not what a report writes.
    pub(super) fn all(folder: &Path) -> Result<Vec<PublishedRun>> {
        let mut folders = Vec::new();
        for entry in fs::read_dir(folder).map_err(at(folder))? {
            folders.push(entry.map_err(at(folder))?.path());
        }
        folders.sort();
        folders.into_iter().filter(|folder| folder.join(RESULTS).is_file()).map(PublishedRun::open).collect()
    }

    fn open(folder: PathBuf) -> Result<PublishedRun> {
        let spec: Spec =
            read(&folder.join("spec.toml"), |text| toml::from_str(text).map_err(|e| e.to_string()))?;
        let environment: Environment = read(&folder.join("environment.json"), |text| {
            serde_json::from_str(text).map_err(|error| error.to_string())
        })?;
        let path = folder.join(RESULTS);
        let results = table(&path)?;
        let rows = rows(&results).map_err(|reason| wrong(&path, reason))?;
        let record = RunRecord {
            folder,
            name: spec.name,
            rows,
            environments: vec![environment],
            ..RunRecord::default()
        };
        let run = Run { record, warnings: Vec::new() };
        Ok(PublishedRun { name: run.folder_name(), reference: spec.report.reference, run, results })
    }

    /// Revision of the code, machine and dates.
    pub(super) fn facts(&self) -> Vec<String> {
        let mut facts = Vec::new();
        for machine in &self.run.record.environments {
            let all = revisions([machine]);
            facts.push(all.map_or("no known revision".to_owned(), |all| format!("revision {all}")));
            facts.push(format!("{}, {} a case", machine.cpu, counted(machine.threads, "thread")));
        }
        let days = || self.run.record.rows.iter().filter_map(|row| row.finished.get(..10));
        if let (Some(first), Some(last)) = (days().min(), days().max()) {
            facts.push(if first == last { first.to_owned() } else { format!("{first} to {last}") });
        }
        facts
    }
}

/// The run of a folder that keeps its results, spec and environment, and no journal. Its rows have metrics, and neither traces nor
/// steps.
///
/// # Errors
/// If a file cannot be read, or is not what a report writes.
pub fn run_without_journal(folder: &Path) -> Result<Run> {
    let PublishedRun { mut run, results, .. } = PublishedRun::open(folder.to_owned())?;
    let metrics: Vec<Metrics> = {
        let frame = Frame::stored(&run, results);
        let cases = Cases::of(&frame);
        let own = |case: CaseView<'_>| case.metrics().map(|(name, value)| (name.to_owned(), value)).collect();
        cases.iter().map(own).collect()
    };
    for (row, metrics) in run.record.rows.iter_mut().zip(metrics) {
        row.metrics = metrics;
    }
    Ok(run)
}

const RESULTS: &str = "results.parquet";

/// Most rows of a table of results that are read: many times those of a published run.
const MOST_ROWS: usize = 200_000;

/// Most bytes of a table of results, and of its cases as texts, that are read.
const MOST_BYTES: usize = 256 << 20;

/// Reads the table of results. polars panics on some damaged files; a panic becomes an error here.
fn table(path: &Path) -> Result<DataFrame> {
    catch_unwind(|| sound_table(path))
        .unwrap_or_else(|_| Err(wrong(path, "it is damaged, and cannot be read".to_owned())))
}

/// Reads a table, whose file states its size.
fn sound_table(path: &Path) -> Result<DataFrame> {
    let mut reader = ParquetReader::new(File::open(path).map_err(at(path))?);
    let metadata = reader.get_metadata()?;
    let groups = metadata.row_groups.iter();
    let bytes = groups.fold(0_usize, |sum, group| sum.saturating_add(group.total_byte_size()));
    check_size(metadata.num_rows, bytes).map_err(|reason| wrong(path, reason))?;
    Ok(reader.finish()?)
}

/// Fails if a table has more rows or bytes than are read.
fn check_size(rows: usize, bytes: usize) -> std::result::Result<(), String> {
    let checked = [(rows, MOST_ROWS, "rows"), (bytes, MOST_BYTES, "bytes")];
    match checked.into_iter().find(|(count, most, _)| count > most) {
        Some((count, most, what)) => {
            Err(format!("it has {count} {what}, more than the {most} that are read"))
        }
        None => Ok(()),
    }
}

fn read<T>(path: &Path, parse: impl FnOnce(&str) -> std::result::Result<T, String>) -> Result<T> {
    let text = fs::read_to_string(path).map_err(at(path))?;
    parse(&text).map_err(|reason| wrong(path, reason))
}

fn wrong(path: &Path, reason: String) -> Error {
    Error::Format { path: path.to_owned(), at: None, reason }
}

/// The rows of `results.parquet` with what tells cases apart and how they ended.
fn rows(results: &DataFrame) -> std::result::Result<Vec<Row>, String> {
    let Ok(cases) = results.column(CASE) else {
        return Err(format!(
            "it has no column `{CASE}`; `gpbench report` of the run writes it with that column"
        ));
    };
    // A file has a text once that many rows may have.
    let texts = cases.str().map_err(|error| error.to_string())?.iter().flatten();
    check_size(results.height(), texts.fold(0_usize, |sum, text| sum.saturating_add(text.len())))?;
    (0..results.height()).map(|i| row(results, i)).collect()
}

fn row(results: &DataFrame, i: usize) -> std::result::Result<Row, String> {
    let value = |name: &str| -> std::result::Result<AnyValue<'_>, String> {
        results.column(name).and_then(|column| column.get(i)).map_err(|error| error.to_string())
    };
    let text = |name: &str| value(name).map(|value| value.get_str().map(str::to_owned));
    let needed = |name: &str| text(name)?.ok_or_else(|| format!("row {i} has no `{name}`"));
    let number = |name: &str| value(name).map(|value| value.cast(&DataType::Float64).extract::<f64>());
    let case: Case = serde_json::from_str(&needed(CASE)?).map_err(|error| format!("row {i}: {error}"))?;
    let status: CaseStatus =
        serde_json::from_value(needed("status")?.into()).map_err(|error| format!("row {i}: {error}"))?;
    let labels = Labels {
        dataset: needed("dataset")?,
        kernel: needed("kernel")?,
        estimator: text("estimator")?,
        solver: needed("solver")?,
        seed: number("seed")?.unwrap_or_default() as u64,
        repeat: number("repeat")?.unwrap_or_default() as u32,
    };
    Ok(Row {
        id: needed("id")?,
        labels,
        output: TaskOutput::empty(case.task.kind()),
        case,
        status,
        reason: String::new(),
        n: number("n")?.map(|n| n as usize),
        d: number("d")?.map(|d| d as usize),
        metrics: Metrics::default(),
        solver_values: BTreeMap::new(),
        trace: Vec::new(),
        units: None,
        predictions: None,
        log_tail: String::new(),
        reproducible: true,
        lacks_exact: false,
        unplanned_parts: Vec::new(),
        reused_from: None,
        environment: text("environment")?,
        place: None,
        finished: needed("finished")?,
    })
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use polars::prelude::{Column, DataFrame, ParquetWriter};

    #[test]
    fn results_of_earlier_versions_are_refused_with_what_to_do() {
        let frame = DataFrame::new(1, vec![Column::new("id".into(), ["a"])]).unwrap();
        let reason = super::rows(&frame).unwrap_err();
        assert_eq!(reason, "it has no column `case`; `gpbench report` of the run writes it with that column");
    }

    #[test]
    fn tables_of_more_than_is_read_are_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let write = |rows: usize| {
            let column = Column::new("n".into(), vec![0_u32; rows]);
            let mut frame = DataFrame::new(rows, vec![column]).unwrap();
            ParquetWriter::new(File::create(file.path()).unwrap()).finish(&mut frame).unwrap();
            super::table(file.path())
        };
        assert_eq!(write(3).unwrap().height(), 3);
        let error = write(super::MOST_ROWS + 1).unwrap_err().to_string();
        assert!(error.ends_with("it has 200001 rows, more than the 200000 that are read"), "{error}");
        let reason = super::check_size(5, super::MOST_BYTES + 1).unwrap_err();
        assert_eq!(reason, "it has 268435457 bytes, more than the 268435456 that are read");
    }
}
