//! Reads Parquet files with polars.

use std::fs::File;
use std::io::Read;
use std::panic::catch_unwind;
use std::path::Path;

use gpbench_data::Table;
use ndarray::{Array1, Array2};
use polars::prelude::{ArrowDataType, Column, DataType, ParquetReader, PolarsError, SerReader};

use crate::columns::Columns;
use crate::error::{Fault, ImportError, Place};
use crate::memory;
use crate::text::{LARGEST, check_constants, rounding, stem};

const MAGIC: &[u8; 4] = b"PAR1";

/// Whether a file is Parquet, by its first bytes or by its name.
pub(crate) fn is_parquet(file: &Path) -> bool {
    let named = file.extension().is_some_and(|extension| extension == "parquet" || extension == "pq");
    let mut beginning = [0; 4];
    let read = File::open(file).and_then(|mut file| file.read_exact(&mut beginning));
    named || (read.is_ok() && &beginning == MAGIC)
}

/// Reads a user's Parquet file.
///
/// polars panics on some damaged files; a panic becomes an error here.
pub(crate) fn read(file: &Path, target: Option<&str>) -> Result<Table, ImportError> {
    catch_unwind(|| read_sound(file, target)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or(panic.downcast_ref::<&str>().copied()).unwrap_or("the reader failed");
        let reason = said.lines().next().unwrap_or_default().chars().take(200).collect();
        Err(Place::file(file).fault(Fault::Parquet { reason }))
    })
}

fn read_sound(file: &Path, target: Option<&str>) -> Result<Table, ImportError> {
    let fault = |fault: Fault| Place::file(file).fault(fault);
    let damaged = |error: PolarsError| fault(Fault::Parquet { reason: error.to_string() });
    let handle = File::open(file).map_err(|error| fault(Fault::Unreadable { reason: error.to_string() }))?;
    let mut reader = ParquetReader::new(handle);
    let schema = reader.schema().map_err(damaged)?;
    let names = schema.iter_values().map(|field| field.name.to_string()).collect();
    let columns = Columns::named(names, |_| Place::file(file))?;
    for (index, field) in schema.iter_values().enumerate() {
        check_type(&field.dtype, || columns.describe(index)).map_err(fault)?;
    }
    let (rows, most) = (reader.num_rows().map_err(damaged)?, memory::numbers());
    if rows.checked_mul(columns.count.max(1)).is_none_or(|numbers| numbers > most) {
        return Err(fault(Fault::TooMany { most }));
    }
    let frame = reader.finish().map_err(damaged)?;
    let (n, count) = frame.shape();
    match (n, count) {
        (_, 0) => return Err(fault(Fault::Empty)),
        (_, 1) => return Err(fault(Fault::OneColumn { separator: None })),
        (0, _) => return Err(fault(Fault::HeaderOnly)),
        (1, _) => return Err(fault(Fault::OneRow)),
        _ => {}
    }
    let target = columns.target(file, target)?;

    let mut x = Array2::zeros((n, count - 1));
    let mut y = Array1::zeros(n);
    let mut warnings = Vec::new();
    for (index, column) in frame.columns().iter().enumerate() {
        let values = numbers(column, index, &columns, file)?;
        if let Some((row, text)) = rounded(column, &values) {
            warnings.push(rounding(
                &format!("row {}", row + 1),
                &columns.describe(index),
                &text,
                values[row],
            ));
        }
        match index {
            _ if index == target => y.assign(&values),
            _ => x.column_mut(index - usize::from(index > target)).assign(&values),
        }
    }
    let mut table = Table { name: stem(file), x, y, test_masks: Vec::new(), warnings };
    check_constants(&mut table, &columns, target, file)?;
    Ok(table)
}

/// Refuses columns that hold no numbers, and types of numbers that polars as built here cannot read: it panics on
/// some of them.
fn check_type(kind: &ArrowDataType, column: impl Fn() -> String) -> Result<(), Fault> {
    use ArrowDataType as Type;
    let name = || {
        let full = format!("{kind:?}").to_lowercase();
        full.split('(').next().unwrap_or_default().to_owned()
    };
    match kind {
        Type::Boolean | Type::Int32 | Type::Int64 | Type::UInt32 | Type::UInt64 => Ok(()),
        Type::Float32 | Type::Float64 => Ok(()),
        Type::Int8 | Type::Int16 | Type::Int128 | Type::UInt8 | Type::UInt16 | Type::UInt128 => {
            Err(Fault::NumberType { column: column(), kind: name() })
        }
        Type::Float16 => Err(Fault::NumberType { column: column(), kind: name() }),
        Type::Decimal(..) | Type::Decimal32(..) | Type::Decimal64(..) | Type::Decimal256(..) => {
            Err(Fault::NumberType { column: column(), kind: "decimal".to_owned() })
        }
        Type::Utf8 | Type::LargeUtf8 | Type::Utf8View => {
            Err(Fault::ColumnType { column: column(), kind: "text".to_owned() })
        }
        Type::Dictionary(..) => Err(Fault::ColumnType { column: column(), kind: "category".to_owned() }),
        _ => Err(Fault::ColumnType { column: column(), kind: name() }),
    }
}

/// The values of one column, all finite.
fn numbers(
    column: &Column,
    index: usize,
    columns: &Columns,
    file: &Path,
) -> Result<Array1<f64>, ImportError> {
    let damaged = |error: PolarsError| Place::file(file).fault(Fault::Parquet { reason: error.to_string() });
    let values = column.cast(&DataType::Float64).map_err(damaged)?;
    let values = values.f64().map_err(damaged)?;
    let mut numbers = Vec::with_capacity(values.len());
    for (row, value) in values.iter().enumerate() {
        let at = || Place::cell(file, row as u64 + 1, index);
        let column = || columns.describe(index);
        match value {
            Some(value) if value.abs() <= LARGEST => numbers.push(value),
            Some(value) => {
                let (text, column) = (format!("{value:?}"), column());
                let is_finite = value.is_finite();
                return Err(at().fault(match is_finite {
                    true => Fault::TooLarge { text, column },
                    false => Fault::NotFinite { text, column },
                }));
            }
            None => return Err(at().fault(Fault::EmptyCell { column: column() })),
        }
    }
    Ok(Array1::from(numbers))
}

/// The first integer of a column that is not a number in double precision: its row, and the integer.
fn rounded(column: &Column, values: &Array1<f64>) -> Option<(usize, String)> {
    let integers: Vec<Option<i128>> = match column.dtype() {
        DataType::Int64 => column.i64().ok()?.iter().map(|value| value.map(i128::from)).collect(),
        DataType::UInt64 => column.u64().ok()?.iter().map(|value| value.map(i128::from)).collect(),
        _ => return None,
    };
    let pairs = integers.into_iter().flatten().zip(values).enumerate();
    let mut differing = pairs.filter(|(_, (integer, value))| **value as i128 != *integer);
    differing.next().map(|(row, (integer, _))| (row, integer.to_string()))
}
