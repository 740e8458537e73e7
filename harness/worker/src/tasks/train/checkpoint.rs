//! The file from which a training case continues after a crash: everything that the next outer step depends on, and
//! the steps so far. A case that was interrupted ends bit by bit as one that was not.
//!
//! | array | shape | holds |
//! |---|---|---|
//! | `unconstrained` | scales | parameters that the next step begins with |
//! | `mean` | 1 | the constant prior mean, where it is trained |
//! | `first_moment`, `second_moment` | scales, and 1 with a mean | moments of the optimiser |
//! | `hyperparameters`, `metrics` | steps x names | numbers of the steps so far; NaN for an absent metric |
//! | `solution`, `before` | n x (1 + s) | solutions of the last step and of the one before, where they are kept |
//! | `inducing` | M x d | inducing points of the last step, where the gradient is that of a bound |
//! | `solver/KEY` | bytes | saved state of the solver, by its own keys |
//!
//! The state of the file is a [`Text`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use gpbench_files::Durability;
use gpbench_gp::train::{Adam, Parameters};
use gpbench_host::SolveCost;
use gpbench_record::{Step, StopReason};
use ndarray::{Array2, ArrayView1, aview1};
use serde::{Deserialize, Serialize};

use crate::array_file::{ArrayFile, ArrayWriter, FileError};

use super::state::State;

const KIND: &str = "train-checkpoint";

/// Group of the saved state of the solver.
const SOLVER: &str = "solver";

/// The part of a state that is not stored in arrays.
#[derive(Serialize, Deserialize)]
struct Text {
    /// Names of the columns of `hyperparameters`.
    hyperparameters: Vec<String>,
    /// Names of the columns of `metrics`.
    metrics: Vec<String>,
    /// Why the solver stopped in each step.
    reasons: Vec<StopReason>,
    cost: SolveCost,
    outer: f64,
    unconverged_fits: Option<u64>,
}

/// Writes a state.
pub(super) fn write(path: &Path, state: &State) -> Result<(), FileError> {
    let State {
        parameters,
        mean,
        adam,
        solution,
        before,
        inducing,
        solver,
        steps,
        cost,
        outer,
        unconverged_fits,
    } = state;
    let (hyperparameters, of_hyperparameters) = table(steps, |step| {
        step.hyperparameters.iter().map(|(name, value)| (name.as_str(), *value)).collect()
    });
    let (metrics, of_metrics) = table(steps, |step| step.metrics.iter().collect());
    let text = Text {
        hyperparameters,
        metrics,
        reasons: steps.iter().map(|step| step.reason).collect(),
        cost: *cost,
        outer: *outer,
        unconverged_fits: *unconverged_fits,
    };
    let mut file = ArrayWriter::new(KIND, &text)
        .array("unconstrained", aview1(&parameters.unconstrained))
        .array("first_moment", aview1(&adam.first_moment))
        .array("second_moment", aview1(&adam.second_moment))
        .array("hyperparameters", of_hyperparameters.view())
        .array("metrics", of_metrics.view());
    if let Some(mean) = mean {
        file = file.array("mean", aview1(std::slice::from_ref(mean)));
    }
    for (name, array) in [("solution", solution), ("before", before), ("inducing", inducing)] {
        if let Some(array) = array {
            file = file.array(name, array.view());
        }
    }
    for (key, bytes) in solver {
        file = file.bytes(&format!("{SOLVER}/{key}"), bytes);
    }
    file.write(path, Durability::Whole)
}

/// Reads a state; `None` where there is no file yet.
///
/// # Errors
/// If the file cannot be read, is damaged, or is one of another version.
pub(super) fn read(path: &Path) -> Result<Option<State>, FileError> {
    // The saved state of a solver may have any length.
    let file = match ArrayFile::read(path, KIND, usize::MAX) {
        Err(FileError::Missing { .. }) => return Ok(None),
        read => read?,
    };
    let Text { hyperparameters, metrics, reasons, cost, outer, unconverged_fits } = file.state()?;
    let of_hyperparameters = file.row_major("hyperparameters")?;
    let of_metrics = file.row_major("metrics")?;
    let shapes = [hyperparameters.len(), metrics.len()].map(|names| (reasons.len(), names));
    if [of_hyperparameters.dim(), of_metrics.dim()] != shapes {
        return Err(file.mismatch("its numbers are not those of its steps"));
    }
    let rows = of_hyperparameters.rows().into_iter().zip(of_metrics.rows());
    let steps = (0..).zip(reasons).zip(rows).map(|((step, reason), (of_hyperparameters, of_metrics))| Step {
        step,
        hyperparameters: named(&hyperparameters, of_hyperparameters).collect(),
        reason,
        metrics: named(&metrics, of_metrics).collect(),
    });
    let steps: Vec<Step> = steps.collect();
    let inducing = file.has("inducing").then(|| file.row_major("inducing")).transpose()?;
    let mean = file.has("mean").then(|| file.vector("mean")).transpose()?;
    let saved = |key: String| Ok((key.clone(), file.bytes(&format!("{SOLVER}/{key}"))?.to_vec()));
    let adam = Adam {
        first_moment: file.vector("first_moment")?.to_vec(),
        second_moment: file.vector("second_moment")?.to_vec(),
        steps: steps.len() as u64,
    };
    Ok(Some(State {
        parameters: Parameters { unconstrained: file.vector("unconstrained")?.to_vec() },
        mean: mean.and_then(|mean| mean.first().copied()),
        adam,
        solution: file.optional("solution")?,
        before: file.optional("before")?,
        inducing,
        solver: file.names(SOLVER).into_iter().map(saved).collect::<Result<_, FileError>>()?,
        steps,
        cost,
        outer,
        unconverged_fits,
    }))
}

/// Names of numbers of the steps, and a row for each step with a number for each name: NaN where the step lacks it.
fn table<'s>(
    steps: &'s [Step],
    numbers: impl Fn(&'s Step) -> BTreeMap<&'s str, f64>,
) -> (Vec<String>, Array2<f64>) {
    let rows: Vec<_> = steps.iter().map(numbers).collect();
    let names: BTreeSet<&str> = rows.iter().flat_map(BTreeMap::keys).copied().collect();
    let numbers = |row: &BTreeMap<&str, f64>| -> Vec<f64> {
        names.iter().map(|name| row.get(name).copied().unwrap_or(f64::NAN)).collect()
    };
    let entries = rows.iter().flat_map(numbers).collect();
    let table = Array2::from_shape_vec((rows.len(), names.len()), entries).expect("a number for each name");
    (names.into_iter().map(str::to_owned).collect(), table)
}

/// The numbers of a step by their names.
fn named<'n>(names: &'n [String], row: ArrayView1<'n, f64>) -> impl Iterator<Item = (String, f64)> {
    names.iter().cloned().zip(row.into_iter().copied())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use gpbench_files::replace_sealed;
    use gpbench_record::{Clock, Entries, names};
    use ndarray::array;

    use super::*;
    use gpbench_host::SolverState;

    fn state() -> State {
        let step = |step: u64, own: &str| Step {
            step,
            hyperparameters: BTreeMap::from([("noise_scale".to_owned(), 0.1 + step as f64)]),
            reason: StopReason::Converged,
            metrics: [("epochs", 1.0 / 3.0), (names::ITERATIONS, 3.0), (own, -0.0)]
                .map(|(name, value)| (name.to_owned(), value))
                .into_iter()
                .collect(),
        };
        State {
            parameters: Parameters { unconstrained: vec![0.1, -0.2, 1e-310] },
            mean: Some(-0.3),
            adam: Adam {
                first_moment: vec![1.0, f64::INFINITY, -0.0],
                second_moment: vec![3.0, 4.0, 5.0],
                steps: 2,
            },
            solution: Some(array![[1.0, 2.0], [3.0, 4.0], [5.0, 1.0 / 7.0]]),
            before: Some(array![[-1.0, 0.0], [1e300, 4.5], [5.0, 0.1]]),
            inducing: Some(array![[0.5, -2.0, 3.0], [1.0 / 3.0, 0.0, 7.0]]),
            solver: [("a".to_owned(), vec![1, 2, 3]), ("\"/é\0".to_owned(), vec![])].into(),
            steps: vec![step(0, "first"), step(1, "second")],
            cost: SolveCost {
                iterations: 6,
                prepare: Clock { wall: 1.0 / 3.0, cpu: 2.0 },
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
        let path = folder.path().join("checkpoint");
        assert_eq!(read(&path).unwrap(), None);
        let none = State { solution: None, before: None, inducing: None, mean: None, ..state() };
        let first = State { solver: SolverState::new(), ..none };
        for state in [first, State { before: None, ..state() }, state()] {
            write(&path, &state).unwrap();
            assert_eq!(read(&path).unwrap(), Some(state));
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn flipped_bits_and_cuts_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint");
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
        let fifo = folder.path().join("checkpoint");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        for path in [&fifo, Path::new("/dev/zero")] {
            let error = read(path).unwrap_err();
            assert!(error.to_string().ends_with(": it is not a regular file"), "{error}");
        }
    }

    #[test]
    fn a_checkpoint_of_an_earlier_version_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint");
        replace_sealed(&path, Durability::ThisRun, |out| out.write_all(b"GPBTRAI5 and so on")).unwrap();
        let error = read(&path).unwrap_err();
        assert!(matches!(error, FileError::Version { .. }), "{error}");
    }
}
