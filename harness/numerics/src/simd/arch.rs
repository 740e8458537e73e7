//! The instruction set of this process.

use std::sync::OnceLock;

use gpbench_terms::InstructionSet;
use pulp::Arch;

/// The instruction set of this process: the processor's best, or the one that the environment
/// variable `GPBENCH_SIMD` names (`avx2`, `portable`).
///
/// # Panics
/// If the variable names no instruction set. Programs of the harness refuse that when they start.
#[inline]
pub fn arch() -> Arch {
    static CHOSEN: OnceLock<Arch> = OnceLock::new();
    *CHOSEN.get_or_init(|| {
        let asked = InstructionSet::asked().unwrap_or_else(|unknown| panic!("{unknown}"));
        choose(asked, Arch::new())
    })
}

pub(super) fn choose(asked: Option<InstructionSet>, best: Arch) -> Arch {
    match (asked, best) {
        (Some(InstructionSet::Portable), _) => Arch::Scalar,
        #[cfg(target_arch = "x86_64")]
        (Some(InstructionSet::Avx2), best) => pulp::x86::V3::try_new().map_or(best, Arch::V3),
        (_, best) => best,
    }
}

/// The name of the instruction set of [`arch`]: `avx512`, `avx2` or `portable`.
pub fn cpu_dispatch() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    match arch() {
        Arch::V4(_) => return "avx512",
        Arch::V3(_) => return "avx2",
        _ => {}
    }
    "portable"
}
