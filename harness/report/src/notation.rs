//! Numbers with errors in parentheses: `0.0830(12)` is 0.0830 ± 0.0012.
//!
//! Cells are written as `MEAN ± ERROR NOTE`. A narrow terminal and a paper have the shorter notation instead, with the error in
//! units of the last digit of the mean.

use crate::comparable_times;
use crate::number::unsigned_zero;
use crate::worst_residual;

/// A cell that begins with a number, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NumberCell<'a> {
    /// The number.
    pub(crate) mean: &'a str,
    /// Its error, where it has one.
    pub(crate) error: Option<&'a str>,
    /// What follows: `(2 of 3)`, marks, or nothing.
    pub(crate) note: &'a str,
}

impl NumberCell<'_> {
    /// The parts of a cell; none where it has anything but a number, an error and a note.
    pub(crate) fn parse(text: &str) -> Option<NumberCell<'_>> {
        let (mean, rest) = number(text)?;
        let (error, rest) = match rest.strip_prefix(" ± ") {
            Some(rest) => number(rest).map(|(error, rest)| (Some(error), rest))?,
            None => (None, rest),
        };
        let note = rest.trim();
        is_note(note).then_some(NumberCell { mean, error, note })
    }
}

/// A number at the beginning of a text, and the rest.
fn number(text: &str) -> Option<(&str, &str)> {
    let digits = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let mut end = usize::from(text.starts_with('-'));
    let whole = digits(&text[end..]);
    end += whole;
    if let Some(rest) = text[end..].strip_prefix('.') {
        end += 1 + digits(rest);
    }
    if let Some(rest) = text[end..].strip_prefix('e') {
        let sign = usize::from(rest.starts_with('-'));
        let power = digits(&rest[sign..]);
        end += if power > 0 { 1 + sign + power } else { 0 };
    }
    (whole > 0).then(|| text.split_at(end))
}

/// Whether a text is the number of seeds in parentheses, marks, or both.
fn is_note(text: &str) -> bool {
    let marks = match text.strip_prefix('(') {
        Some(rest) => {
            let Some((seeds, rest)) = rest.split_once(')') else { return false };
            let is_count = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
            if !seeds.split_once(" of ").is_some_and(|(some, all)| is_count(some) && is_count(all)) {
                return false;
            }
            rest
        }
        None => text,
    };
    let known = [comparable_times::MARK, worst_residual::MARK];
    marks.trim_start().chars().all(|c| known.iter().any(|mark| mark.contains(c)))
}

/// The number of digits after the point.
pub(crate) fn decimals(number: &str) -> usize {
    let mantissa = number.split('e').next().unwrap_or(number);
    mantissa.split_once('.').map_or(0, |(_, digits)| digits.len())
}

/// A mean to the place of the second digit of its error, and these digits in parentheses: `0.0830(12)`. With more than `most`
/// decimals, both end there; none where nothing of the error is left then.
pub(crate) fn parenthesis(mean: f64, error: f64, most: usize) -> Option<String> {
    let is_known = error > 0.0 && error.is_finite() && mean.is_finite();
    if !is_known {
        return None;
    }
    // Rounded first: 0.0996 has the digits of 0.10.
    let rounded = format!("{error:.1e}");
    let power: i32 = rounded.split_once('e')?.1.parse().ok()?;
    let place = power - 1;
    if place > 0 {
        let unit = 10f64.powi(place);
        let round = |value: f64| (value / unit).round() * unit;
        return Some(format!("{:.0}({:.0})", round(mean), round(error)));
    }
    let decimals = (place.unsigned_abs() as usize).min(most);
    let digits = (error * 10f64.powi(decimals as i32)).round();
    (digits > 0.0).then(|| format!("{}({digits:.0})", unsigned_zero(format!("{mean:.decimals$}"))))
}

/// A number with three significant digits, without an exponent; a whole number without decimals.
pub(crate) fn three_digits(value: f64) -> String {
    if value.fract() == 0.0 {
        return unsigned_zero(format!("{value:.0}"));
    }
    let power = value.abs().log10().floor() as i32;
    let decimals = (2 - power).clamp(0, 6) as usize;
    unsigned_zero(format!("{value:.decimals$}"))
}

/// A cell with its error in parentheses, for a narrow terminal; none where it has no error.
pub(crate) fn shortened(text: &str) -> Option<String> {
    let NumberCell { mean, error, note } = NumberCell::parse(text)?;
    let error: f64 = error?.parse().ok()?;
    let (mantissa, power) = mean.split_once('e').map_or((mean, None), |(m, power)| (m, Some(power)));
    let exponent: i32 = power.map_or(Ok(0), str::parse).ok()?;
    let digits = (error * 10f64.powi(decimals(mantissa) as i32 - exponent)).round();
    let power = power.map(|power| format!("e{power}")).unwrap_or_default();
    let blank = if note.starts_with('(') { " " } else { "" };
    Some(format!("{mantissa}({digits:.0}){power}{blank}{note}"))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn means_have_two_digits_of_their_errors() {
        let examples: Vec<Value> = serde_json::from_str(include_str!("../tests/data/latex.json")).unwrap();
        assert_eq!(examples.len(), 5);
        for example in examples {
            let number = |key: &str| example[key].as_f64().unwrap();
            let written = parenthesis(number("mean"), number("error"), 9);
            assert_eq!(written.as_deref(), example["text"].as_str());
        }
    }

    #[test]
    fn errors_larger_than_ten_end_at_their_second_digit() {
        assert_eq!(parenthesis(12345.6, 234.0, 9).unwrap(), "12350(230)");
        assert_eq!(parenthesis(-0.0002, 0.03, 9).unwrap(), "0.000(30)");
        // As many decimals as the numbers were given with.
        assert_eq!(parenthesis(0.174, 0.006, 3).unwrap(), "0.174(6)");
        assert_eq!(parenthesis(0.174, 0.0001, 3), None);
        assert_eq!(parenthesis(0.174, 0.0, 3), None);
        assert_eq!(parenthesis(0.174, f64::NAN, 3), None);
    }

    #[test]
    fn a_number_without_error_has_three_digits() {
        for (value, text) in [
            (0.083012, "0.0830"),
            (-1.02345, "-1.02"),
            (1234.5, "1234"),
            (0.0, "0"),
            (1.0, "1"),
            (-1e-9, "0.000000"),
        ] {
            assert_eq!(three_digits(value), text);
        }
    }

    #[test]
    fn a_cell_is_a_number_an_error_and_a_note() {
        let parse = |text| NumberCell::parse(text).map(|cell| (cell.mean, cell.error, cell.note));
        assert_eq!(parse("0.0830 ± 0.0012"), Some(("0.0830", Some("0.0012"), "")));
        assert_eq!(parse("-9.7e-3 ± 5.1e-5 (2 of 3)†"), Some(("-9.7e-3", Some("5.1e-5"), "(2 of 3)†")));
        assert_eq!(parse("1448‡"), Some(("1448", None, "‡")));
        for text in ["", "-", "3/3", "2.9× [2.7, 3.2]", "2.50 %", "inf", "0.5 (chosen)", "0.5 ± ", "1 (2 of"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_narrow_terminal_has_errors_in_units_of_the_last_digit() {
        for (text, short) in [
            ("0.0918 ± 0.0010", "0.0918(10)"),
            ("9.7e-3 ± 5.1e-5", "9.7(1)e-3"),
            ("9.7e-3 ± 1.2e-2‡", "9.7(120)e-3‡"),
            ("1034 ± 9 (2 of 3)", "1034(9) (2 of 3)"),
            ("1 ± 0", "1(0)"),
        ] {
            assert_eq!(shortened(text).as_deref(), Some(short));
        }
        assert_eq!(shortened("0.0918"), None);
        assert_eq!(shortened("cg ± 1"), None);
    }
}
