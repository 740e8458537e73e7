//! `gpbench.targets/1`: the parts of pathwise targets, where the probes are such.

use gpbench_abi::{self as abi, Targets};

use crate::plugin::session::ProblemExtension;
use crate::plugin::views::mat;

pub(super) const EXTENSION: ProblemExtension = (abi::id::TARGETS, |session| {
    let targets = session.objects.system.view().targets;
    if targets.f_train.ncols() == 0 {
        return std::ptr::null();
    }
    let table = || Targets {
        size: size_of::<Targets>() as u32,
        reserved: 0,
        f: mat(targets.f_train.view()),
        noise: mat(targets.noise.view()),
    };
    std::ptr::from_ref(session.objects.store.get_or_init(table)).cast()
});
