//! The file from which a case continues after a crash: the [`State`], and the saved state of the learner.
//!
//! | array | shape | holds |
//! |---|---|---|
//! | `learner/NAME` | the learner's | its saved state |
//! | `best/NAME` | the learner's | the model of the best evaluation, where there is one |
//!
//! The state of the file is the [`State`] without that model.

use std::path::Path;

use gpbench_files::Durability;
use gpbench_host::Arrays;

use crate::array_file::{ArrayFile, ArrayWriter, FileError};

use super::state::State;

const KIND: &str = "learn-checkpoint";

/// Names of the groups.
const LEARNER: &str = "learner";
const BEST: &str = "best";

/// Writes a state and the saved state of the learner.
pub(super) fn write(path: &Path, state: &State, learner: &Arrays) -> Result<(), FileError> {
    let mut file = ArrayWriter::new(KIND, state).group(LEARNER, learner);
    if let Some(best) = state.best.as_ref().and_then(|best| best.model.as_ref()) {
        file = file.group(BEST, best);
    }
    file.write(path, Durability::Whole)
}

/// Reads both; `None` where there is no file yet.
///
/// # Errors
/// If the file cannot be read, is damaged, or is one of another version.
pub(super) fn read(path: &Path) -> Result<Option<(State, Arrays)>, FileError> {
    // The saved state of a learner may have any length.
    let file = match ArrayFile::read(path, KIND, usize::MAX) {
        Err(FileError::Missing { .. }) => return Ok(None),
        read => read?,
    };
    let mut state: State = file.state()?;
    if let Some(best) = &mut state.best {
        best.model = Some(file.group(BEST)?).filter(|model| !model.is_empty());
    }
    Ok(Some((state, file.group(LEARNER)?)))
}

#[cfg(test)]
mod tests {
    use gpbench_record::{Metrics, ModelKind, Step, StopReason};
    use ndarray::array;

    use super::*;
    use crate::tasks::learn::recorder::{Recorder, Send};
    use crate::tasks::learn::state::Best;
    use gpbench_host::{FitObserver as _, FitPoint};

    fn state() -> State {
        let mut nowhere = |_| {};
        let send: Send = std::cell::RefCell::new(&mut nowhere);
        let mut state = State::new();
        let recorder = Recorder::new(state.record.clone(), &send);
        let at = FitPoint { step: 1, seconds: 1.0 / 3.0, epochs: 0.1, passes: 0.7 };
        recorder.step(at, -1e300);
        recorder.note(at, "kappa", 1e-310);
        state.record = recorder.record();
        state.progress.cost.steps = 1;
        state.progress.cost.rows = 0.1;
        state.looks.push(Step {
            step: 0,
            hyperparameters: [("noise_scale".to_owned(), 1.0 / 7.0)].into(),
            reason: StopReason::Epochs,
            metrics: Metrics::from_iter([("nlml".to_owned(), -0.0)]),
        });
        state.best = Some(Best {
            look: 0,
            value: Some(0.1),
            kind: Some(ModelKind::Gp),
            hyperparameters: [("noise_scale".to_owned(), 1.0 / 7.0)].into(),
            model: Some(Arrays::from([("kind".to_owned(), array![[1.0]])])),
        });
        state
    }

    #[test]
    fn a_state_survives_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint");
        assert_eq!(read(&path).unwrap(), None);
        let learner = Arrays::from([("weights".to_owned(), array![[1.0, -0.0], [1e-310, f64::INFINITY]])]);
        let without = Best { model: None, ..state().best.unwrap() };
        for state in [State::new(), State { best: Some(without), ..state() }, state()] {
            write(&path, &state, &learner).unwrap();
            assert_eq!(read(&path).unwrap(), Some((state, learner.clone())));
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn flipped_bits_and_cuts_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint");
        write(&path, &state(), &Arrays::from([("a".to_owned(), array![[1.0]])])).unwrap();
        let good = std::fs::read(&path).unwrap();
        for byte in (0..good.len()).step_by(7) {
            let mut bad = good.clone();
            bad[byte] ^= 1 << (byte % 8);
            std::fs::write(&path, &bad).unwrap();
            assert!(read(&path).is_err(), "byte {byte}");
            std::fs::write(&path, &good[..byte]).unwrap();
            assert!(read(&path).is_err(), "{byte} bytes");
        }
    }
}
