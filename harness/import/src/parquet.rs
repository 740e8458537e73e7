//! Reads Parquet files with polars.

mod frame;

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt as _;
use std::panic::catch_unwind;
use std::path::Path;
use std::sync::Arc;

use gpbench_data::{Names, Table};
use gpbench_record::{Missing, ReadOptions};
use ndarray::Array1;
use polars::prelude::{ArrowDataType, Column, DataType, ParquetReader, PolarsError, SerReader};

use self::frame::{ReadColumns, with_dropped, without_lacking};
use crate::bytes::GZIP_MAGIC;
use crate::categories::{self, Input, Levels, expand, width};
use crate::cell::{Held, LARGEST, rounding, shown};
use crate::cell_fault::CellFault;
use crate::columns::Columns;
use crate::doubts;
use crate::error::{ImportError, InputPosition};
use crate::fault::FileFault;
use crate::faults::ColumnFaults;
use crate::format::{FORMAT_BYTES, other_format};
use crate::lacking::Lacking;
use crate::memory;
use crate::parquet_metadata::{self, StoredTime};
use crate::parts::Part;
use crate::pattern::{Pattern, ReadFile};
use crate::reading;
use crate::text::stem;
use crate::time::{Moment, TimeScale};

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

/// Reads a user's Parquet file, or one whose columns are those of another file.
///
/// polars panics on some damaged files; a panic becomes an error here.
pub(crate) fn read(
    file: &Path,
    options: &ReadOptions,
    like: Option<&Pattern<'_>>,
) -> Result<ReadFile, ImportError> {
    catch_unwind(|| read_sound(file, options, like)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or(panic.downcast_ref::<&str>().copied()).unwrap_or("the reader failed");
        let reason = said.lines().next().unwrap_or_default().chars().take(200).collect();
        Err(InputPosition::file(file).fault(FileFault::Parquet { reason }))
    })
}

fn read_sound(
    file: &Path,
    options: &ReadOptions,
    like: Option<&Pattern<'_>>,
) -> Result<ReadFile, ImportError> {
    let fault = |fault: FileFault| InputPosition::file(file).fault(fault);
    let damaged = |error: PolarsError| fault(FileFault::Parquet { reason: error.to_string() });
    let of_text = [options.separator, options.decimal, options.comment];
    if of_text.iter().any(Option::is_some) || options.header.is_some() {
        return Err(fault(FileFault::OptionsOfText));
    }
    let scale = TimeScale::new(options).map_err(fault)?;
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
    let mut parts = Pattern::choose(like, &columns, options, file)?;
    let times = parquet_metadata::times(&metadata);
    let mut faults = ColumnFaults::default();
    for (index, field) in schema.iter_values().enumerate() {
        let is_dictionary = matches!(field.dtype, ArrowDataType::Dictionary(..));
        if is_dictionary && parts.of(index) == Part::Input && like.is_none() {
            parts.make_categories(index);
        }
        let is_time = times.get(index).is_some_and(Option::is_some);
        let check = |part| check_type(&field.dtype, part, is_time, || columns.describe(index));
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
    let mut used = schema.iter_values().enumerate().filter(is_used);
    if used.any(|(index, field)| {
        is_stored_otherwise(&field.dtype) || times.get(index).is_some_and(Option::is_some)
    }) {
        reader = ParquetReader::new(handle);
        reader.set_metadata(Arc::new(parquet_metadata::plain(&metadata)));
    }
    // Columns that are dropped may be of types that polars cannot read.
    let frame = reader.with_projection(Some(parts.used().collect())).finish().map_err(damaged)?;
    let (frame, kept, lacking) = match options.missing {
        Missing::Refuse => (frame, None, Lacking::default()),
        Missing::Drop => {
            let (frame, kept, lacking) = without_lacking(frame, &parts).map_err(damaged)?;
            (frame, Some(kept), lacking)
        }
    };
    let n = frame.height();
    match n {
        0 => {
            let none = if like.is_some() { FileFault::NoTestRows } else { FileFault::HeaderOnly };
            return Err(fault(lacking.fault(&columns).unwrap_or(none)));
        }
        1 if like.is_none() => return Err(fault(FileFault::OneRow)),
        _ => {}
    }

    let mut read = ReadColumns::new(n, &parts);
    for (index, column) in parts.used().zip(frame.columns()) {
        let part = parts.of(index);
        let mut levels = match part {
            Part::Categories => Some(Pattern::levels(like, &parts, index)),
            Part::Group => Some(Levels::of_groups()),
            _ => None,
        };
        if part == Part::Id {
            match identifiers(column, damaged)? {
                Ok(ids) => read.ids = ids,
                Err((row, cell)) => {
                    let row = kept.as_ref().map_or(row, |kept| kept[row]) as u64 + 1;
                    let describe = columns.describe(index);
                    faults.add(index, || {
                        InputPosition::cell(file, row, index).fault(cell.fault(describe).into())
                    });
                }
            }
            let (label, nothing) = (columns.label(index), std::iter::empty());
            let reading = reading::column(label, part, false, None, Held::Nothing, nothing, &scale);
            read.columns.push((index, reading));
            continue;
        }
        let time = times.get(index).copied().flatten();
        let values = match (&mut levels, time) {
            (Some(levels), _) => codes(column, levels, damaged)?,
            (None, Some(time)) => moments(column, time, &scale, damaged)?,
            (None, None) => numbers(column, damaged)?,
        };
        let values = match values {
            Ok(values) => values,
            Err((row, cell)) => {
                let row = kept.as_ref().map_or(row, |kept| kept[row]);
                let describe = || columns.describe(index);
                faults.add(index, || {
                    InputPosition::cell(file, row as u64 + 1, index).fault(cell.fault(describe()).into())
                });
                continue;
            }
        };
        if levels.is_none()
            && time.is_none()
            && let Some((row, text)) = rounded(column, &values)
        {
            let place = format!("row {}", kept.as_ref().map_or(row, |kept| kept[row]) + 1);
            read.warnings.push(rounding(&place, &columns.describe(index), &text, values[row]));
        }
        let held = time.map_or(Held::Numbers, |time| Held::Times(time.clock));
        let is_key = parts.keys().iter().any(|key| key.index == index);
        let values_of = values.iter().copied();
        let reading =
            reading::column(columns.label(index), part, is_key, levels.as_ref(), held, values_of, &scale);
        read.columns.push((index, reading));
        read.take(index, &parts, &columns, values, levels);
    }
    faults.take(file)?;
    let ReadColumns { x, y, keys, groups, ids, inputs, mut warnings, columns: readings } = read;
    warnings.extend(lacking.warning(&columns));
    if (width(&inputs) + 1).saturating_mul(n) > most {
        return Err(fault(FileFault::TooMany { most }));
    }
    let (x, inputs) = parts.in_order(x, inputs);
    let (x, expanded) = expand(x, &inputs);
    let names = Names { inputs: expanded.labels, target: columns.label(parts.target) };
    let mut table = Table { name: stem(file), x, y, keys, names, warnings, ..Table::default() };
    let readings = with_dropped(readings, &columns, &scale);
    table.reading = reading::of_file(&table, readings, (groups, ids), &lacking);
    if let Some(pattern) = like {
        table.warnings.extend(pattern.warning(&columns));
        return Ok(ReadFile::new(table, &columns, &parts, inputs));
    }
    let describe = || columns.describe(parts.target);
    doubts::check_columns(&table, describe, &expanded.descriptions, file)?;
    table.warnings.extend(inputs.iter().flat_map(Input::warnings));
    table.warnings.extend(doubts::row_labels(&table, &columns, &parts));
    table.warnings.extend(doubts::constant_columns(&table, describe, &expanded.descriptions));
    table.warnings.extend(doubts::of_file(&table, describe, &expanded.descriptions));
    Ok(ReadFile::new(table, &columns, &parts, inputs))
}

/// Refuses columns that hold no numbers, or no categories, and types that polars as built here cannot read: it panics
/// on some of them.
fn check_type(
    kind: &ArrowDataType,
    part: Part,
    is_time: bool,
    column: impl Fn() -> String,
) -> Result<(), FileFault> {
    use ArrowDataType as Type;
    let name = || {
        let full = format!("{kind:?}").to_lowercase();
        full.split('(').next().unwrap_or_default().to_owned()
    };
    let is_text = |part| matches!(part, Part::Categories | Part::Group | Part::Id);
    match kind {
        _ if part == Part::Dropped => Ok(()),
        _ if is_time && part != Part::Categories => Ok(()),
        Type::Utf8 | Type::LargeUtf8 | Type::Utf8View if is_text(part) => Ok(()),
        // Its values are text, or it is given as the type of its values.
        Type::Dictionary(..) if is_text(part) => Ok(()),
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
    UnknownCategory(String),
}

impl Bad {
    fn fault(self, column: String) -> CellFault {
        match self {
            Bad::Missing => CellFault::EmptyCell { column },
            Bad::TooLarge(value) => CellFault::TooLarge { text: format!("{value:?}"), column },
            Bad::NotFinite(value) => CellFault::NotFinite { text: format!("{value:?}"), column },
            Bad::TooManyCategories => CellFault::TooManyCategories { column, most: categories::MOST },
            Bad::UnknownCategory(value) => {
                CellFault::UnknownCategory { text: shown(value.as_bytes()), column }
            }
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

/// The numbers of a column of dates or times, which are stored as integers.
fn moments(
    column: &Column,
    StoredTime { clock, unit }: StoredTime,
    scale: &TimeScale,
    damaged: impl Fn(PolarsError) -> ImportError,
) -> Result<Values, ImportError> {
    let values = column.cast(&DataType::Int64).map_err(&damaged)?;
    let number = |(row, value): (usize, Option<i64>)| match value {
        Some(value) => Ok(scale.number(Moment { nanoseconds: i128::from(value) * unit, clock })),
        None => Err((row, Bad::Missing)),
    };
    Ok(values.i64().map_err(damaged)?.iter().enumerate().map(number).collect())
}

/// The texts of a column of ids.
fn identifiers(
    column: &Column,
    damaged: impl Fn(PolarsError) -> ImportError,
) -> Result<Result<Vec<String>, (usize, Bad)>, ImportError> {
    let values = column.cast(&DataType::String).map_err(&damaged)?;
    let text = |(row, value): (usize, Option<&str>)| match value {
        Some(value) if !value.is_empty() => Ok(value.to_owned()),
        _ => Err((row, Bad::Missing)),
    };
    Ok(values.str().map_err(damaged)?.iter().enumerate().map(text).collect())
}

/// The codes of a column of categories or of groups.
fn codes(
    column: &Column,
    levels: &mut Levels,
    damaged: impl Fn(PolarsError) -> ImportError,
) -> Result<Values, ImportError> {
    let values = column.cast(&DataType::String).map_err(&damaged)?;
    let code = |(row, value): (usize, Option<&str>)| match value {
        Some(value) if !value.is_empty() => match levels.code(value) {
            Some(code) => Ok(code),
            None if levels.is_closed() => Err((row, Bad::UnknownCategory(value.to_owned()))),
            None => Err((row, Bad::TooManyCategories)),
        },
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
