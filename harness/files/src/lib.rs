//! Files that are replaced whole or not at all, and checksums of what is kept in them.
//!
//! [`replace()`] writes to a temporary file in the same folder and renames it, so that a reader, or a crash of the
//! process at any moment, sees the old file or the new one and never a part of it. What a power cut may lose is
//! the caller's choice of [`Durability`], because waiting for the disk can take longer than a small case.
//!
//! A temporary file is removed when writing fails. The file of a killed process has the [tag](process_tag) of that
//! process in its name, and [`remove_stale`] removes it. A folder may lie on a file system that several hosts share:
//! files of other hosts are left alone.
//!
//! [`FileLock`] keeps a second process away, also of another host, and also where the file system has no locks.
//!
//! [`open_regular`] and [`append_regular`] refuse what is not a regular file, which could block or have no end.
//!
//! Whatever is read back has a checksum: JSON objects by [`checksum`], binary files by [`replace_sealed`].

#![forbid(unsafe_code)]

pub mod checksum;
mod lock;
mod process;
mod regular;
mod replace;
mod sealed;
mod stale;

pub use lock::{FileLock, Holder, LockError, Locking};
pub use process::{host_name, process_tag};
pub use regular::{append_regular, open_regular};
pub use replace::{Durability, rename, replace, sync_folder};
pub use sealed::{SEAL_BYTES, replace_sealed, unseal};
pub use stale::{may_be_in_use, remove_stale};
