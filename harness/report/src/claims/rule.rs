//! The range of numbers that support a claim.

use std::fmt;

/// A range: `> 1`, `< 0.5`, or `0.9 to 1.1`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Rule {
    Above(f64),
    Below(f64),
    Within(f64, f64),
}

/// What a computed number says of the true one. A solve that ends at the limit of its budget costs less than one to the tolerance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    Exact,
    AtLeast,
    AtMost,
    /// Both sides ended at their limits.
    Open,
}

impl Rule {
    /// `None` where the text is no rule.
    pub(super) fn parse(text: &str) -> Option<Rule> {
        let number = |text: &str| text.trim().parse().ok().filter(|number: &f64| number.is_finite());
        let text = text.trim();
        if let Some(rest) = text.strip_prefix('>') {
            return number(rest).map(Rule::Above);
        }
        if let Some(rest) = text.strip_prefix('<') {
            return number(rest).map(Rule::Below);
        }
        let (low, high) = text.split_once(" to ")?;
        let (low, high) = (number(low)?, number(high)?);
        (low < high).then_some(Rule::Within(low, high))
    }

    /// Whether a number supports the claim; `None` where a bound does not tell.
    pub(super) fn judge(self, value: f64, bound: Bound) -> Option<bool> {
        let is_kept = match self {
            Rule::Above(low) => value > low,
            Rule::Below(high) => value < high,
            Rule::Within(low, high) => (low..=high).contains(&value),
        };
        let is_known = match bound {
            Bound::Exact => true,
            Bound::Open => false,
            // The true number is larger: only what is above the range already stays where it is.
            Bound::AtLeast => match self {
                Rule::Above(low) => value > low,
                Rule::Below(high) | Rule::Within(_, high) => value > high,
            },
            Bound::AtMost => match self {
                Rule::Below(high) => value < high,
                Rule::Above(low) | Rule::Within(low, _) => value < low,
            },
        };
        is_known.then_some(is_kept)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Above(low) => write!(f, "above {low}"),
            Rule::Below(high) => write!(f, "below {high}"),
            Rule::Within(low, high) => write!(f, "{low} to {high}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_a_bound_or_a_range() {
        for (text, rule) in [
            ("> 1", Some(Rule::Above(1.0))),
            (" <-0.5 ", Some(Rule::Below(-0.5))),
            ("0.9 to 1.1", Some(Rule::Within(0.9, 1.1))),
            ("1.1 to 0.9", None),
            (">= 1", None),
            ("ratio > 1", None),
            ("> NaN", None),
            ("", None),
        ] {
            assert_eq!(Rule::parse(text), rule, "{text}");
        }
        assert_eq!(Rule::Within(-2.5, 2.5).to_string(), "-2.5 to 2.5");
        assert_eq!(Rule::Above(1.0).to_string(), "above 1");
    }

    #[test]
    fn a_bound_is_judged_only_where_it_decides() {
        let judged = |rule: Rule, value: f64| {
            [Bound::Exact, Bound::AtLeast, Bound::AtMost, Bound::Open].map(|bound| rule.judge(value, bound))
        };
        assert_eq!(judged(Rule::Above(5.0), 8.0), [Some(true), Some(true), None, None]);
        assert_eq!(judged(Rule::Above(5.0), 3.0), [Some(false), None, Some(false), None]);
        assert_eq!(judged(Rule::Below(5.0), 8.0), [Some(false), Some(false), None, None]);
        assert_eq!(judged(Rule::Below(5.0), 3.0), [Some(true), None, Some(true), None]);
        assert_eq!(judged(Rule::Within(2.0, 5.0), 8.0), [Some(false), Some(false), None, None]);
        assert_eq!(judged(Rule::Within(2.0, 5.0), 3.0), [Some(true), None, None, None]);
    }
}
