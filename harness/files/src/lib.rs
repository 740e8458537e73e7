//! Atomic replacement of files, checksums of their content, and locks.
//!
//! [`replace()`] writes to a temporary file in the same folder and renames it, so that a reader, or a crash of the
//! process at any moment, leaves the old file or the new one and never a part of it. The caller chooses the
//! [`Durability`] in a power cut, because waiting for the disk can take longer than a small case.
//!
//! A temporary file is removed when writing fails. The file of a killed process has the [tag](process_tag) of that
//! process in its name, and [`remove_stale`] removes it. A folder may lie on a file system that several hosts share:
//! files of other hosts are left alone.
//!
//! [`FileLock`] excludes other processes, also on other hosts, and also where the file system has no locks.
//!
//! [`open_regular`], [`read_regular`] and [`append_regular`] refuse files that are not regular, which could block or have no
//! end. [`append_own`], [`refuse_irregular`] and [`refuse_linked_folder`] refuse links too, through which files elsewhere would be
//! written.
//!
//! All stored data have checksums: JSON objects by [`checksum`], binary files by [`replace_sealed`].

#![forbid(unsafe_code)]

pub mod checksum;
mod full;
mod lock;
mod process;
mod regular;
mod replace;
mod sealed;
mod stale;

pub use full::is_full;
pub use lock::{FileLock, Holder, LockError, Locking};
pub use process::{host_name, process_tag};
pub use regular::{
    append_own, append_regular, open_regular, read_regular, refuse_irregular, refuse_linked_folder,
};
pub use replace::{Durability, rename, replace, sync_folder};
pub use sealed::{SEAL_BYTES, replace_sealed, unseal};
pub use stale::{may_be_in_use, remove_stale, was_left};
