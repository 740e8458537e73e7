//! Ranges of numbers, in the terms of JSON Schema.

use std::fmt;

use serde::Serialize;

/// The numbers that a key takes; all are finite.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Range {
    /// Smallest number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<f64>,
    /// Exclusive lower bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclusive_minimum: Option<f64>,
    /// Largest number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum: Option<f64>,
    /// Exclusive upper bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclusive_maximum: Option<f64>,
    /// Number that divides every number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multiple_of: Option<f64>,
}

/// Largest count: enough for every size, and exact in every type of number.
const LARGEST: f64 = u32::MAX as f64;

const NONE: Range = Range {
    minimum: None,
    exclusive_minimum: None,
    maximum: None,
    exclusive_maximum: None,
    multiple_of: None,
};

/// More than 0.
pub(crate) const POSITIVE: Range = Range { exclusive_minimum: Some(0.0), ..NONE };
/// 0 or more.
pub(crate) const NOT_NEGATIVE: Range = Range { minimum: Some(0.0), ..NONE };
/// Between 0 and 1, neither included.
pub(crate) const FRACTION: Range = Range { exclusive_maximum: Some(1.0), ..POSITIVE };
/// Counts of 0 or more.
pub(crate) const COUNT_OR_ZERO: Range = between(0.0, LARGEST);
/// Counts of 1 or more.
pub(crate) const COUNT: Range = between(1.0, LARGEST);
/// Even counts of 2 or more.
pub(crate) const EVEN_COUNT: Range = Range { multiple_of: Some(2.0), ..between(2.0, LARGEST) };
/// Counts of 2 or more.
pub(crate) const SEVERAL: Range = between(2.0, LARGEST);
/// Every whole number of 64 bits.
pub(crate) const ANY: Range = NONE;

/// From `minimum` to `maximum`, both included.
pub(crate) const fn between(minimum: f64, maximum: f64) -> Range {
    Range { minimum: Some(minimum), maximum: Some(maximum), ..NONE }
}

impl Range {
    /// Whether a number is in the range.
    pub fn contains(&self, number: f64) -> bool {
        number.is_finite()
            && self.minimum.is_none_or(|bound| number >= bound)
            && self.exclusive_minimum.is_none_or(|bound| number > bound)
            && self.maximum.is_none_or(|bound| number <= bound)
            && self.exclusive_maximum.is_none_or(|bound| number < bound)
            && self.multiple_of.is_none_or(|divisor| number % divisor == 0.0)
    }

    /// The requirement in words, as in "`steps` must ...".
    pub(crate) fn demand(&self, is_whole: bool) -> String {
        let bounds = (self.minimum.or(self.exclusive_minimum), self.maximum.or(self.exclusive_maximum));
        match (bounds, is_whole, self.multiple_of) {
            (_, _, Some(_)) => "be a positive even number".to_owned(),
            ((Some(1.0), Some(LARGEST)), ..) => "be a positive whole number".to_owned(),
            ((Some(low), Some(LARGEST)), ..) => format!("be a whole number, {low} or more"),
            ((Some(low), Some(high)), ..) => format!("lie between {low} and {high}"),
            (_, true, _) => "be a whole number".to_owned(),
            ((None, None), ..) => "be finite".to_owned(),
            _ if self.exclusive_minimum.is_some() => "be positive and finite".to_owned(),
            _ => "be finite and not below 0".to_owned(),
        }
    }
}

impl fmt::Display for Range {
    /// As in a table of keys: `> 0, < 1` or `>= 2, even`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = |sign: &str, bound: Option<f64>| bound.map(|bound| format!("{sign} {bound}"));
        let parts = [
            bound(">=", self.minimum),
            bound(">", self.exclusive_minimum),
            bound("<=", self.maximum.filter(|bound| *bound < LARGEST)),
            bound("<", self.exclusive_maximum),
            self.multiple_of.map(|_| "even".to_owned()),
        ];
        f.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_included_or_excluded_as_written() {
        assert!(
            !POSITIVE.contains(0.0) && NOT_NEGATIVE.contains(0.0) && !NOT_NEGATIVE.contains(f64::INFINITY)
        );
        assert!(!FRACTION.contains(1.0) && FRACTION.contains(0.5) && !FRACTION.contains(f64::NAN));
        assert!(EVEN_COUNT.contains(4.0) && !EVEN_COUNT.contains(3.0) && !EVEN_COUNT.contains(0.0));
        assert!(COUNT.contains(LARGEST) && !COUNT.contains(LARGEST + 1.0));
        assert_eq!(FRACTION.to_string(), "> 0, < 1");
        assert_eq!(EVEN_COUNT.to_string(), ">= 2, even");
        assert_eq!(between(2.0, 200.0).demand(true), "lie between 2 and 200");
    }
}
