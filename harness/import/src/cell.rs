//! A cell of text: the number that it holds, or why it holds none.

use crate::time::Clock;

/// The largest accepted absolute value: the sum of its squares over all rows is finite.
pub(crate) const LARGEST: f64 = 1e150;

/// What the cells of a column hold, as far as they were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Held {
    /// Nothing was read.
    #[default]
    Nothing,
    Numbers,
    Times(Clock),
}

impl Held {
    /// One value, and several, in words.
    pub(crate) fn words(self) -> [&'static str; 2] {
        match self {
            Held::Nothing => ["nothing", "nothing"],
            Held::Numbers => ["a number", "numbers"],
            Held::Times(Clock::Local) => {
                ["a date or a time without an offset", "dates or times without an offset"]
            }
            Held::Times(Clock::Zoned) => ["a time with an offset from UTC", "times with an offset from UTC"],
            Held::Times(Clock::OfDay) => ["a time of day", "times of day"],
        }
    }
}

/// Why a cell is not a usable number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cell {
    Empty,
    /// A mark of a missing value.
    Missing,
    Text,
    /// A number with commas.
    Commas,
    /// A number with points, where commas are decimal.
    Points,
    /// A date or a time of day that cannot be read.
    Date,
    /// The first value, where rows before hold the second.
    Mixed(Held, Held),
    NotFinite,
    TooLarge,
    NotUtf8,
    TooManyCategories,
    /// A category that the training rows do not have.
    UnknownCategory,
}

/// The number in a cell of text; 1 and 0 for true and false.
pub(crate) fn number(cell: &[u8]) -> Result<f64, Cell> {
    let cell = cell.trim_ascii();
    if cell.is_empty() {
        return Err(Cell::Empty);
    }
    let text = std::str::from_utf8(cell).map_err(|_| Cell::NotUtf8)?;
    match text.parse::<f64>() {
        Ok(value) if value.abs() <= LARGEST => Ok(value),
        Ok(value) if value.is_finite() => Err(Cell::TooLarge),
        Ok(_) => Err(Cell::NotFinite),
        Err(_) => truth(text).ok_or_else(|| no_number(text)),
    }
}

/// The number in a cell of text with this decimal mark, a point or a comma.
pub(crate) fn decimal_number(cell: &[u8], decimal: char) -> Result<f64, Cell> {
    if decimal == '.' || !cell.iter().any(|byte| matches!(byte, b'.' | b',')) {
        return number(cell);
    }
    let text = std::str::from_utf8(cell.trim_ascii()).map_err(|_| Cell::NotUtf8)?;
    let is_separated = text.contains('.') || text.matches(',').count() > 1;
    if !is_separated {
        return number(text.replace(',', ".").as_bytes());
    }
    match number(text.replace(['.', ','], "").as_bytes()) {
        Ok(_) => Err(Cell::Points),
        Err(_) => number(cell),
    }
}

/// Whether a cell holds no value: nothing, a mark of a missing value, or no number.
pub(crate) fn is_lacking(cell: &[u8]) -> bool {
    let cell = cell.trim_ascii();
    cell.is_empty()
        || std::str::from_utf8(cell).is_ok_and(|text| is_missing(text) || text.eq_ignore_ascii_case("nan"))
}

/// A truth value as a number, as pandas and databases write it; Parquet has them as a type.
fn truth(text: &str) -> Option<f64> {
    let values = [("true", 1.0), ("false", 0.0)];
    values.into_iter().find(|(word, _)| text.eq_ignore_ascii_case(word)).map(|(_, value)| value)
}

/// What a text is that is no number.
fn no_number(text: &str) -> Cell {
    match text {
        missing if is_missing(missing) => Cell::Missing,
        number if has_commas(number) => Cell::Commas,
        date if is_date(date) => Cell::Date,
        _ => Cell::Text,
    }
}

/// Marks of missing values, as R, pandas, spreadsheets, databases and the UCI repository write them; in small letters.
const MISSING: [&str; 17] = [
    "na", "n/a", "n.a.", "#n/a", "<na>", "null", "(null)", "\\n", "none", "nil", "missing", "?", "-", "--",
    ".", "*", "nat",
];

/// Whether a cell says that its value is missing.
fn is_missing(text: &str) -> bool {
    MISSING.iter().any(|mark| text.eq_ignore_ascii_case(mark))
}

/// Whether a cell is a number but for commas: decimal ones, or separators of thousands.
fn has_commas(text: &str) -> bool {
    text.contains(',') && text.starts_with(|c: char| c.is_ascii_digit() || "+-,".contains(c)) && {
        let digits = text.replacen(',', ".", 1);
        digits.parse::<f64>().is_ok() || text.replace(',', "").parse::<f64>().is_ok()
    }
}

/// Whether a cell looks like a date or a time: groups of digits with two or more `-`, `/`, `.` or `:` between them.
fn is_date(text: &str) -> bool {
    let groups = text.split(['-', '/', ':', '.', 'T', ' ', 'Z', '+']).filter(|group| !group.is_empty());
    let is_of_digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let separators = text.bytes().filter(|byte| b"-/:".contains(byte)).count();
    let begins = text.starts_with(|c: char| c.is_ascii_digit());
    begins
        && (separators > 1 || text.contains(':'))
        && groups.clone().count() > 1
        && groups.clone().all(is_of_digits)
}

/// Integers up to this are numbers in double precision.
const WHOLE: f64 = (1u64 << f64::MANTISSA_DIGITS) as f64;

/// Whether a cell is an integer, and `value` another number.
pub(crate) fn is_rounded(cell: &[u8], value: f64) -> bool {
    let is_integer = || cell.trim_ascii().iter().all(|byte| byte.is_ascii_digit() || b"+-".contains(byte));
    let exact = || std::str::from_utf8(cell.trim_ascii()).ok()?.parse::<i128>().ok();
    value.abs() >= WHOLE && is_integer() && exact().is_none_or(|exact| exact != value as i128)
}

/// Whether a cell is a number other than zero that is so small that it is read as zero.
pub(crate) fn is_underflow(cell: &[u8], value: f64) -> bool {
    let digits = cell.split(|byte| matches!(byte, b'e' | b'E')).next().unwrap_or_default();
    value == 0.0 && digits.iter().any(|byte| matches!(byte, b'1'..=b'9'))
}

/// A warning of a small number that is read as zero.
pub(crate) fn underflow(place: &str, column: &str, text: &str) -> String {
    format!(
        "{place}: {text} in column {column} is read as 0: it is smaller than any number of double precision"
    )
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
