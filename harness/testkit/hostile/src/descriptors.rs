//! Acts on open files that do not belong to the plugin.

/// A number larger than that of a worker's descriptors.
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

/// Opens files until the system refuses, and keeps them open.
pub(crate) fn exhaust() {
    // SAFETY: a path that ends with zero; the descriptors stay open.
    while unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDONLY) } >= 0 {}
}

/// Writes forged points of the trace to the engine without end.
pub(crate) fn forge_trace() -> ! {
    let point = br#"{"type":"trace","iteration":1,"seconds":0.1,"epochs":1.0,"metrics":{"test_rmse":0.0}}"#;
    let mut lines = Vec::new();
    while lines.len() < 1 << 16 {
        lines.extend_from_slice(point);
        lines.push(b'\n');
    }
    let channels: Vec<i32> = (3..MANY).filter(|&descriptor| is_pipe(descriptor)).collect();
    loop {
        for &channel in &channels {
            // SAFETY: writes live bytes.
            unsafe { libc::write(channel, lines.as_ptr().cast(), lines.len()) };
        }
    }
}

/// Writes a forged result to the engine, and exits.
pub(crate) fn forge_result() -> ! {
    let result = concat!(
        r#"{"type":"solved","n":60,"d":1,"reason":"converged","iterations":1,"claimed":[],"#,
        r#""prepare":{"wall":0.0,"cpu":0.0},"solve":{"wall":0.0,"cpu":0.0},"#,
        r#""entries":{"used":0.0,"evaluated":0.0,"setup":0.0,"self_reported":0.0},"peak_memory_bytes":1,"#,
        r#""base_memory_bytes":1,"startup_seconds":0.0,"values":{},"output":{"task":"posterior"}}"#,
        "\n"
    );
    for channel in (3..MANY).filter(|&descriptor| is_pipe(descriptor)) {
        // SAFETY: writes live bytes.
        unsafe { libc::write(channel, result.as_ptr().cast(), result.len()) };
    }
    crate::acts::exit()
}

/// Whether a descriptor is a pipe or a socket, as the channel to the engine is.
fn is_pipe(descriptor: i32) -> bool {
    // SAFETY: all-zero bytes are a valid `stat`, which holds only numbers.
    let mut found: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: a valid place to write to.
    let known = unsafe { libc::fstat(descriptor, &mut found) } == 0;
    known && [libc::S_IFIFO, libc::S_IFSOCK].contains(&(found.st_mode & libc::S_IFMT))
}
