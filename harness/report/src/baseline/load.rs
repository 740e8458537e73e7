//! Other programs on the machine, beside which times say little.

use gpbench_record::disturbance;

/// Why the load of other programs leaves times undecided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Load {
    /// They used much of the processors.
    Disturbing,
    /// What they used is not known: the run took less than a second, or the system does not tell.
    Unknown,
}

impl Load {
    /// What a fraction of the processors that other programs used means for times; `None` where it is small.
    pub(super) fn of(other_load: Option<f64>) -> Option<Load> {
        match other_load {
            None => Some(Load::Unknown),
            Some(_) => disturbance(other_load).map(|_| Load::Disturbing),
        }
    }

    /// The reason, for a table.
    pub(super) fn words(self) -> &'static str {
        match self {
            Load::Disturbing => "beside other programs",
            Load::Unknown => "unknown load of other programs",
        }
    }

    /// The remark on times of a side where other programs used this fraction of the processors.
    pub(super) fn remark(self, other_load: Option<f64>) -> String {
        match self {
            Load::Disturbing => format!(
                "seconds are undecided: other programs used {:.0} % of the processors in one of the sessions",
                100.0 * other_load.unwrap_or_default()
            ),
            Load::Unknown => {
                "seconds are undecided: what other programs used of the processors is not known of one of \
                              the sessions, as of a run of less than a second"
                    .to_owned()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_not_taken_for_none() {
        assert_eq!(
            [None, Some(0.0), Some(0.3)].map(Load::of),
            [Some(Load::Unknown), None, Some(Load::Disturbing)]
        );
    }
}
