//! The numbers that support a claim: a range of them, or how two sides compare by the tolerance of their metric.

use std::fmt;

use gpbench_record::metric::{Direction, Metric, Tolerance};

use super::list::Compute;

/// What a number must keep to support a claim, as the list writes it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Condition {
    /// It is in a range.
    Range(Rule),
    /// It compares with equality so.
    Compared(Comparison),
}

/// How the first side compares with the second. They are equal up to the metric's tolerance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    More,
    Less,
    NotMore,
    NotLess,
}

/// The number of two equal sides, and how far from it they count as equal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Equality {
    /// 0 for a difference, 1 for a ratio.
    pub(super) at: f64,
    /// The metric's tolerance, in the units of the number.
    pub(super) tolerance: f64,
}

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

impl Equality {
    /// That of two sides, by the tolerance of their metric at the second side's mean. `None` where no value of the metric is
    /// better than another, and where neither a difference nor a ratio is computed.
    pub(super) fn new(compute: Compute, metric: &Metric, reference: f64) -> Option<Equality> {
        let Tolerance { absolute, relative } = metric.tolerance;
        // Metrics that are compared as ratios have no absolute tolerance, as `gpbench list metrics` shows.
        let absolute = if metric.is_compared_as_log() { 0.0 } else { absolute };
        let tolerance = absolute.max(relative * reference.abs());
        match compute {
            _ if metric.direction == Direction::Neither => None,
            Compute::Difference => Some(Equality { at: 0.0, tolerance }),
            Compute::Ratio => Some(Equality { at: 1.0, tolerance: tolerance / reference.abs() }),
            Compute::Value | Compute::StandardErrors => None,
        }
    }
}

impl Condition {
    /// `None` where the text is no condition.
    pub(super) fn parse(text: &str) -> Option<Condition> {
        let words = text.trim();
        let compared = Comparison::ALL.into_iter().find(|comparison| comparison.as_str() == words);
        compared.map(Condition::Compared).or_else(|| Rule::parse(text).map(Condition::Range))
    }

    /// The range that a number must be in; `None` where the condition needs a tolerance and there is none.
    pub(super) fn range(self, equality: Option<Equality>) -> Option<Rule> {
        match self {
            Condition::Range(rule) => Some(rule),
            Condition::Compared(comparison) => equality.map(|equality| comparison.range(equality)),
        }
    }
}

impl Comparison {
    const ALL: [Comparison; 5] =
        [Comparison::Equal, Comparison::More, Comparison::Less, Comparison::NotMore, Comparison::NotLess];

    /// As in the file.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Comparison::Equal => "equal",
            Comparison::More => "more",
            Comparison::Less => "less",
            Comparison::NotMore => "not more",
            Comparison::NotLess => "not less",
        }
    }

    fn range(self, Equality { at, tolerance }: Equality) -> Rule {
        match self {
            Comparison::Equal => Rule::Within(at - tolerance, at + tolerance),
            Comparison::More => Rule::Above(at + tolerance),
            Comparison::Less => Rule::Below(at - tolerance),
            Comparison::NotMore => Rule::Below(at + tolerance),
            Comparison::NotLess => Rule::Above(at - tolerance),
        }
    }
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

    /// Whether a number is in the range.
    pub(super) fn contains(self, value: f64) -> bool {
        match self {
            Rule::Above(low) => value > low,
            Rule::Below(high) => value < high,
            Rule::Within(low, high) => (low..=high).contains(&value),
        }
    }

    /// Whether a number supports the claim; `None` where a bound does not tell.
    pub(super) fn judge(self, value: f64, bound: Bound) -> Option<bool> {
        let is_kept = self.contains(value);
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
    use gpbench_record::{metric, names};

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
    fn a_comparison_is_a_range_around_equality() {
        let ratio = Some(Equality { at: 1.0, tolerance: 0.25 });
        let range = |text: &str| Condition::parse(text).unwrap().range(ratio).unwrap();
        assert_eq!(range("equal"), Rule::Within(0.75, 1.25));
        assert_eq!((range("more"), range("not more")), (Rule::Above(1.25), Rule::Below(1.25)));
        assert_eq!((range("less"), range(" not less ")), (Rule::Below(0.75), Rule::Above(0.75)));
        assert_eq!(range("> 2"), Rule::Above(2.0));
        assert_eq!(Condition::parse("equal").unwrap().range(None), None);
        assert_eq!(Condition::parse("similar"), None);
    }

    #[test]
    fn equality_has_the_tolerance_of_the_metric() {
        let of = |compute: Compute, name: &str, reference: f64| {
            Equality::new(compute, metric::find(name).unwrap(), reference)
        };
        let nlml = of(Compute::Difference, names::NLML, -3.0).unwrap();
        assert_eq!((nlml.at, nlml.tolerance), (0.0, 0.03));
        assert_eq!(of(Compute::Difference, names::NLML, 0.5).unwrap().tolerance, 0.01);
        assert_eq!(of(Compute::Ratio, names::EPOCHS, 2.0), Some(Equality { at: 1.0, tolerance: 0.1 }));
        assert_eq!(of(Compute::Difference, names::LOG_MARGINAL_LIKELIHOOD, 1.0), None);
        assert_eq!(of(Compute::Value, names::NLML, 1.0), None);
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
