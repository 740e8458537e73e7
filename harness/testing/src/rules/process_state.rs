//! Observable state of the process of a solver or learner.

use std::hint::black_box;

/// State of the process that runs the subject. A rule about a value that is `None`, and so unobservable, is skipped.
///
/// By default, threads, memory and floating-point modes are those of this process and thread.
pub trait ProcessState {
    /// Number of running threads.
    fn threads(&self) -> Option<usize> {
        std::fs::read_dir("/proc/self/task").ok().map(Iterator::count)
    }

    /// Number of running threads of the child processes that belong to the subject's library. By default there are none.
    fn threads_of_children(&self) -> usize {
        0
    }

    /// Resident memory in bytes.
    fn resident(&self) -> Option<u64> {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kib = line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?;
        Some(kib * 1024)
    }

    /// The floating-point mode of the thread that calls the subject.
    fn float_mode(&self) -> Option<FloatMode> {
        Some(FloatMode::of_this_thread())
    }

    /// Number of threads that BLAS uses now. The default is `None`.
    fn blas_threads(&self) -> Option<usize> {
        None
    }

    /// Number of bytes written to standard output so far. The default is `None`.
    fn printed(&self) -> Option<u64> {
        None
    }

    /// Takes the digest of a result that must be the same in every process. By default it is not compared.
    fn keep_digest(&self, _digest: u64) {}
}

/// Floating-point mode of a thread, compared with the default of IEEE 754.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FloatMode {
    /// The default mode.
    Default,
    /// Sums are not rounded to nearest.
    OtherRounding,
    /// Small results are flushed to zero.
    FlushToZero,
    /// Subnormal operands are treated as zero.
    SubnormalsAreZero,
}

impl FloatMode {
    /// The mode of the calling thread, found by arithmetic.
    pub fn of_this_thread() -> FloatMode {
        let ulp = f64::EPSILON;
        let (one, less, more) = (black_box(1.0), black_box(ulp / 4.0), black_box(3.0 * ulp / 4.0));
        if one + less != one || -one - less != -one || one + more == one || -one - more == -one {
            return FloatMode::OtherRounding;
        }
        let least = black_box(f64::MIN_POSITIVE);
        if black_box(least / 2.0) == 0.0 {
            return FloatMode::FlushToZero;
        }
        if black_box(f64::from_bits(1 << 51)) * black_box(4.0) == 0.0 {
            return FloatMode::SubnormalsAreZero;
        }
        FloatMode::Default
    }

    /// The difference as a clause; `None` for the default.
    pub(super) fn difference(self) -> Option<&'static str> {
        match self {
            FloatMode::Default => None,
            FloatMode::OtherRounding => Some("sums are not rounded to nearest"),
            FloatMode::FlushToZero => Some("small numbers are flushed to zero"),
            FloatMode::SubnormalsAreZero => Some("subnormal numbers are taken for zero"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_thread_has_default_arithmetic() {
        assert_eq!(FloatMode::of_this_thread(), FloatMode::Default);
    }
}
