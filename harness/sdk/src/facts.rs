//! What a solver or learner states of itself for those who choose one.

use gpbench_abi as abi;

/// What readers who choose a method want to know of it, each in one line of at most 200 characters; empty where it is
/// not stated. `gpbench list solvers` shows them.
///
/// In these texts n is the number of rows, d of inputs and s of right-hand sides; each says what its other letters are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// Work of a step: kernel entries, and operations where they matter more.
    pub step: &'static str,
    /// Numbers that are held beyond the data.
    pub memory: &'static str,
    /// What is true of every result.
    pub guarantees: &'static str,
    /// When to use it, and when not.
    pub advice: &'static str,
}

impl Facts {
    /// Nothing is stated.
    pub const NONE: Facts = Facts { step: "", memory: "", guarantees: "", advice: "" };

    /// The texts as they cross the interface.
    pub(crate) fn to_abi(self) -> abi::Facts {
        let Facts { step, memory, guarantees, advice } = self;
        let text = abi::Str::new;
        abi::Facts {
            step: text(step),
            memory: text(memory),
            guarantees: text(guarantees),
            advice: text(advice),
        }
    }
}
