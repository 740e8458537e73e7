//! The instruction set that the SDK's numerics run on.

use gpbench_numerics::simd::arch;
use pulp::WithSimd;

/// Runs `work` compiled for the instruction set of this process, which obeys `GPBENCH_SIMD`.
pub(crate) fn dispatch<W: WithSimd>(work: W) -> W::Output {
    let arch = arch();
    #[cfg(test)]
    let arch = tests::FORCED.get().unwrap_or(arch);
    arch.dispatch(work)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;

    use pulp::Arch;

    thread_local! {
        /// The instruction set of this thread, in place of that of the process.
        pub(super) static FORCED: Cell<Option<Arch>> = const { Cell::new(None) };
    }

    /// The instruction sets that the machine has and `GPBENCH_SIMD` can name, the best one first.
    pub(crate) fn sets() -> Vec<(&'static str, Arch)> {
        let mut sets = vec![("", Arch::new())];
        #[cfg(target_arch = "x86_64")]
        sets.extend(pulp::x86::V3::try_new().map(|avx2| ("avx2", Arch::V3(avx2))));
        sets.push(("portable", Arch::Scalar));
        sets
    }

    /// What `work` gives on this thread with an instruction set.
    pub(crate) fn on<R>(set: Arch, work: impl FnOnce() -> R) -> R {
        FORCED.set(Some(set));
        let result = work();
        FORCED.set(None);
        result
    }

    /// What `work` gives on one thread with each instruction set that the machine has, the best one first.
    pub(crate) fn on_each<R>(work: impl Fn() -> R) -> Vec<R> {
        sets().into_iter().map(|(_, set)| on(set, &work)).collect()
    }
}
