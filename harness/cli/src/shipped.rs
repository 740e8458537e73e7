//! Files that come with the program: those of the checkout, the release archive or the Python package that it lies in.

use std::path::{Path, PathBuf};

/// The folder of specs in a checkout, an archive and the Python package.
const SPECS: &str = "benchmarks";

/// A spec as the user names it. A path such as `benchmarks/quickstart.toml` that the current folder does not have is that of the
/// files around this program, so that the commands of the pages work in every folder.
pub(crate) fn spec(path: PathBuf) -> PathBuf {
    if !path.starts_with(SPECS) || path.exists() {
        return path;
    }
    let program = std::env::current_exe().unwrap_or_default();
    around(&program, &path).unwrap_or(path)
}

/// A file by its path in the nearest folder above a program that has it.
fn around(program: &Path, path: &Path) -> Option<PathBuf> {
    program.ancestors().skip(1).map(|folder| folder.join(path)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_found_in_the_nearest_folder_above() {
        let folder = tempfile::tempdir().unwrap();
        let spec = Path::new("benchmarks/quickstart.toml");
        let program = folder.path().join("bin/gpbench");
        assert_eq!(around(&program, spec), None);
        for place in ["benchmarks", "bin/benchmarks"] {
            std::fs::create_dir_all(folder.path().join(place)).unwrap();
            let file = folder.path().join(place).join("quickstart.toml");
            std::fs::write(&file, "").unwrap();
            assert_eq!(around(&program, spec), Some(file));
        }
    }

    #[test]
    fn other_paths_stay_as_they_are() {
        for path in ["spec.toml", "-", "/benchmarks/absent.toml", "benchmarks/absent.toml"] {
            assert_eq!(spec(path.into()), Path::new(path));
        }
    }
}
