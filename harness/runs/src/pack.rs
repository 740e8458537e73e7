//! Packed runs: a run as one file, for others to read and to verify.
//!
//! A packed run is a tar archive, compressed by zstd; `tar --zstd -xf FILE` opens it without gpbench.
//!
//! | entry | holds |
//! |---|---|
//! | `gpbench-pack.json` | the [manifest](PackManifest), always first: name and id of the run, and length and SHA-256 of each other entry |
//! | `journal.jsonl`, `plan.json`, `spec.toml`, `environment.json`, ... | the files that a run is made of |
//! | `report.md`, `index.html`, `results.parquet`, `figures/`, ... | its report |
//! | `solutions/<id>.safetensors` | solutions of some cases, where they were asked for |
//!
//! Entries are sorted, and have neither owners nor times, so that equal files give equal bytes.
//!
//! A packed run comes from a stranger. [`unpack`] takes no entry that the manifest does not list, no path that no run
//! folder has, neither links nor devices, and a bounded number of bytes, which the manifest states before anything else
//! is decompressed; of files that readers hold in memory, fewer bytes and a bounded number of values. A fault leaves
//! nothing behind.

mod fault;
mod manifest;
mod read;
mod store;
mod write;

use std::path::Path;

pub use fault::PackFault;
pub use manifest::{PackManifest, PackedEntry};
pub use read::{read_manifest, unpack};
pub use store::UnpackedRuns;
pub use write::{pack, packed_entries};

pub(crate) use store::open_packed;

/// Extension of packed runs.
const PACKED: &str = "gpbench";

/// Whether a path has the extension of packed runs and is a file.
pub fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == PACKED) && path.is_file()
}
