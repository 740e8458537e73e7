//! The instruction sets that numerics are compiled for, and the choice of one by the environment.

use std::fmt;

crate::words! {
    /// An instruction set that the environment can name. Each gives its own bits.
    pub enum InstructionSet {
        /// AVX-512.
        Avx512 = "avx512",
        /// AVX2.
        Avx2 = "avx2",
        /// No vector instructions beyond those of every processor of this kind.
        Portable = "portable",
    }
}

/// The environment asks for an instruction set that does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownInstructionSet {
    /// What it asks for.
    pub asked: String,
}

impl fmt::Display for UnknownInstructionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (variable, known) = (InstructionSet::VARIABLE, InstructionSet::TEXTS.join(", "));
        write!(f, "{variable}={} names no instruction set; there are {known}", self.asked)
    }
}

impl std::error::Error for UnknownInstructionSet {}

impl InstructionSet {
    /// Environment variable that names the instruction set of a program and of the plugins that it opens.
    pub const VARIABLE: &'static str = "GPBENCH_SIMD";

    /// The instruction set that the environment asks for; `None` where the variable is not set or empty.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn asked() -> Result<Option<InstructionSet>, UnknownInstructionSet> {
        let asked = std::env::var_os(InstructionSet::VARIABLE).unwrap_or_default();
        InstructionSet::named(&asked.to_string_lossy())
    }

    /// The instruction set of this name; `None` for no name.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn named(name: &str) -> Result<Option<InstructionSet>, UnknownInstructionSet> {
        let found = InstructionSet::ALL.into_iter().find(|set| set.as_str() == name);
        if found.is_none() && !name.is_empty() {
            return Err(UnknownInstructionSet { asked: name.to_owned() });
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_an_error_that_lists_the_known_ones() {
        for set in InstructionSet::ALL {
            assert_eq!(InstructionSet::named(set.as_str()), Ok(Some(set)));
        }
        assert_eq!(InstructionSet::named(""), Ok(None));
        assert_eq!(
            InstructionSet::named("avx2x").unwrap_err().to_string(),
            "GPBENCH_SIMD=avx2x names no instruction set; there are avx512, avx2, portable"
        );
    }
}
