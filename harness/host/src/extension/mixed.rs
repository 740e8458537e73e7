//! `gpbench.mixed/1`: the same operator with products in mixed precision.

use gpbench_abi::{self as abi, Operator};

use crate::session::{MIXED, OperatorExtension};

pub(super) const EXTENSION: OperatorExtension = (abi::id::MIXED, |session, op| {
    if session.objects.system.operator().mixed().is_none() {
        return std::ptr::null();
    }
    std::ptr::from_ref(session.objects.store.get_or_init(|| Operator { flags: MIXED, ..*op })).cast()
});
