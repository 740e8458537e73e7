//! The metadata of a Parquet file: columns that hold the index of a pandas frame, and types as which values are stored.

use polars::prelude::FileMetadata;
use polars_parquet::parquet::metadata::SchemaDescriptor;
use polars_parquet::parquet::schema::types::{
    IntegerType, ParquetType, PrimitiveConvertedType, PrimitiveLogicalType, TimeUnit,
};
use serde::Deserialize;
use serde_json::Value;

use crate::time::Clock;

/// Key of the metadata that pandas writes.
const PANDAS: &str = "pandas";

/// The part of pandas' metadata that names the index.
#[derive(Deserialize)]
struct Pandas {
    #[serde(default)]
    index_columns: Vec<Value>,
}

/// Names of the columns that hold the index of the frame that was written, by the metadata of pandas.
pub(crate) fn indices(metadata: &FileMetadata) -> Vec<String> {
    let written = metadata.key_value_metadata.iter().flatten().find(|entry| entry.key == PANDAS);
    let text = written.and_then(|entry| entry.value.as_deref()).unwrap_or_default();
    let Ok(Pandas { index_columns }) = serde_json::from_str(text) else { return Vec::new() };
    // An index that counts the rows is no column: an object describes it.
    index_columns.iter().filter_map(|name| Some(name.as_str()?.to_owned())).collect()
}

/// Dates or times that are stored as integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoredTime {
    pub(crate) clock: Clock,
    /// Nanoseconds of one.
    pub(crate) unit: i128,
}

/// The columns of a file that hold dates or times as integers, in its order; none for other columns.
pub(crate) fn times(metadata: &FileMetadata) -> Vec<Option<StoredTime>> {
    metadata.schema().fields().iter().map(stored_time).collect()
}

fn stored_time(column: &ParquetType) -> Option<StoredTime> {
    use PrimitiveConvertedType as Converted;
    use PrimitiveLogicalType as Logical;
    let ParquetType::PrimitiveType(column) = column else { return None };
    let of_unit = |unit: &TimeUnit| match unit {
        TimeUnit::Milliseconds => 1_000_000,
        TimeUnit::Microseconds => 1_000,
        TimeUnit::Nanoseconds => 1,
    };
    let zone = |is_adjusted: &bool| if *is_adjusted { Clock::Zoned } else { Clock::Local };
    let day = 86_400_000_000_000;
    let (clock, unit) = match (&column.logical_type, &column.converted_type) {
        (Some(Logical::Date), _) | (None, Some(Converted::Date)) => (Clock::Local, day),
        (Some(Logical::Timestamp { unit, is_adjusted_to_utc }), _) => {
            (zone(is_adjusted_to_utc), of_unit(unit))
        }
        (Some(Logical::Time { unit, .. }), _) => (Clock::OfDay, of_unit(unit)),
        (None, Some(Converted::TimestampMillis)) => (Clock::Zoned, 1_000_000),
        (None, Some(Converted::TimestampMicros)) => (Clock::Zoned, 1_000),
        (None, Some(Converted::TimeMillis)) => (Clock::OfDay, 1_000_000),
        (None, Some(Converted::TimeMicros)) => (Clock::OfDay, 1_000),
        _ => return None,
    };
    Some(StoredTime { clock, unit })
}

/// The metadata of the same file, by which categories are read as their values, integers of 8 and 16 bits as those of 32
/// bits that they are stored as, and dates and times as the integers that they are stored as.
///
/// polars reads these types with features that make it larger; values are stored alike.
pub(crate) fn plain(metadata: &FileMetadata) -> FileMetadata {
    let schema = metadata.schema();
    let fields = schema.fields().iter().map(stored).collect();
    FileMetadata {
        // The types of the frame that was written.
        key_value_metadata: None,
        schema_descr: SchemaDescriptor::new(schema.name().into(), fields),
        ..metadata.clone()
    }
}

/// A column with the type that a short integer, a date or a time is stored as.
fn stored(column: &ParquetType) -> ParquetType {
    use IntegerType as Integer;
    use PrimitiveConvertedType as Converted;
    let is_time = stored_time(column).is_some();
    let mut column = column.clone();
    if let ParquetType::PrimitiveType(column) = &mut column {
        let is_short = |kind: &Integer| {
            matches!(kind, Integer::Int8 | Integer::Int16 | Integer::UInt8 | Integer::UInt16)
        };
        let logical =
            matches!(&column.logical_type, Some(PrimitiveLogicalType::Integer(kind)) if is_short(kind));
        let converted = matches!(
            column.converted_type,
            Some(Converted::Int8 | Converted::Int16 | Converted::Uint8 | Converted::Uint16)
        );
        if logical || converted || is_time {
            (column.logical_type, column.converted_type) = (None, None);
        }
    }
    column
}
