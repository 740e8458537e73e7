//! Memory that bridge and child share: a sealed file without a name, mapped by both.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;

use gpbench_abi::Mat;

use crate::region::Region;

/// Smallest arena that is of use.
const LEAST: i64 = 1 << 20;

/// Name of the memory in `/proc/PID/maps`.
const NAME: &CStr = c"gpbench-arena";

/// The shared memory. Its pages take up memory once they are written to. It is unmapped when it is dropped.
#[derive(Debug)]
pub struct Arena {
    file: OwnedFd,
    base: NonNull<u8>,
    size: i64,
}

impl Arena {
    /// An arena of the size of this computer's memory, or of the `limit` on the memory of this process where there is one
    /// (0: none); a half, a quarter, ... of that where other limits (`ulimit -f`, `ulimit -v`) permit no more.
    pub fn new(limit: i64) -> io::Result<Arena> {
        let mut size = most_bytes(limit);
        loop {
            match Arena::of_size(size) {
                Err(_) if size / 2 >= LEAST => size /= 2,
                other => return other,
            }
        }
    }

    fn of_size(size: i64) -> io::Result<Arena> {
        let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
        // SAFETY: a terminated name.
        let file = check(unsafe { libc::memfd_create(NAME.as_ptr(), flags) })?;
        // SAFETY: a new descriptor, which has no other owner.
        let file = unsafe { OwnedFd::from_raw_fd(file) };
        truncate(&file, size)?;
        // From here on no side can change the size: reading beyond the end of a file kills a process.
        let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
        // SAFETY: a system call on numbers.
        check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) })?;
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_NORESERVE);
        // SAFETY: a new mapping, at a place that the system chooses.
        let base =
            unsafe { libc::mmap(std::ptr::null_mut(), size as usize, access, kind, file.as_raw_fd(), 0) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = NonNull::new(base.cast()).ok_or_else(|| io::Error::other("mapped at address 0"))?;
        Ok(Arena { file, base, size })
    }

    /// Bytes.
    pub fn size(&self) -> i64 {
        self.size
    }

    /// The file, for the child.
    pub fn file(&self) -> &OwnedFd {
        &self.file
    }

    /// Address of a place that has been checked.
    pub fn address(&self, region: &Region) -> *mut f64 {
        if region.is_empty() {
            return NonNull::dangling().as_ptr();
        }
        // SAFETY: a region lies in the arena.
        unsafe { self.base.as_ptr().add(region.offset as usize).cast() }
    }

    /// The matrix as the interface has it.
    pub fn mat(&self, region: &Region) -> Mat {
        Mat { data: self.address(region), rows: region.rows, cols: region.cols, ld: region.ld }
    }

    /// Copies whole numbers out of the arena, so that the child cannot change them once they are checked.
    pub fn integers(&self, region: &Region) -> Vec<i64> {
        self.copy(region)
    }

    /// Copies numbers out of the arena.
    pub fn numbers(&self, region: &Region) -> Vec<f64> {
        self.copy(region)
    }

    /// Copies a column of 8-byte values.
    fn copy<T: Copy + Default>(&self, region: &Region) -> Vec<T> {
        const { assert!(size_of::<T>() == 8) }
        let mut values = vec![T::default(); if region.is_empty() { 0 } else { region.rows as usize }];
        // SAFETY: the region's first column lies in the arena and has as many values.
        unsafe {
            std::ptr::copy_nonoverlapping(
                self.address(region).cast::<T>(),
                values.as_mut_ptr(),
                values.len(),
            );
        }
        values
    }

    /// Writes a text into the arena, for a child that has not started yet. False if there is no room.
    pub fn write(&self, offset: i64, text: &[u8]) -> bool {
        let end = i64::try_from(text.len()).ok().and_then(|length| offset.checked_add(length));
        if offset < 0 || end.is_none_or(|end| end > self.size) {
            return false;
        }
        // SAFETY: checked to lie in the arena.
        unsafe {
            let to = self.base.as_ptr().add(offset as usize);
            std::ptr::copy_nonoverlapping(text.as_ptr(), to, text.len());
        }
        true
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: the mapping that was made, which nobody uses any more.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.size as usize) };
    }
}

/// Copies a matrix to another place of the same shape.
///
/// # Safety
/// Both are readable or writable matrices of the same shape, which do not overlap.
pub unsafe fn copy_matrix(from: &Mat, to: &Mat) {
    if from.rows <= 0 {
        return;
    }
    for column in 0..from.cols {
        // SAFETY: by this function's contract.
        unsafe {
            std::ptr::copy_nonoverlapping(
                from.data.offset((column * from.ld) as isize).cast_const(),
                to.data.offset((column * to.ld) as isize),
                from.rows as usize,
            );
        }
    }
}

/// Bytes of this computer's memory, or of a limit on that of this process, or fewer where the address space of
/// processes is limited: the child needs most of it for the interpreter and its libraries.
fn most_bytes(limit_on_memory: i64) -> i64 {
    // SAFETY: a system call on numbers.
    let (pages, bytes) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    let installed = pages.max(1).saturating_mul(bytes.max(4096));
    let memory = if limit_on_memory > 0 { installed.min(limit_on_memory) } else { installed };
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: a place to write to; on failure it stays as it is.
    unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) };
    let space = i64::try_from(limit.rlim_cur / 4).unwrap_or(i64::MAX);
    let size = if limit.rlim_cur == libc::RLIM_INFINITY { memory } else { memory.min(space) };
    size.max(LEAST) & !4095
}

/// Sets the size of a file. The signal that `ulimit -f` sends where the size exceeds it is ignored meanwhile.
fn truncate(file: &OwnedFd, size: i64) -> io::Result<()> {
    // SAFETY: changes how a signal is handled, and restores it before this function returns.
    unsafe {
        let before = libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        let answer = check(libc::ftruncate(file.as_raw_fd(), size));
        libc::signal(libc::SIGXFSZ, before);
        answer.map(drop)
    }
}

/// The answer of a system call, or its error.
pub(crate) fn check(answer: i32) -> io::Result<i32> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}
