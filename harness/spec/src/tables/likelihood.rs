//! `[likelihood]`: how often the likelihood is estimated.

use crate::keys::{Keys, Setting, count};

#[derive(Debug, Clone)]
pub(crate) struct Likelihood {
    pub(crate) repetitions: Setting<u64>,
}

pub(crate) fn read(keys: &mut Keys<'_>) -> Likelihood {
    Likelihood {
        repetitions: keys.or(
            "repetitions",
            count(),
            100,
            "Independent estimates, whose mean and spread are compared with the exact terms.",
        ),
    }
}
