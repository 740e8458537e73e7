//! The shared system in the terms of this crate.

use gpbench_gp::Kernel;
use gpbench_testkit::Setting;

/// The kernel of a setting.
pub(crate) fn kernel(setting: &Setting) -> Kernel {
    let family = setting.kernel.parse().unwrap();
    Kernel::new(family, setting.signal_scale, &setting.length_scale, setting.length_scale.len())
}
