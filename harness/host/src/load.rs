//! Opens the file of a plugin library.

use std::path::Path;

use gpbench_abi::{ENTRY, EntryFn};
use libloading::os::unix::{Library as Handle, RTLD_LOCAL, RTLD_NOW};

use crate::clock::difference;
use crate::host_table::HostTable;
use crate::library::{Library, LibraryError};

impl Library {
    /// Loads a library and checks its description.
    ///
    /// Its constructors and its entry function run in this process.
    pub fn load(file: &Path, host: &'static HostTable) -> Result<Library, LibraryError> {
        // A name without a slash would be looked for in the system's library folders.
        let path = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        let unopened = |reason: String| LibraryError::Open { file: file.to_owned(), reason };
        let began = host.services().now();
        // SAFETY: running a library's constructors is what loading means; the worker exists for it.
        let handle = unsafe { Handle::open(Some(path.as_path()), RTLD_NOW | RTLD_LOCAL) };
        let handle = handle.map_err(|error| unopened(reason_of(&error)))?;
        // Descriptions are promised for the life of the process, so the library is never closed.
        let handle: &'static Handle = Box::leak(Box::new(handle));
        // SAFETY: a function of this name has this type, as the interface says; the major version is
        // part of the name.
        let entry = unsafe { handle.get::<Option<EntryFn>>(ENTRY) };
        let entry = entry.ok().and_then(|symbol| *symbol);
        let entry = entry.ok_or_else(|| LibraryError::NoEntry { file: file.to_owned() })?;
        // SAFETY: called once, on the thread that loaded the library, with a host that is never freed.
        let plugin = unsafe { entry(host.as_ptr()) };
        let described = difference(host.services().now(), began);
        if plugin.is_null() {
            let reason = host.take_error().unwrap_or_else(|| "it returned null and set no error".to_owned());
            return Err(LibraryError::NoDescription { file: file.to_owned(), reason });
        }
        // SAFETY: the plugin vouches for its description.
        let mut library = unsafe { Library::from_description(file, plugin, host) }?;
        library.described = described;
        Ok(library)
    }
}

/// The loader's own words; libloading puts them into the error's source.
fn reason_of(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), |source| source.to_string())
}
