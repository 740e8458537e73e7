//! `gpbench plugin new`: writes a complete small plugin as a starting point.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use gpbench_record::LibraryInfo;

use super::template::{self, Kind, Language, Sdk};
use crate::catalog;
use crate::exit::{Failure, OK, Outcome};
use crate::output::{self, shell_command};
use crate::worker::Worker;

/// The SDK's folder in a checkout.
const SDK: &str = "harness/sdk";

/// The placeholder for a spec where there is no checkout.
const UNKNOWN_SPEC: &str = "SPEC.toml";

/// The spec of a checkout that a new plugin is first run with.
fn spec_in(checkout: &Path, kind: Kind) -> Option<PathBuf> {
    let spec = checkout.join(match kind {
        Kind::Solver => "benchmarks/quickstart.toml",
        Kind::Learner => "benchmarks/learners-small.toml",
    });
    spec.exists().then_some(spec)
}

/// Names that a plugin cannot have: keywords of Rust, crates that it depends on, and the name of the interface's files beside
/// the source of a plugin in C or Fortran.
const RESERVED: &str = "\
    alloc as async await box break const continue core crate dyn else enum extern false fn for \
    gen gpbench gpbench-abi gpbench-host gpbench-numerics gpbench-sdk gpbench-terms gpbench-testing if impl \
    in let loop match mod move mut ndarray pub ref return self static std struct super test trait \
    true type union unsafe use where while yield";

/// Names of one word that a file in Python cannot have: keywords, and modules that it would hide.
const RESERVED_IN_PYTHON: &str = include_str!("python_names.txt");

/// The folder of the Python package in a checkout.
const PYTHON_PACKAGE: &str = "plugins/python";

/// `gpbench plugin new`.
#[derive(Debug, Args)]
pub(crate) struct New {
    /// Name of the plugin and of its solver or learner: lower-case letters, digits and hyphens.
    name: String,
    /// Language of the plugin.
    #[arg(long, value_enum, default_value_t = Language::Rust)]
    lang: Language,
    /// Write a learner, which finds hyperparameters and predicts by itself, in place of a solver; in Rust, C or Python.
    #[arg(long)]
    learner: bool,
    /// Folder to write, which must not exist; NAME in the current folder by default. In Python: the folder of the two files,
    /// by default the current one.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// The folder `harness/sdk` of a checkout of gpbench, or a version of `gpbench-sdk` in a registry, for Rust; by default
    /// the folder of the checkout around the current folder or around this program.
    #[arg(long, value_name = "DIR|VERSION")]
    sdk: Option<PathBuf>,
}

pub(super) fn new(args: &New) -> Outcome {
    let (name, language) = (args.name.as_str(), args.lang);
    let kind = if args.learner { Kind::Learner } else { Kind::Solver };
    check_name(name)?;
    if language == Language::Python {
        check_module(name)?;
    }
    check_free(name)?;
    let folder = args.dir.clone().unwrap_or_else(|| match language {
        Language::Python => PathBuf::new(),
        _ => PathBuf::from(name),
    });
    if language != Language::Python {
        check_new(&folder)?;
    }
    let mut root = checkout();
    let mut manifest = None;
    if language == Language::Rust {
        let sdk = find_sdk(args.sdk.as_deref(), root.as_deref())?;
        manifest = Some(template::manifest(kind, name, &sdk));
        if let Sdk::Path(folder) = &sdk {
            root = root.or_else(|| Path::new(folder).ancestors().nth(2).map(Path::to_owned));
        }
    }
    let spec = root.as_deref().and_then(|root| spec_in(root, kind)).unwrap_or_else(|| UNKNOWN_SPEC.into());
    let mut files = template::files(kind, language, name, &spec.to_string_lossy()).ok_or_else(|| {
        Failure::usage(
            "there is no example of a learner in Fortran: take `--lang c` or Rust, or write one with the types of \
             harness/abi/include/gpbench.f90",
        )
    })?;
    files.splice(0..0, manifest);
    if language == Language::Python {
        files.iter().try_for_each(|(path, _)| check_new(&folder.join(path)))?;
    }
    for (path, text) in &files {
        let file = folder.join(path);
        output::write_file(&file, text)
            .map_err(|e| Failure::usage(format!("{} cannot be written: {e}", file.display())))?;
    }
    let paths: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    let place = if folder.as_os_str().is_empty() { String::new() } else { format!("{}: ", folder.display()) };
    output::print(&format!(
        "wrote {place}{}\n\nNext:\n{}",
        paths.join(", "),
        next(name, (kind, language), &folder, root.as_deref())
    ))?;
    Ok(OK)
}

/// Fails if a file or folder that would be written exists.
fn check_new(path: &Path) -> Result<(), Failure> {
    if path.exists() {
        let text = format!("{} exists; choose another folder with `--dir`", path.display());
        return Err(Failure::usage(text));
    }
    Ok(())
}

/// Fails if a file of this name in Python could not be imported, or would hide another module.
fn check_module(name: &str) -> Result<(), Failure> {
    if RESERVED_IN_PYTHON.split_whitespace().any(|reserved| reserved == name) {
        return Err(Failure::usage(format!(
            "a file {name}.py would hide the module of that name, or cannot be imported; try `my-{name}`"
        )));
    }
    Ok(())
}

fn check_name(name: &str) -> Result<(), Failure> {
    let is_word = |word: &str| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    let starts_with_letter = name.starts_with(|first: char| first.is_ascii_lowercase());
    if !starts_with_letter || name.len() > 40 || !name.split('-').all(is_word) {
        return Err(Failure::usage(format!(
            "`{name}` cannot name a plugin: use at most 40 lower-case letters, digits and single hyphens, such as \
             `my-method`"
        )));
    }
    if RESERVED.split(' ').any(|reserved| reserved == name) {
        return Err(Failure::usage(format!("`{name}` is a reserved name; try `my-{name}`")));
    }
    Ok(())
}

/// Fails if an installed plugin offers a solver or learner of this name. A spec could then name neither without its
/// library. Without a worker nothing is known to be installed.
fn check_free(name: &str) -> Result<(), Failure> {
    let Ok(installed) = Worker::locate().and_then(|worker| catalog::libraries(&worker, &[])) else {
        return Ok(());
    };
    let offers = |library: &&LibraryInfo| library.solvers.iter().any(|solver| solver.id == name);
    match installed.usable.iter().find(offers) {
        Some(library) => Err(Failure::usage(format!(
            "`{name}` is taken: {} offers it; choose another name, such as `my-{name}`",
            library.file.display()
        ))),
        None => Ok(()),
    }
}

/// The SDK: the given folder or version, or the folder of the checkout.
fn find_sdk(given: Option<&Path>, checkout: Option<&Path>) -> Result<Sdk, Failure> {
    if let Some(version) = given.and_then(Path::to_str).filter(|text| is_version(text)) {
        return Ok(Sdk::Version(version.to_owned()));
    }
    let found = match given {
        Some(folder) if !folder.join("Cargo.toml").is_file() => {
            return Err(Failure::usage(format!(
                "--sdk {}: this folder has no Cargo.toml; give the folder {SDK} of a checkout of gpbench, or a version of gpbench-sdk such as 0.1",
                folder.display()
            )));
        }
        Some(folder) => folder.to_owned(),
        None => checkout.map(|root| root.join(SDK)).ok_or_else(|| {
            Failure::usage(format!(
                "no {SDK} above the current folder; run this in a checkout of gpbench, or give the folder or a \
                 version of gpbench-sdk: `--sdk DIR`, `--sdk 0.1`"
            ))
        })?,
    };
    let folder = found.canonicalize().map_err(|e| Failure::usage(format!("{}: {e}", found.display())))?;
    let text = folder.to_str().ok_or_else(|| {
        Failure::usage(format!(
            "{}: a Cargo.toml cannot name this folder, which is not UTF-8; move the checkout",
            folder.display()
        ))
    })?;
    Ok(Sdk::Path(text.to_owned()))
}

/// Whether a text is a version such as `0.1` or `0.1.0`.
fn is_version(text: &str) -> bool {
    let numbers: Vec<&str> = text.split('.').collect();
    numbers.len() <= 3
        && numbers.iter().all(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The checkout around the current folder, or else around this program.
fn checkout() -> Option<PathBuf> {
    let starts = [std::env::current_dir(), std::env::current_exe()];
    let mut folders = starts.iter().flatten().flat_map(|start| start.ancestors());
    folders.find(|folder| folder.join(SDK).join("Cargo.toml").is_file()).map(Path::to_owned)
}

/// The commands that build, test and run the new plugin.
fn next(name: &str, (kind, language): (Kind, Language), folder: &Path, root: Option<&Path>) -> String {
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let file = format!("{prefix}{}{suffix}", template::snake_case(name));
    let (build, library) = match language {
        Language::Rust => {
            let manifest = folder.join("Cargo.toml");
            let target =
                std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| folder.join("target"), PathBuf::from);
            let build = ["cargo", "build", "--release", "--manifest-path"].map(OsString::from);
            ([&build[..], &[manifest.into()]].concat(), target.join("release").join(file))
        }
        Language::C | Language::Fortran => {
            (vec!["make".into(), "-C".into(), folder.into()], folder.join(file))
        }
        Language::Python => {
            let module = template::snake_case(name);
            (pytest(&folder.join(format!("test_{module}.py")), root), folder.join(format!("{module}.py")))
        }
    };
    let places = [Some(Path::new("")), root];
    let spec = places.into_iter().flatten().find_map(|root| spec_in(root, kind));
    let spec = spec.unwrap_or_else(|| UNKNOWN_SPEC.into());
    let program = std::env::args_os().next().unwrap_or_else(|| "gpbench".into());
    let (spec, library) = (spec.into_os_string(), library.into_os_string());
    let test = vec![program.clone(), "plugin".into(), "test".into(), library.clone()];
    let run = vec![program, "run".into(), spec, "--library".into(), library];
    let line = |words: Vec<OsString>| format!("  {}\n", shell_command(words.iter().map(OsString::as_os_str)));
    [build, test, run].into_iter().map(line).collect()
}

/// The command that runs the tests of a file in Python. In a checkout the package need not be installed.
fn pytest(tests: &Path, root: Option<&Path>) -> Vec<OsString> {
    let package = root.map(|root| root.join(PYTHON_PACKAGE)).filter(|folder| folder.is_dir());
    let path = package.map(|folder| {
        let mut path = OsString::from("PYTHONPATH=");
        path.push(folder);
        [OsString::from("env"), path]
    });
    let python = ["python3", "-m", "pytest"].map(OsString::from);
    path.into_iter().flatten().chain(python).chain([tests.into()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_not_a_folder() {
        for version in ["0", "0.1", "1.20.3"] {
            assert_eq!(find_sdk(Some(Path::new(version)), None).ok(), Some(Sdk::Version(version.to_owned())));
        }
        assert!(!is_version("0.1.") && !is_version("./0.1") && !is_version("1.2.3.4"));
    }

    #[test]
    fn names_are_in_kebab_case() {
        for good in ["mine", "my-solver", "sgd-2", "a"] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "My-solver",
            "my_solver",
            "2fast",
            "-a",
            "a-",
            "a--b",
            "a b",
            "ä",
            "../a",
            "match",
            "std",
            "gpbench",
        ] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }
}
