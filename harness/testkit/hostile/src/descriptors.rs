//! Acts on open files that are not the plugin's.

/// More descriptors than a worker has.
const MANY: i32 = 256;

/// Closes every open descriptor.
pub(crate) fn close_all() {
    for descriptor in 0..MANY {
        // SAFETY: later uses of it return an error.
        unsafe { libc::close(descriptor) };
    }
}

/// Writes a line into every open descriptor, the channel to the engine included.
pub(crate) fn write_all() {
    let line = b"a line where only the harness writes\n";
    for descriptor in 1..MANY {
        // SAFETY: writes live bytes to a descriptor, whichever it is.
        unsafe { libc::write(descriptor, line.as_ptr().cast(), line.len()) };
    }
}

/// Writes eight megabytes to standard output, and as many to standard error.
pub(crate) fn flood() {
    let line = [b'x'; 1 << 16];
    for descriptor in [libc::STDOUT_FILENO, libc::STDERR_FILENO] {
        for _ in 0..(8 << 20) / line.len() {
            // SAFETY: writes live bytes to a descriptor, whichever it is.
            unsafe { libc::write(descriptor, line.as_ptr().cast(), line.len()) };
        }
    }
}
