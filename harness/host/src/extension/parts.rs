//! `gpbench.parts/1`: parts of a library that are found while it runs.

use gpbench_abi::{self as abi, Host, Parts, Status};

use crate::description;
use crate::host_table::{HostExtension, HostTable, wall};

pub(super) const EXTENSION: HostExtension = (abi::id::PARTS, |_| std::ptr::from_ref(&TABLE).cast());

static TABLE: Parts = Parts { size: size_of::<Parts>() as u32, reserved: 0, add: Some(add) };

/// Most parts that are kept; a library that reports more has reported enough for its row.
const MOST: usize = 4096;

unsafe extern "C" fn add(host: *const Host, part: *const abi::Part) -> Status {
    wall(|| {
        // SAFETY: the plugin passes its host or null.
        let Some(host) = (unsafe { HostTable::of(host) }) else { return Status::INVALID_ARGUMENT };
        // SAFETY: the plugin passes a part that lives until this call returns, or null.
        match unsafe { description::read_part(part) } {
            Ok(part) => {
                host.add_part(part, MOST);
                Status::DONE
            }
            Err(wrong) => host.refuse(Status::INVALID_ARGUMENT, format!("a part is refused: {wrong}")),
        }
    })
}
