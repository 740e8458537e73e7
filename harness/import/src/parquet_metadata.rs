//! The metadata of a Parquet file: columns that hold the index of a pandas frame, and types as which values are stored.

use polars::prelude::FileMetadata;
use polars_parquet::parquet::metadata::SchemaDescriptor;
use polars_parquet::parquet::schema::types::{
    IntegerType, ParquetType, PrimitiveConvertedType, PrimitiveLogicalType,
};
use serde::Deserialize;
use serde_json::Value;

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

/// The metadata of the same file, by which categories are read as their values, and integers of 8 and 16 bits as those of 32
/// bits that they are stored as.
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

/// A column with the type that a short integer is stored as.
fn stored(column: &ParquetType) -> ParquetType {
    use IntegerType as Integer;
    use PrimitiveConvertedType as Converted;
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
        if logical || converted {
            (column.logical_type, column.converted_type) = (None, None);
        }
    }
    column
}
