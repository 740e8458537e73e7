//! The file from which a training case continues after a crash: everything that the next outer step
//! depends on, and the steps so far.
//!
//! Numbers are stored bit by bit, so that a case that was interrupted ends as one that was not. The file
//! is a [`binary`] one: four sizes (bytes of the text, rows, columns, solutions), the [`State`] as JSON with its
//! numbers as the integers of their bits (JSON has no infinite ones), up to two solutions, and what
//! the solver has saved, one after the other.

use std::collections::BTreeMap;
use std::path::Path;

use gpbench_files::Durability;
use gpbench_gp::train::{Adam, Parameters};
use gpbench_record::{Clock, Entries, Metrics, Step, StopReason, names};
use ndarray::{Array2, ShapeBuilder};
use serde::{Deserialize, Serialize};

use crate::binary::{self, FileError};
use crate::cost::SolveCost;
use crate::plugin::SolverState;

use super::state::State;

const MAGIC: &[u8; 8] = b"GPBTRAI5";
const SIZES: usize = 4;

/// A state without its solutions and what the solver has saved, as in the file.
#[derive(Serialize, Deserialize)]
struct Text {
    unconstrained: Vec<u64>,
    mean: Option<u64>,
    first_moment: Vec<u64>,
    second_moment: Vec<u64>,
    steps: Vec<StepText>,
    /// Keys of what the solver has saved, and numbers of bytes.
    #[serde(rename = "kept")]
    solver: Vec<(String, usize)>,
    /// Seconds of prepare, of solve, and of what else a step takes.
    clocks: [u64; 5],
    /// Kernel entries.
    sums: [u64; 5],
    unconverged_fits: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct StepText {
    hyperparameters: BTreeMap<String, u64>,
    reason: StopReason,
    metrics: BTreeMap<String, u64>,
}

/// Writes a state.
pub(super) fn write(path: &Path, state: &State) -> Result<(), FileError> {
    let text = serde_json::to_vec(&Text::of(state)).expect("plain data with text keys always serialises");
    let (rows, columns) = state.solution.as_ref().map_or((0, 0), |solution| solution.dim());
    let solutions = || state.solution.iter().chain(&state.before);
    let count = solutions().count();
    binary::replace(path, Durability::Whole, MAGIC, |out| {
        for size in [text.len(), rows, columns, count] {
            out.write_all(&(size as u64).to_le_bytes())?;
        }
        out.write_all(&text)?;
        for value in solutions().flat_map(|solution| solution.t()) {
            out.write_all(&value.to_le_bytes())?;
        }
        state.solver.values().try_for_each(|saved| out.write_all(saved))
    })
}

/// Reads a state; `None` where there is no file yet.
///
/// # Errors
/// If the file cannot be read, is damaged, or is one of another version.
pub(super) fn read(path: &Path) -> Result<Option<State>, FileError> {
    let parsed = |content: &[u8]| parse(content).map_err(|what| FileError::mismatch(path, what));
    // What a solver saves may have any length.
    match binary::read(path, MAGIC, usize::MAX, parsed) {
        Err(FileError::Missing { .. }) => Ok(None),
        read => read.map(Some),
    }
}

/// A state from the content of its file, or what is wrong with it.
fn parse(content: &[u8]) -> Result<State, String> {
    let (sizes, rest) = content.split_at_checked(8 * SIZES).ok_or("it ends in its header")?;
    let sizes: Vec<usize> = words(sizes).map(|word| word as usize).collect();
    let &[length, rows, columns, count] = sizes.as_slice() else {
        unreachable!("split off as {SIZES} words")
    };
    let (text, rest) = rest.split_at_checked(length).ok_or("it ends in its text")?;
    let text: Text = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let expected = [columns, count, 8].into_iter().try_fold(rows, usize::checked_mul).filter(|_| count <= 2);
    let parts = expected.and_then(|expected| rest.split_at_checked(expected));
    let (numbers, mut rest) = parts.ok_or("it does not hold the solutions that its sizes say")?;
    let mut solver = SolverState::new();
    for (key, length) in &text.solver {
        let parts = rest.split_at_checked(*length);
        let (bytes, after) = parts.ok_or("it does not hold what the solver has saved")?;
        solver.insert(key.clone(), bytes.to_vec());
        rest = after;
    }
    if !rest.is_empty() {
        return Err("it continues after its end".into());
    }
    let solution = |bytes: &[u8]| {
        let numbers = words(bytes).map(f64::from_bits).collect();
        Array2::from_shape_vec((rows, columns).f(), numbers).expect("as many as the sizes say")
    };
    let mut solutions = numbers.chunks_exact((8 * rows * columns).max(1)).map(solution);
    let (last, before) = (solutions.next(), solutions.next());
    Ok(State { solver, ..text.state(last, before) })
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("a chunk of eight bytes")))
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

fn numbers(bits: &[u64]) -> Vec<f64> {
    bits.iter().copied().map(f64::from_bits).collect()
}

impl Text {
    fn of(state: &State) -> Text {
        let State { parameters, mean, adam, steps, cost, outer, solver, unconverged_fits, .. } = state;
        let SolveCost { prepare, solve, entries, .. } = cost;
        let Entries { used, evaluated, found, setup, self_reported } = *entries;
        let clocks = [prepare.wall, prepare.cpu, solve.wall, solve.cpu, *outer];
        let sums = [used, evaluated, found, setup, self_reported];
        Text {
            unconstrained: bits(&parameters.unconstrained),
            mean: mean.map(f64::to_bits),
            first_moment: bits(&adam.first_moment),
            second_moment: bits(&adam.second_moment),
            steps: steps.iter().map(StepText::of).collect(),
            solver: solver.iter().map(|(key, bytes)| (key.clone(), bytes.len())).collect(),
            clocks: clocks.map(f64::to_bits),
            sums: sums.map(f64::to_bits),
            unconverged_fits: *unconverged_fits,
        }
    }

    fn state(self, solution: Option<Array2<f64>>, before: Option<Array2<f64>>) -> State {
        let [prepare_wall, prepare_cpu, solve_wall, solve_cpu, outer] = self.clocks.map(f64::from_bits);
        let [used, evaluated, found, setup, self_reported] = self.sums.map(f64::from_bits);
        let (count, steps) = (self.steps.len() as u64, (0..).zip(self.steps));
        let steps: Vec<Step> = steps.map(|(step, text)| text.step(step)).collect();
        let iterations = steps.iter().filter_map(|step| step.metrics.get(names::ITERATIONS));
        State {
            parameters: Parameters { unconstrained: numbers(&self.unconstrained) },
            mean: self.mean.map(f64::from_bits),
            adam: Adam {
                first_moment: numbers(&self.first_moment),
                second_moment: numbers(&self.second_moment),
                steps: count,
            },
            solution,
            before,
            solver: SolverState::new(),
            cost: SolveCost {
                iterations: iterations.sum::<f64>() as u64,
                prepare: Clock { wall: prepare_wall, cpu: prepare_cpu },
                solve: Clock { wall: solve_wall, cpu: solve_cpu },
                entries: Entries { used, evaluated, found, setup, self_reported },
            },
            steps,
            outer,
            unconverged_fits: self.unconverged_fits,
        }
    }
}

impl StepText {
    fn of(step: &Step) -> StepText {
        let named = |(name, value): (&str, f64)| (name.to_owned(), value.to_bits());
        let hyperparameters = step.hyperparameters.iter().map(|(name, value)| (name.as_str(), *value));
        StepText {
            hyperparameters: hyperparameters.map(named).collect(),
            reason: step.reason,
            metrics: step.metrics.iter().map(named).collect(),
        }
    }

    fn step(self, step: u64) -> Step {
        let number = |(name, bits): (String, u64)| (name, f64::from_bits(bits));
        Step {
            step,
            hyperparameters: self.hyperparameters.into_iter().map(number).collect(),
            reason: self.reason,
            metrics: self.metrics.into_iter().map(number).collect::<Metrics>(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use ndarray::array;

    use super::*;

    fn state() -> State {
        let step = |step: u64| Step {
            step,
            hyperparameters: BTreeMap::from([("noise_scale".to_owned(), 0.1 + step as f64)]),
            reason: StopReason::Converged,
            metrics: [("epochs".to_owned(), 1.0 / 3.0), ("iterations".to_owned(), 3.0)].into_iter().collect(),
        };
        State {
            parameters: Parameters { unconstrained: vec![0.1, -0.2, 1e-310] },
            mean: Some(-0.3),
            adam: Adam { first_moment: vec![1.0, 2.0, -0.0], second_moment: vec![3.0, 4.0, 5.0], steps: 2 },
            solution: Some(array![[1.0, 2.0], [3.0, 4.0], [5.0, 1.0 / 7.0]]),
            before: Some(array![[-1.0, 0.0], [1e300, 4.5], [5.0, 0.1]]),
            solver: [("a".to_owned(), vec![1, 2, 3]), ("b".to_owned(), vec![])].into(),
            steps: vec![step(0), step(1)],
            cost: SolveCost {
                iterations: 6,
                prepare: Clock { wall: 1.0, cpu: 2.0 },
                solve: Clock { wall: 3.0, cpu: 4.0 },
                entries: Entries { used: 5.0, evaluated: 6.0, found: 9.5, setup: 7.0, self_reported: 8.0 },
            },
            outer: 9.0,
            unconverged_fits: Some(2),
        }
    }

    #[test]
    fn a_state_survives_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint.bin");
        assert_eq!(read(&path).unwrap(), None);
        let first = State { solution: None, before: None, solver: SolverState::new(), ..state() };
        for state in [first, State { before: None, ..state() }, state()] {
            write(&path, &state).unwrap();
            assert_eq!(read(&path).unwrap(), Some(state));
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn flipped_bits_and_cuts_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint.bin");
        write(&path, &state()).unwrap();
        let good = fs::read(&path).unwrap();
        for byte in (0..good.len()).step_by(7) {
            let mut bad = good.clone();
            bad[byte] ^= 1 << (byte % 8);
            fs::write(&path, &bad).unwrap();
            assert!(read(&path).is_err(), "byte {byte}");
            fs::write(&path, &good[..byte]).unwrap();
            assert!(read(&path).is_err(), "{byte} bytes");
        }
    }

    #[test]
    fn what_is_not_a_regular_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("checkpoint.bin");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        for path in [&fifo, Path::new("/dev/zero")] {
            let error = read(path).unwrap_err();
            assert!(error.to_string().ends_with(": it is not a regular file"), "{error}");
        }
    }

    #[test]
    fn a_checkpoint_of_an_earlier_version_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint.bin");
        fs::write(&path, b"GPBTRAI3 and so on").unwrap();
        let error = read(&path).unwrap_err();
        assert!(matches!(error, FileError::Version { .. }), "{error}");
    }
}
