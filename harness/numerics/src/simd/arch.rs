//! The instruction set of this process.

use std::sync::OnceLock;

use pulp::Arch;

/// Environment variable that selects a smaller instruction set than the processor's best.
const CHOICE: &str = "GPBENCH_SIMD";

/// The instruction set of this process: the processor's best, or the one that the environment
/// variable `GPBENCH_SIMD` names (`avx2`, `portable`).
#[inline]
pub fn arch() -> Arch {
    static CHOSEN: OnceLock<Arch> = OnceLock::new();
    *CHOSEN.get_or_init(|| choose(std::env::var(CHOICE).ok().as_deref(), Arch::new()))
}

pub(super) fn choose(asked: Option<&str>, best: Arch) -> Arch {
    match (asked, best) {
        (Some("portable"), _) => Arch::Scalar,
        #[cfg(target_arch = "x86_64")]
        (Some("avx2"), best) => pulp::x86::V3::try_new().map_or(best, Arch::V3),
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
