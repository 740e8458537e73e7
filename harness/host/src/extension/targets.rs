//! `gpbench.targets/1`: the parts of the probes, where these are pathwise targets.

use gpbench_abi::{self as abi, Targets};

use crate::session::ProblemExtension;
use crate::views::mat;

pub(super) const EXTENSION: ProblemExtension = (abi::id::TARGETS, |session| {
    let Some([f, noise]) = session.objects.system.targets() else { return std::ptr::null() };
    let table = || Targets { size: size_of::<Targets>() as u32, reserved: 0, f: mat(f), noise: mat(noise) };
    std::ptr::from_ref(session.objects.store.get_or_init(table)).cast()
});
