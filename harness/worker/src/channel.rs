//! The worker's standard streams, which carry the job and the messages. Output that
//! a plugin prints is kept apart from the messages.
//!
//! The real standard output is moved to a descriptor that plugins do not know and
//! that no child inherits; descriptor 1 then writes to the log, like descriptor 2.

#![allow(unsafe_code)]

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::path::Path;

use gpbench_record::Json;

use crate::process;

/// Messages to the process that started this worker.
#[derive(Debug)]
pub struct Channel {
    out: File,
    /// Process that may send messages. A plugin may fork, and its child must not send any.
    owner: u32,
}

impl Channel {
    /// Reserves standard output for messages and redirects descriptor 1 to the log.
    /// It must be called once, before anything is printed or loaded.
    pub fn open() -> io::Result<Channel> {
        // SAFETY: a system call on numbers; a closed descriptor 1 only causes an error.
        let out = check(unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_DUPFD_CLOEXEC, 3) })?;
        // SAFETY: `out` was just created and has no other owner.
        let out = unsafe { File::from_raw_fd(out) };
        redirect(libc::STDERR_FILENO, libc::STDOUT_FILENO)?;
        Ok(Channel { out, owner: std::process::id() })
    }

    /// Sends messages into a file, which no child inherits. Standard output stays as it is.
    pub fn into_file(path: &Path) -> io::Result<Channel> {
        Ok(Channel { out: File::options().append(true).create(true).open(path)?, owner: std::process::id() })
    }

    /// Writes one message as one line of JSON.
    ///
    /// In a forked copy of the worker, which must not send messages, this ends the process.
    pub fn send(&mut self, message: &impl Json) -> io::Result<()> {
        if std::process::id() != self.owner {
            process::leave(0);
        }
        let mut line = message.to_json()?;
        line.push('\n');
        self.out.write_all(line.as_bytes())
    }
}

/// Captures standard output, so that its bytes can be counted.
#[derive(Debug)]
pub struct Capture {
    file: File,
}

impl Capture {
    /// Redirects descriptor 1 to a file without a name.
    pub fn start() -> io::Result<Capture> {
        // SAFETY: returns a new stream, or null.
        let stream = unsafe { libc::tmpfile() };
        if stream.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a live stream, which is never closed.
        let file = unsafe { libc::fileno(stream) };
        // SAFETY: a live descriptor; the copy has no other owner.
        let file = unsafe { File::from_raw_fd(check(libc::dup(file))?) };
        redirect(file.as_raw_fd(), libc::STDOUT_FILENO)?;
        Ok(Capture { file })
    }

    /// Bytes written so far, those in C's buffers included.
    pub fn bytes(&self) -> u64 {
        // SAFETY: a null stream means all of them.
        unsafe { libc::fflush(std::ptr::null_mut()) };
        self.file.metadata().map_or(0, |data| data.len())
    }
}

/// Reads standard input to its end and leaves `/dev/null` in its place.
pub fn read_job() -> io::Result<String> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    let null = File::open("/dev/null")?;
    redirect(null.as_raw_fd(), libc::STDIN_FILENO)?;
    Ok(text)
}

/// Makes descriptor `to` another name of `from`.
fn redirect(from: RawFd, to: RawFd) -> io::Result<()> {
    // SAFETY: a system call on numbers; Rust's handles of descriptors 0 to 2 stay valid for any
    // file that they refer to.
    check(unsafe { libc::dup2(from, to) }).map(drop)
}

fn check(answer: RawFd) -> io::Result<RawFd> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}
