//! `gpbench.script/1`: the script that a bridge is asked to serve.

use gpbench_abi as abi;

use crate::host_table::HostExtension;

/// Null unless the host opens a script.
pub(super) const EXTENSION: HostExtension = (abi::id::SCRIPT, |host| {
    host.and_then(|host| host.script()).map_or(std::ptr::null(), |script| std::ptr::from_ref(script).cast())
});
