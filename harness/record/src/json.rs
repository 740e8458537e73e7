//! JSON of the messages between gpbench and its worker.

use serde_json::{Result, Value};

use crate::{BenchAnswer, BenchRequest, ExactRequest, Job, Message, OptimumRequest, RuleResult};

/// A message of one line of JSON.
///
/// These functions are compiled here, once. Generic ones would be compiled in each program, and optimised as its kernels
/// are, which takes longer than all else in the worker's own program.
pub trait Json: Sized {
    /// Reads a message.
    ///
    /// # Errors
    /// If the text is not one, with the place.
    fn from_json(text: &str) -> Result<Self>;

    /// Writes a message, without an end of line.
    ///
    /// # Errors
    /// If a map in it has keys that are not text.
    fn to_json(&self) -> Result<String>;
}

macro_rules! json {
    ($($message:ty),*) => {$(
        impl Json for $message {
            fn from_json(text: &str) -> Result<Self> {
                serde_json::from_str(text)
            }

            fn to_json(&self) -> Result<String> {
                serde_json::to_string(self)
            }
        }
    )*};
}

json!(BenchAnswer, BenchRequest, ExactRequest, Job, Message, OptimumRequest, RuleResult, Value);
