//! Predictions on test rows, and hyperparameters in the units of a file.

use std::fs::File;
use std::path::Path;

use gpbench_record::{ColumnScale, FileUnits, Predictions};
use gpbench_report::{Run, WriteOptions, write_all};
use polars::prelude::{DataFrame, ParquetReader, SerReader};

use crate::support::run;

fn column(name: &str, divisor: f64) -> ColumnScale {
    ColumnScale { name: name.to_owned(), centre: 10.0, divisor, ..ColumnScale::default() }
}

/// The stored run, of whose cases the first has predictions of both kinds, the second means alone, and the third lists that a
/// hand has cut short.
fn predicted() -> Run {
    let mut run = run();
    let whole = Predictions {
        row: vec![4, 9],
        id: vec!["north".to_owned(), "south".to_owned()],
        target: vec![1.0, 2.0],
        mean: vec![1.5, 1.5],
        deviation: vec![1.0, 2.0],
        latent_deviation: vec![0.5, 1.5],
    };
    let means = Predictions { id: vec![], deviation: vec![], latent_deviation: vec![], ..whole.clone() };
    let cut = Predictions { mean: vec![1.5], ..whole.clone() };
    for (row, predictions) in run.record.rows.iter_mut().zip([whole, means, cut]) {
        row.predictions = Some(Box::new(predictions));
        let inputs = (0..row.d.unwrap_or(1)).map(|input| column(&format!("x{input}"), 2.0)).collect();
        row.units = Some(Box::new(FileUnits { inputs, target: column("y", 3.0) }));
    }
    run
}

fn read(folder: &Path, file: &str) -> DataFrame {
    ParquetReader::new(File::open(folder.join(file)).unwrap()).finish().unwrap()
}

fn numbers(table: &DataFrame, name: &str) -> Vec<Option<f64>> {
    table.column(name).unwrap().f64().unwrap().iter().collect()
}

#[test]
fn each_test_row_has_its_prediction_and_its_interval() {
    let run = predicted();
    let output = tempfile::tempdir().unwrap();
    let options = WriteOptions { output: Some(output.path().to_owned()) };
    write_all(&run, &options).unwrap();
    let table = read(output.path(), "predictions.parquet");
    assert_eq!(table.height(), 4, "lists of unequal lengths are left out");
    let rows: Vec<Option<u64>> = table.column("row").unwrap().u64().unwrap().iter().collect();
    assert_eq!(rows, [4, 9, 4, 9].map(Some));
    let ids: Vec<Option<&str>> = table.column("row_id").unwrap().str().unwrap().iter().collect();
    assert_eq!(ids, [Some("north"), Some("south"), None, None]);
    assert_eq!(numbers(&table, "deviation"), [Some(1.0), Some(2.0), None, None]);
    assert_eq!(numbers(&table, "latent_deviation"), [Some(0.5), Some(1.5), None, None]);
    let upper = numbers(&table, "upper_95");
    assert!((upper[1].unwrap() - (1.5 + 2.0 * 1.959963984540054)).abs() < 1e-12, "{upper:?}");
    assert_eq!(upper[2], None);
    let ids: Vec<&str> = table.column("id").unwrap().str().unwrap().iter().flatten().collect();
    assert_eq!(ids[0], run.record.rows[0].id);
    let solver: Vec<&str> = table.column("solver").unwrap().str().unwrap().iter().flatten().collect();
    assert_eq!(solver[2], run.record.rows[1].labels.solver);
}

#[test]
fn hyperparameters_are_in_the_units_of_the_file_too() {
    let run = predicted();
    let output = tempfile::tempdir().unwrap();
    let options = WriteOptions { output: Some(output.path().to_owned()) };
    let written = write_all(&run, &options).unwrap();
    let results = read(output.path(), "results.parquet");
    let (scaled, in_units) =
        (numbers(&results, "kernel.noise_scale"), numbers(&results, "units.noise_scale"));
    assert_eq!(in_units[0], scaled[0].map(|noise| noise * 3.0));
    assert_eq!(in_units[3], None, "no units are known");
    assert_eq!(numbers(&results, "target_scale")[..4], [Some(3.0), Some(3.0), Some(3.0), None]);
    let length = run.record.rows[0].case.kernel.length_scale[0];
    assert_eq!(numbers(&results, "units.length_scale.x0")[0], Some(length * 2.0));
    let page = std::fs::read_to_string(&written.markdown).unwrap();
    assert!(page.contains("in the units of the file") && page.contains(" of x0"), "{page}");
}

#[test]
fn a_run_without_predictions_has_no_file_of_them() {
    let output = tempfile::tempdir().unwrap();
    write_all(&run(), &WriteOptions { output: Some(output.path().to_owned()) }).unwrap();
    assert!(!output.path().join("predictions.parquet").exists());
    let results = read(output.path(), "results.parquet");
    for name in ["units.noise_scale", "target_scale", "learned.noise_scale"] {
        assert!(results.column(name).is_err(), "{name}");
    }
}
