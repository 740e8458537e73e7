//! Acts on files of the harness. A plugin finds them by the variables of its process's environment: the path of its
//! log, `<run folder>/logs/<case>.log`, and the folder of caches.

use std::ffi::CStr;
use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// The run folder and the id of the case.
fn case() -> Option<(PathBuf, String)> {
    let log = PathBuf::from(std::env::var_os("GPBENCH_LOG")?);
    let id = log.file_stem()?.to_str()?.to_owned();
    Some((log.parent()?.parent()?.to_owned(), id))
}

fn solution() -> PathBuf {
    let (run, id) = case().expect("the process of a case");
    // Each process that runs cases has a folder there, and tests start one.
    let mut folders = fs::read_dir(run.join("scratch")).into_iter().flatten().flatten();
    let folder = folders.next().map_or_else(|| run.join("scratch/gone"), |entry| entry.path());
    folder.join(format!("{id}.solution"))
}

fn checkpoint() -> PathBuf {
    let (run, id) = case().expect("the process of a case");
    run.join("checkpoints").join(format!("{id}.safetensors"))
}

/// The files in a folder of the cache and in its sub-folders.
fn cached(folder: &str) -> Vec<PathBuf> {
    let cache = std::env::var_os("GPBENCH_CACHE").expect("a test sets it");
    let mut found = Vec::new();
    let mut open = vec![Path::new(&cache).join(folder)];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.path().is_dir() { open.push(entry.path()) } else { found.push(entry.path()) }
        }
    }
    found
}

/// Halves a file.
fn cut(path: &Path) {
    let file = OpenOptions::new().write(true).open(path);
    let _ = file.and_then(|file| file.set_len(file.metadata()?.len() / 2));
}

/// Makes a folder at the path of the solution.
pub(crate) fn block_solution() {
    let _ = fs::create_dir(solution());
}

/// Halves the solution.
pub(crate) fn cut_solution() {
    cut(&solution());
}

/// Removes the folder of solutions.
pub(crate) fn remove_scratch() {
    let _ = fs::remove_dir_all(solution().parent().expect("a folder"));
}

/// Removes the checkpoint.
pub(crate) fn remove_checkpoint() {
    let _ = fs::remove_file(checkpoint());
}

/// Halves the checkpoint.
pub(crate) fn cut_checkpoint() {
    cut(&checkpoint());
}

/// Removes the files in a folder of the cache.
pub(crate) fn remove_cached(folder: &str) {
    for path in cached(folder) {
        let _ = fs::remove_file(path);
    }
}

/// Halves the files in a folder of the cache.
pub(crate) fn cut_cached(folder: &str) {
    cached(folder).iter().for_each(|path| cut(path));
}

/// Changes the last byte of this library, which is not code.
pub(crate) fn overwrite_library() {
    let _ =
        OpenOptions::new().read(true).write(true).open(library()).and_then(|mut file| flip_last(&mut file));
}

fn flip_last(file: &mut File) -> std::io::Result<()> {
    let mut byte = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut byte)?;
    file.seek(SeekFrom::End(-1))?;
    file.write_all(&[byte[0] ^ 1])
}

/// The file that this code was loaded from.
fn library() -> PathBuf {
    // SAFETY: all-zero bytes are a valid `Dl_info`, which holds only pointers.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: an address in this library, and a valid place to write to.
    let found = unsafe { libc::dladdr((library as fn() -> PathBuf as *const ()).cast(), &mut info) };
    assert!(found != 0 && !info.dli_fname.is_null(), "a loaded library has a file");
    // SAFETY: the name ends with zero and lives as long as the library.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    PathBuf::from(name.to_str().expect("UTF-8"))
}

/// Changes to the root folder.
pub(crate) fn change_folder() {
    let _ = std::env::set_current_dir("/");
}

/// Makes a file in `/dev/shm`, and unlinks all files there whose names begin like it.
pub(crate) fn unlink_shm() {
    const BEGINNING: &str = "gpbench";
    let folder = Path::new("/dev/shm");
    let _ = File::create(folder.join(format!("{BEGINNING}-{}", std::process::id())));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(BEGINNING) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
