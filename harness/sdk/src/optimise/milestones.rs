//! When a learning rate falls, as a parameter of a learner.

use super::MultiStep;
use crate::{ParamValue, Parameter};

/// Shares of a fit's passes after which the learning rate falls: a text of numbers between 0 and 1, with spaces or
/// commas between them. Empty: it stays.
///
/// ```
/// use gpbench_sdk::optimise::Milestones;
///
/// gpbench_sdk::params! {
///     /// Parameters of descent.
///     pub struct DescentParams {
///         /// Shares of the passes after which the learning rate is multiplied by `factor`; empty: never.
///         pub milestones: Milestones = Milestones::from([0.5, 0.7, 0.9]);
///         /// What the learning rate is multiplied by at each milestone.
///         pub factor: f64 = 0.1, in 0.0..=1.0;
///     }
/// }
/// let params = DescentParams::default();
/// let schedule = params.milestones.schedule(params.factor, 300.0);   // falls at 150, 210 and 270 passes
/// ```
#[derive(Debug, Clone, PartialEq, PartialOrd, Default)]
pub struct Milestones(Vec<f64>);

impl<const N: usize> From<[f64; N]> for Milestones {
    fn from(shares: [f64; N]) -> Milestones {
        Milestones(shares.to_vec())
    }
}

impl Milestones {
    /// The schedule of a fit of so many passes.
    pub fn schedule(&self, factor: f64, passes: f64) -> MultiStep {
        MultiStep::new(self.0.iter().map(|share| share * passes).collect(), factor)
    }
}

impl Parameter for Milestones {
    fn value(&self) -> ParamValue {
        let shares: Vec<String> = self.0.iter().map(f64::to_string).collect();
        ParamValue::Text(shares.join(" "))
    }

    fn read(value: &ParamValue) -> Option<Milestones> {
        let ParamValue::Text(text) = value else { return None };
        let shares = text.split([' ', ',']).filter(|share| !share.is_empty());
        let read = |share: &str| share.parse().ok().filter(|&share: &f64| share > 0.0 && share <= 1.0);
        shares.map(read).collect::<Option<_>>().map(Milestones)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_shares_is_read() {
        let read = |text: &str| Milestones::read(&text.into());
        assert_eq!(read("0.5, 0.7 0.9"), Some(Milestones::from([0.5, 0.7, 0.9])));
        assert_eq!(read(""), Some(Milestones::default()));
        for bad in ["150", "0", "-0.5", "half", "0.5; 0.7", "nan"] {
            assert_eq!(read(bad), None, "{bad}");
        }
        let milestones = Milestones::from([0.5, 0.75]);
        assert_eq!(Milestones::read(&milestones.value()), Some(milestones));
    }
}
