//! The language of `x.stub`: one fact a line, a word and what follows it.
//!
//! | line | meaning |
//! |---|---|
//! | `id ID` | the solver's id; `stub` otherwise |
//! | `uses FILE` | a part: a file beside the script |
//! | `package NAME VERSION FILE` | a part: a package with this list of files, beside the script |
//! | `needs FILE` | without this file beside the script, what the library needs is absent |
//! | `reports FILE` | a file beside the script that is reported as a part while solving |
//! | `burns SECONDS` | processor seconds that the child uses in `solve` |
//! | `starts SECONDS` | processor seconds that the child uses in the first `create` |
//! | `warms SECONDS` | processor seconds that the child uses in `warm_up` |
//! | `holds MEBIBYTES` | memory of the child |
//! | `orphan` | the child is not adopted |
//! | `fails TEXT` | the description fails |

use std::path::{Path, PathBuf};

use gpbench_sdk::{Error, Result};

/// A script that has been read.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) file: PathBuf,
    /// The program that the user named to run it.
    pub(crate) runtime: String,
    pub(crate) id: String,
    pub(crate) uses: Vec<String>,
    pub(crate) packages: Vec<[String; 3]>,
    pub(crate) reports: Option<String>,
    pub(crate) burns: f64,
    pub(crate) starts: f64,
    pub(crate) warms: f64,
    pub(crate) holds: usize,
    pub(crate) is_orphan: bool,
}

impl Script {
    /// Reads a script.
    pub(crate) fn read(file: &str, runtime: &str) -> Result<Script> {
        let text = std::fs::read_to_string(file).map_err(|error| Error::new(format!("{file}: {error}")))?;
        let mut script = Script {
            file: file.into(),
            runtime: runtime.to_owned(),
            id: "stub".to_owned(),
            ..Script::default()
        };
        for (number, line) in (1..).zip(text.lines()) {
            let wrong = || Error::new(format!("line {number} of {file} is not of the language: `{line}`"));
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            let amount = || rest.parse::<f64>().map_err(|_| wrong());
            match word {
                "" | "#" => {}
                "id" => script.id = rest.to_owned(),
                "uses" => script.uses.push(rest.to_owned()),
                "package" => {
                    let fields: Vec<String> = rest.split(' ').map(str::to_owned).collect();
                    script.packages.push(fields.try_into().map_err(|_| wrong())?);
                }
                "needs" if !script.beside(rest).is_file() => {
                    return Err(Error::Unsupported(format!("needs {rest}")));
                }
                "needs" => {}
                "reports" => script.reports = Some(rest.to_owned()),
                "burns" => script.burns = amount()?,
                "starts" => script.starts = amount()?,
                "warms" => script.warms = amount()?,
                "holds" => script.holds = amount()? as usize,
                "orphan" => script.is_orphan = true,
                "fails" => return Err(Error::new(rest)),
                _ => return Err(wrong()),
            }
        }
        Ok(script)
    }

    /// A file beside the script.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.file.parent().unwrap_or(Path::new("/")).join(name)
    }
}
