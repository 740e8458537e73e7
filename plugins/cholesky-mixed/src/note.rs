//! State saved for the next outer step: all that is needed to make the factor again with the same bits.

use gpbench_sdk::{Problem, Result};

use crate::factor::{Factor, Hyperparameters};
use crate::ledger::Ledger;

const KEY: &str = "factor";

/// Numbers before the length scales.
const NUMBERS: usize = 6;

/// Description of a factor, and its use so far.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Note {
    pub(crate) of: Hyperparameters,
    pub(crate) shift: f64,
    pub(crate) ledger: Ledger,
}

impl Note {
    /// The note of the last outer step; none in the first.
    pub(crate) fn load(problem: &Problem<'_>) -> Result<Option<Note>> {
        Ok(problem.load_state(KEY)?.and_then(|bytes| Note::read(&bytes)))
    }

    /// Saves the note for the next outer step.
    pub(crate) fn save(&self, problem: &Problem<'_>) -> Result<()> {
        problem.save_state(KEY, &self.bytes())
    }

    fn bytes(&self) -> Vec<u8> {
        let Note { of, shift, ledger: Ledger { solves, spent, last } } = self;
        let numbers = [of.signal_scale, of.noise_scale, *shift, *solves, *spent, *last];
        numbers.iter().chain(&of.length_scale).flat_map(|number| number.to_le_bytes()).collect()
    }

    fn read(bytes: &[u8]) -> Option<Note> {
        let (numbers, []) = bytes.as_chunks() else { return None };
        let numbers: Vec<f64> = numbers.iter().map(|&number| f64::from_le_bytes(number)).collect();
        let (numbers, length_scale) = numbers.split_first_chunk::<NUMBERS>()?;
        let [signal_scale, noise_scale, shift, solves, spent, last] = *numbers;
        let of = Hyperparameters { signal_scale, noise_scale, length_scale: length_scale.to_vec() };
        Some(Note { of, shift, ledger: Ledger { solves, spent, last } })
    }
}

/// Takes the factor that the last outer step of this process has kept.
pub(crate) fn take(problem: &Problem<'_>) -> Result<Option<Factor>> {
    problem.take(KEY)
}

/// Keeps a factor for the next outer step of this process.
pub(crate) fn keep(problem: &Problem<'_>, factor: Factor) -> Result<()> {
    problem.keep(KEY, factor, Factor::bytes(problem.operator().n()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_as_it_was_written() {
        let of = Hyperparameters { signal_scale: 1.5, noise_scale: 0.1, length_scale: vec![0.5, 2.0] };
        let ledger = Ledger { solves: 3.0, spent: 1e12, last: 5e10 };
        let note = Note { of, shift: 1e-7, ledger };
        assert_eq!(Note::read(&note.bytes()), Some(note.clone()));
        assert_eq!(Note::read(&note.bytes()[1..]), None);
        assert_eq!(Note::read(&note.bytes()[..40]), None);
    }
}
