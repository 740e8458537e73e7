//! `gpbench.process/1`: processes that belong to a library.

use gpbench_abi::{self as abi, Host, Process, Status};

use crate::host_table::{HostExtension, HostTable, wall};

pub(super) const EXTENSION: HostExtension = (abi::id::PROCESS, |_| std::ptr::from_ref(&TABLE).cast());

static TABLE: Process = Process { size: size_of::<Process>() as u32, reserved: 0, adopt: Some(adopt) };

unsafe extern "C" fn adopt(host: *const Host, pid: i64) -> Status {
    wall(|| {
        // SAFETY: the plugin passes its host or null.
        let Some(host) = (unsafe { HostTable::of(host) }) else { return Status::INVALID_ARGUMENT };
        let pid = u32::try_from(pid).ok().filter(|&pid| pid > 0);
        let adopted = pid.ok_or_else(|| "there is no such process".to_owned());
        match adopted.and_then(|pid| host.services().adopt(pid)) {
            Ok(()) => Status::DONE,
            Err(reason) => {
                host.refuse(Status::INVALID_ARGUMENT, format!("the process cannot be adopted: {reason}"))
            }
        }
    })
}
