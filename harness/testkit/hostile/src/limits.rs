//! Acts that set limits of the process, which later work of the harness exceeds.

/// Sets both values of a limit to 0.
fn refuse(resource: libc::__rlimit_resource_t) {
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a live struct.
    unsafe { libc::setrlimit(resource, &none) };
}

/// Forbids files to grow.
pub(crate) fn refuse_bytes() {
    refuse(libc::RLIMIT_FSIZE);
}

/// Forbids more memory, bytes in files, descriptors and threads.
pub(crate) fn refuse_all() {
    for resource in [libc::RLIMIT_AS, libc::RLIMIT_DATA, libc::RLIMIT_NPROC, libc::RLIMIT_NOFILE] {
        refuse(resource);
    }
    refuse_bytes();
}
