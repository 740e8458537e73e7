//! A cell of text: the number that it holds, or why it holds none.

/// The largest accepted absolute value: the sum of its squares over all rows is finite.
pub(crate) const LARGEST: f64 = 1e150;

/// Why a cell is not a usable number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cell {
    Empty,
    Text,
    NotFinite,
    TooLarge,
    NotUtf8,
    TooManyCategories,
}

/// The number in a cell of text; 1 and 0 for true and false.
pub(crate) fn number(cell: &[u8]) -> Result<f64, Cell> {
    let cell = cell.trim_ascii();
    if cell.is_empty() {
        return Err(Cell::Empty);
    }
    let text = std::str::from_utf8(cell).map_err(|_| Cell::NotUtf8)?;
    // Missing values, as R, pandas and databases write them.
    if ["na", "n/a", "null", "none"].iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return Err(Cell::NotFinite);
    }
    // Truth values, as pandas and databases write them; Parquet has them as a type.
    for (word, value) in [("true", 1.0), ("false", 0.0)] {
        if text.eq_ignore_ascii_case(word) {
            return Ok(value);
        }
    }
    match text.parse::<f64>() {
        Ok(value) if value.abs() <= LARGEST => Ok(value),
        Ok(value) if value.is_finite() => Err(Cell::TooLarge),
        Ok(_) => Err(Cell::NotFinite),
        Err(_) => Err(Cell::Text),
    }
}

/// Integers up to this are numbers in double precision.
const WHOLE: f64 = (1u64 << f64::MANTISSA_DIGITS) as f64;

/// Whether a cell is an integer, and `value` another number.
pub(crate) fn is_rounded(cell: &[u8], value: f64) -> bool {
    let is_integer = || cell.trim_ascii().iter().all(|byte| byte.is_ascii_digit() || b"+-".contains(byte));
    let exact = || std::str::from_utf8(cell.trim_ascii()).ok()?.parse::<i128>().ok();
    value.abs() >= WHOLE && is_integer() && exact().is_none_or(|exact| exact != value as i128)
}

/// A warning of an integer that was rounded.
pub(crate) fn rounding(place: &str, column: &str, text: &str, value: f64) -> String {
    format!("{place}: {text} in column {column} is rounded to {value}: numbers have 53 binary digits")
}

/// A cell for an error message, at most 40 characters.
pub(crate) fn shown(cell: &[u8]) -> String {
    let text = String::from_utf8_lossy(cell.trim_ascii()).into_owned();
    if text.chars().count() <= 40 { text } else { text.chars().take(39).chain(['…']).collect() }
}
