//! `optimum` of [train] and of [learn]: whether learned hyperparameters are compared with the best ones that are
//! known.

use crate::keys::{Keys, Setting, count, truth};

/// Most training rows of a case that is compared with the optimum, where the spec does not state them.
const ROWS: usize = 3000;

/// Most training rows of a case that is compared with the optimum of the likelihood; 0 where none is.
pub(crate) fn read(keys: &mut Keys<'_>) -> Setting<usize> {
    let switch = truth().map(|on| if on.value { ROWS } else { 0 });
    keys.or(
        "optimum",
        switch.or(count(), "true, false, or a number of rows"),
        false,
        "Whether learned hyperparameters are compared with those of the greatest exact likelihood that a search from \
         several starts finds, once and before the cases run: true for at most 3000 training rows, or most rows.",
    )
}
