//! Descriptions of plugin libraries: output of `gpbench-worker describe`.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{Part, PartKind, Program, ProgramError, SolverInfo};

/// Description of a plugin library.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LibraryInfo {
    /// The library's own name.
    pub name: String,
    /// The library's own version.
    pub version: String,
    /// The file.
    #[serde(with = "crate::path")]
    pub file: PathBuf,
    /// Identity of the library, made by [`Composition::identity`]: SHA-256 of the file, or of the list of parts.
    pub sha256: String,
    /// Interface version, `major.minor`.
    pub abi: String,
    /// The solvers and learners of the library.
    pub solvers: Vec<SolverInfo>,
    /// What the library consists of beside its file.
    #[serde(flatten)]
    pub composition: Composition,
}

/// A library that cannot be used on this machine because something that it needs is not installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AbsentLibrary {
    /// The file.
    #[serde(with = "crate::path")]
    pub file: PathBuf,
    /// The program that was to run it, as the user named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// What it needs, in the library's words.
    pub absent: String,
}

/// A library of a plan that consists of more than its file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComposedLibrary {
    /// The file.
    #[serde(with = "crate::path")]
    pub file: PathBuf,
    /// Its identity.
    pub sha256: String,
    /// What it consists of beside the file.
    #[serde(flatten)]
    pub composition: Composition,
}

/// What a library consists of beside its own file. Nothing, for most libraries.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Composition {
    /// The shared object that serves a library that is a script.
    #[serde(default, with = "crate::path::optional", skip_serializing_if = "Option::is_none")]
    pub bridge: Option<PathBuf>,
    /// The program that runs a script, as the user named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// All parts. If there are any, the file itself and the bridge are among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
}

impl Composition {
    /// The composition of a library that describes these parts: with its file and its bridge, unless there is neither a bridge
    /// nor a part.
    ///
    /// # Errors
    /// If a part cannot be read, or has other content than it was described with.
    pub fn of(
        file: &Program,
        bridge: Option<&Path>,
        runtime: Option<&str>,
        described: &[Part],
    ) -> Result<Composition, ProgramError> {
        let runtime = runtime.map(str::to_owned);
        if bridge.is_none() && described.is_empty() {
            return Ok(Composition { runtime, ..Composition::default() });
        }
        let mut parts = described.to_vec();
        for part in &parts {
            Program::of(&part.path)?.matching(&part.sha256)?;
        }
        for program in [Ok(file.clone())].into_iter().chain(bridge.map(Program::of)) {
            let program = program?;
            if !parts.iter().any(|part| is_file(&part.path, &program.file)) {
                let name = program.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let Program { file: path, sha256, stamp: _ } = program;
                parts.push(Part { kind: PartKind::File, name, version: String::new(), path, sha256 });
            }
        }
        Ok(Composition { bridge: bridge.map(Path::to_owned), runtime, parts })
    }

    /// Whether there is nothing beside the file.
    pub fn is_empty(&self) -> bool {
        *self == Composition::default()
    }

    /// The identity of a library with this composition, whose file has the hash `sha256`: that hash, if there are no
    /// parts. Else it is the SHA-256 of a line for each part, `KIND TAB NAME TAB VERSION TAB SHA256 LF`, in the order of the
    /// lines' bytes.
    pub fn identity(&self, sha256: &str) -> String {
        if self.parts.is_empty() {
            return sha256.to_owned();
        }
        let line = |part: &Part| format!("{}\t{}\t{}\t{}\n", part.kind, part.name, part.version, part.sha256);
        let mut lines: Vec<String> = self.parts.iter().map(line).collect();
        lines.sort_unstable();
        let hash = Sha256::digest(lines.concat().as_bytes());
        hash.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Whether two paths lead to the same file.
fn is_file(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    one == other || real(one) == real(other)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_library_without_parts_is_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("library.so");
        fs::write(&file, "abc").unwrap();
        let program = Program::of(&file).unwrap();
        let composition = Composition::of(&program, None, None, &[]).unwrap();
        assert_eq!(composition, Composition::default());
        assert_eq!(composition.identity(&program.sha256), program.sha256);
    }

    #[test]
    fn a_script_is_its_parts_whatever_their_order_and_their_folder() {
        let folder = tempfile::tempdir().unwrap();
        let made = |place: &str, helper: &str| {
            let place = folder.path().join(place);
            fs::create_dir_all(&place).unwrap();
            let [script, bridge, other] = ["a.stub", "bridge.so", "helper.txt"].map(|name| place.join(name));
            fs::write(&script, "script").unwrap();
            fs::write(&bridge, "bridge").unwrap();
            fs::write(&other, helper).unwrap();
            let part = |path: &Path| Part {
                kind: PartKind::File,
                name: path.file_name().unwrap().to_str().unwrap().to_owned(),
                version: String::new(),
                path: path.to_owned(),
                sha256: Program::of(path).unwrap().sha256,
            };
            let program = Program::of(&script).unwrap();
            let forth = Composition::of(&program, Some(&bridge), None, &[part(&other)]).unwrap();
            let back =
                Composition::of(&program, Some(&bridge), None, &[part(&bridge), part(&script), part(&other)]);
            let back = back.unwrap();
            assert_eq!((forth.parts.len(), back.parts.len()), (3, 3));
            assert_eq!(forth.identity("x"), back.identity("x"));
            forth.identity("x")
        };
        let first = made("one", "1");
        assert_eq!(first, made("two", "1"));
        assert_ne!(first, made("two", "2"));
    }

    #[test]
    fn a_part_with_other_content_than_described_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.stub");
        fs::write(&file, "abc").unwrap();
        let program = Program::of(&file).unwrap();
        let part = Part {
            kind: PartKind::File,
            name: "a.stub".to_owned(),
            version: String::new(),
            path: file.clone(),
            sha256: program.sha256.replace('b', "c"),
        };
        let error = Composition::of(&program, None, None, &[part]).unwrap_err().to_string();
        assert!(error.contains("a.stub has changed"), "{error}");
    }
}
