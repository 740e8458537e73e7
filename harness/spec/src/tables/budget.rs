//! `[budget]`, and `budget` of a solver: when a solver has to stop.

use gpbench_record::Budget;

use crate::keys::{FRACTION, Keys, POSITIVE, memory, number, time};

pub(crate) fn read(keys: &mut Keys<'_>) -> Budget {
    let tolerance = number(FRACTION).hint("it is a relative residual norm, and the zero vector reaches 1");
    let tolerance = keys.optional("tolerance", tolerance, "Relative residual norm to reach.");
    let max_epochs = keys.optional(
        "max_epochs",
        number(POSITIVE),
        "Largest number of epochs: multiples of n^2 kernel entries.",
    );
    let time = keys.optional(
        "time",
        time(),
        "Largest time of prepare and solve together; of all steps, in training.",
    );
    let memory = keys.optional("memory", memory(), "Largest memory of the process that solves.");
    Budget {
        tolerance: tolerance.map(|given| given.value),
        max_epochs: max_epochs.map(|given| given.value),
        seconds: time.map(|given| given.value),
        memory_bytes: memory.map(|given| given.value),
    }
}
