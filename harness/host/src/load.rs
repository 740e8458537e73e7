//! Opens the file of a plugin library.

use std::path::Path;

use gpbench_abi::{ENTRY, EntryFn, Status};
use libloading::os::unix::{Library as Handle, RTLD_LOCAL, RTLD_NOW};

use crate::bridge::{self, Opening};
use crate::clock::difference;
use crate::host_table::HostTable;
use crate::library::{Library, LibraryError};

impl Library {
    /// Loads a library that is a shared object, and checks its description; see [`Library::open`].
    pub fn load(file: &Path, host: &'static HostTable) -> Result<Library, LibraryError> {
        Library::open(file, &Opening::default(), host)
    }

    /// Loads a library, or the bridge of one that is a script, and checks its description.
    ///
    /// Constructors and the entry function of what is loaded run in this process.
    ///
    /// # Errors
    /// Where it cannot be loaded or describes itself wrongly; [`LibraryError::Absent`] where what it needs is not
    /// installed.
    pub fn open(
        file: &Path,
        opening: &Opening<'_>,
        host: &'static HostTable,
    ) -> Result<Library, LibraryError> {
        // A name without a slash would be looked for in the system's library folders.
        let path = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        let unopened = |reason: String| LibraryError::Open { file: file.to_owned(), reason };
        let bridge = bridge::bridge(&path, opening)?;
        if bridge.is_some() {
            let text = path.to_str().ok_or_else(|| unopened("its path is not UTF-8".to_owned()))?;
            let Opening { runtime, threads, memory, .. } = *opening;
            host.open_script(text, runtime.unwrap_or_default(), threads, memory);
        }
        let object = bridge.as_deref().unwrap_or(&path);
        let began = host.services().now();
        // SAFETY: running a library's constructors is what loading means; the worker exists for it.
        let handle = unsafe { Handle::open(Some(object), RTLD_NOW | RTLD_LOCAL) };
        let handle = handle.map_err(|error| unopened(reason_of(&error)))?;
        // Descriptions are promised for the life of the process, so the library is never closed.
        let handle: &'static Handle = Box::leak(Box::new(handle));
        // SAFETY: a function of this name has this type, as the interface says; the major version is
        // part of the name.
        let entry = unsafe { handle.get::<Option<EntryFn>>(ENTRY) };
        let entry = entry.ok().and_then(|symbol| *symbol);
        let entry = entry.ok_or_else(|| LibraryError::NoEntry { file: object.to_owned() })?;
        // SAFETY: called once, on the thread that loaded the library, with a host that is never freed.
        let plugin = unsafe { entry(host.as_ptr()) };
        let described = difference(host.services().now(), began);
        if plugin.is_null() {
            let file = file.to_owned();
            return Err(match host.take_error_and_status() {
                Some((Status::UNSUPPORTED, reason)) => LibraryError::Absent { file, reason },
                Some((_, reason)) => LibraryError::NoDescription { file, reason },
                None => {
                    let reason = "it returned null and set no error".to_owned();
                    LibraryError::NoDescription { file, reason }
                }
            });
        }
        // SAFETY: the plugin vouches for its description.
        let mut library = unsafe { Library::from_description(file, plugin, host) }?;
        library.described = described;
        library.bridge = bridge;
        Ok(library)
    }
}

/// The loader's own words; libloading puts them into the error's source.
fn reason_of(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), |source| source.to_string())
}
