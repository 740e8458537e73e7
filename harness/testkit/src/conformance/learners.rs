//! The rules of learners.
//!
//! A rule asks a [`LearnerSubject`] to fit small draws and judges what came of it. Predictions and likelihoods that a
//! learner's are compared with come from the subject, which computes them from the learner's model by other code.

mod rules;
mod subject;
mod trial;

pub use rules::RULES;
pub use subject::{End, FitObject, FitRequest, Judged, LearnerSubject, ModelKind, SavedFit, Used};
