//! Reads Parquet files with polars.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt as _;
use std::panic::catch_unwind;
use std::path::Path;
use std::sync::Arc;

use gpbench_data::{Names, Table};
use gpbench_record::ReadOptions;
use ndarray::{Array1, Array2};
use polars::prelude::{ArrowDataType, Column, DataType, ParquetReader, PolarsError, SerReader};

use crate::bytes::GZIP_MAGIC;
use crate::categories::{self, Input, Levels, expand, width};
use crate::cell::{LARGEST, rounding};
use crate::cell_fault::CellFault;
use crate::columns::Columns;
use crate::doubts;
use crate::error::{ImportError, InputPosition};
use crate::fault::FileFault;
use crate::faults::ColumnFaults;
use crate::format::{FORMAT_BYTES, other_format};
use crate::memory;
use crate::parquet_metadata;
use crate::parts::{Part, Parts};
use crate::text::stem;

const MAGIC: &[u8; 4] = b"PAR1";

/// Whether a file is Parquet, by its first bytes or by its name.
pub(crate) fn is_parquet(file: &Path) -> bool {
    let named = file.extension().is_some_and(|extension| extension == "parquet" || extension == "pq");
    let mut beginning = [0; 4];
    let read = File::open(file).and_then(|mut file| file.read_exact(&mut beginning));
    named || (read.is_ok() && &beginning == MAGIC)
}

/// What a file is that does not begin as Parquet does, whatever its name, where it is known.
fn named_only(file: &File) -> io::Result<Option<FileFault>> {
    let mut head = vec![0; FORMAT_BYTES];
    let length = file.read_at(&mut head, 0)?;
    let head = &head[..length];
    let known = || match head.starts_with(&GZIP_MAGIC) {
        true => Some(FileFault::Parquet { reason: "it is compressed by gzip".to_owned() }),
        false => other_format(head).map(FileFault::Format),
    };
    Ok(if head.starts_with(MAGIC) { None } else { known() })
}

/// Reads a user's Parquet file.
///
/// polars panics on some damaged files; a panic becomes an error here.
pub(crate) fn read(file: &Path, options: &ReadOptions) -> Result<Table, ImportError> {
    catch_unwind(|| read_sound(file, options)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or(panic.downcast_ref::<&str>().copied()).unwrap_or("the reader failed");
        let reason = said.lines().next().unwrap_or_default().chars().take(200).collect();
        Err(InputPosition::file(file).fault(FileFault::Parquet { reason }))
    })
}

fn read_sound(file: &Path, options: &ReadOptions) -> Result<Table, ImportError> {
    let fault = |fault: FileFault| InputPosition::file(file).fault(fault);
    let damaged = |error: PolarsError| fault(FileFault::Parquet { reason: error.to_string() });
    if options.separator.is_some() || options.header.is_some() {
        return Err(fault(FileFault::OptionsOfText));
    }
    let unreadable = |error: io::Error| fault(FileFault::Unreadable { reason: error.to_string() });
    let handle = File::open(file).map_err(unreadable)?;
    if let Some(format) = named_only(&handle).map_err(unreadable)? {
        return Err(fault(format));
    }
    let mut reader = ParquetReader::new(handle.try_clone().map_err(unreadable)?);
    let schema = reader.schema().map_err(damaged)?;
    let names = schema.iter_values().map(|field| field.name.to_string()).collect();
    let metadata = Arc::clone(reader.get_metadata().map_err(damaged)?);
    let indices = parquet_metadata::indices(&metadata);
    let columns = Columns::named(names, |_| InputPosition::file(file))?.with_indices(&indices);
    match columns.count {
        0 => return Err(fault(FileFault::Empty)),
        1 => return Err(fault(FileFault::OneColumn { separator: None })),
        _ => {}
    }
    let parts = Parts::choose(&columns, options, file)?;
    let mut faults = ColumnFaults::default();
    for (index, field) in schema.iter_values().enumerate() {
        let check = |part| check_type(&field.dtype, part, || columns.describe(index));
        if let Err(wrong) = check(parts.of(index)) {
            faults.add(index, || fault(wrong));
        }
    }
    faults.take(file)?;
    let (rows, most) = (reader.num_rows().map_err(damaged)?, memory::numbers());
    if rows.checked_mul(parts.used().count()).is_none_or(|numbers| numbers > most) {
        return Err(fault(FileFault::TooMany { most }));
    }
    let is_used = |(index, _): &(usize, _)| parts.of(*index) != Part::Dropped;
    if schema.iter_values().enumerate().filter(is_used).any(|(_, field)| is_stored_otherwise(&field.dtype)) {
        reader = ParquetReader::new(handle);
        reader.set_metadata(Arc::new(parquet_metadata::plain(&metadata)));
    }
    // Columns that are dropped may be of types that polars cannot read.
    let frame = reader.with_projection(Some(parts.used().collect())).finish().map_err(damaged)?;
    let n = frame.height();
    match n {
        0 => return Err(fault(FileFault::HeaderOnly)),
        1 => return Err(fault(FileFault::OneRow)),
        _ => {}
    }

    let mut x = Array2::zeros((n, parts.inputs().count()));
    let mut y = Array1::zeros(n);
    let mut free = x.columns_mut().into_iter();
    let (mut inputs, mut warnings) = (Vec::new(), Vec::new());
    for (index, column) in parts.used().zip(frame.columns()) {
        let mut levels = (parts.of(index) == Part::Categories).then(Levels::default);
        let read = match &mut levels {
            Some(levels) => codes(column, levels, damaged)?,
            None => numbers(column, damaged)?,
        };
        let values = match read {
            Ok(values) => values,
            Err((row, cell)) => {
                let describe = || columns.describe(index);
                faults.add(index, || {
                    InputPosition::cell(file, row as u64 + 1, index).fault(cell.fault(describe()).into())
                });
                continue;
            }
        };
        if levels.is_none()
            && let Some((row, text)) = rounded(column, &values)
        {
            let place = format!("row {}", row + 1);
            warnings.push(rounding(&place, &columns.describe(index), &text, values[row]));
        }
        if index == parts.target {
            y.assign(&values);
        } else {
            // After a fault, columns may be in the wrong place, and are not used.
            free.next().expect("a column for each input").assign(&values);
            inputs.push(Input { description: columns.describe(index), label: columns.label(index), levels });
        }
    }
    faults.take(file)?;
    if (width(&inputs) + 1).saturating_mul(n) > most {
        return Err(fault(FileFault::TooMany { most }));
    }
    let (x, expanded) = expand(x, &inputs);
    let names = Names { inputs: expanded.labels, target: columns.label(parts.target) };
    let mut table = Table { name: stem(file), x, y, test_masks: Vec::new(), names, warnings };
    let describe = || columns.describe(parts.target);
    doubts::check_columns(&table, describe, &expanded.descriptions, file)?;
    table.warnings.extend(inputs.iter().filter_map(Input::warning));
    table.warnings.extend(doubts::row_labels(&table, &columns, &parts));
    table.warnings.extend(doubts::constant_columns(&table, describe, &expanded.descriptions));
    table.warnings.extend(doubts::of_file(&table, &expanded.descriptions));
    Ok(table)
}

/// Refuses columns that hold no numbers, or no categories, and types that polars as built here cannot read: it panics
/// on some of them.
fn check_type(kind: &ArrowDataType, part: Part, column: impl Fn() -> String) -> Result<(), FileFault> {
    use ArrowDataType as Type;
    let name = || {
        let full = format!("{kind:?}").to_lowercase();
        full.split('(').next().unwrap_or_default().to_owned()
    };
    match kind {
        _ if part == Part::Dropped => Ok(()),
        Type::Utf8 | Type::LargeUtf8 | Type::Utf8View if part == Part::Categories => Ok(()),
        // Its values are text, or it is given as the type of its values.
        Type::Dictionary(..) if part == Part::Categories => Ok(()),
        Type::Boolean | Type::Float32 | Type::Float64 => Ok(()),
        Type::Int8 | Type::Int16 | Type::Int32 | Type::Int64 => Ok(()),
        Type::UInt8 | Type::UInt16 | Type::UInt32 | Type::UInt64 => Ok(()),
        Type::Float16 | Type::Int128 | Type::UInt128 => {
            Err(FileFault::NumberType { column: column(), kind: name() })
        }
        Type::Decimal(..) | Type::Decimal32(..) | Type::Decimal64(..) | Type::Decimal256(..) => {
            Err(FileFault::NumberType { column: column(), kind: "decimal".to_owned() })
        }
        Type::Utf8 | Type::LargeUtf8 | Type::Utf8View => {
            Err(FileFault::ColumnType { column: column(), kind: "text".to_owned() })
        }
        Type::Dictionary(..) => Err(FileFault::ColumnType { column: column(), kind: "category".to_owned() }),
        _ => Err(FileFault::ColumnType { column: column(), kind: name() }),
    }
}

/// Whether values of a type are stored as another one, which polars as built here can read.
fn is_stored_otherwise(kind: &ArrowDataType) -> bool {
    use ArrowDataType as Type;
    matches!(kind, Type::Int8 | Type::Int16 | Type::UInt8 | Type::UInt16 | Type::Dictionary(..))
}

/// Why a value cannot be used.
enum Bad {
    Missing,
    TooLarge(f64),
    NotFinite(f64),
    TooManyCategories,
}

impl Bad {
    fn fault(self, column: String) -> CellFault {
        match self {
            Bad::Missing => CellFault::EmptyCell { column },
            Bad::TooLarge(value) => CellFault::TooLarge { text: format!("{value:?}"), column },
            Bad::NotFinite(value) => CellFault::NotFinite { text: format!("{value:?}"), column },
            Bad::TooManyCategories => CellFault::TooManyCategories { column, most: categories::MOST },
        }
    }
}

/// The values of a column, or its first bad one with its 0-based row.
type Values = Result<Array1<f64>, (usize, Bad)>;

/// The values of one column, all finite.
fn numbers(column: &Column, damaged: impl Fn(PolarsError) -> ImportError) -> Result<Values, ImportError> {
    let values = column.cast(&DataType::Float64).map_err(&damaged)?;
    let checked = |(row, value): (usize, Option<f64>)| match value {
        Some(value) if value.abs() <= LARGEST => Ok(value),
        Some(value) if value.is_finite() => Err((row, Bad::TooLarge(value))),
        Some(value) => Err((row, Bad::NotFinite(value))),
        None => Err((row, Bad::Missing)),
    };
    Ok(values.f64().map_err(damaged)?.iter().enumerate().map(checked).collect())
}

/// The codes of a column of categories.
fn codes(
    column: &Column,
    levels: &mut Levels,
    damaged: impl Fn(PolarsError) -> ImportError,
) -> Result<Values, ImportError> {
    let values = column.cast(&DataType::String).map_err(&damaged)?;
    let code = |(row, value): (usize, Option<&str>)| match value {
        Some(value) if !value.is_empty() => levels.code(value).ok_or((row, Bad::TooManyCategories)),
        _ => Err((row, Bad::Missing)),
    };
    Ok(values.str().map_err(damaged)?.iter().enumerate().map(code).collect())
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
