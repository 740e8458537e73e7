//! `gpbench plugin new`: writes a complete small plugin as a starting point.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;

use super::template::{self, Kind, Language};
use crate::exit::{Failure, OK, Outcome};
use crate::output::{self, shell_command};

/// The SDK's folder in a checkout.
const SDK: &str = "harness/sdk";

/// The spec that a new plugin is first run with.
fn first_spec(kind: Kind) -> &'static str {
    match kind {
        Kind::Solver => "benchmarks/quickstart.toml",
        Kind::Learner => "benchmarks/learners-small.toml",
    }
}

/// Names that a Rust plugin cannot have: keywords, and crates that it depends on.
const RESERVED: &str = "\
    alloc as async await box break const continue core crate dyn else enum extern false fn for gen \
    gpbench-abi gpbench-sdk if impl in let loop match mod move mut ndarray pub ref return self \
    static std struct super test trait true type union unsafe use where while yield";

/// `gpbench plugin new`.
#[derive(Debug, Args)]
pub(crate) struct New {
    /// Name of the plugin and of its solver or learner: lower-case letters, digits and hyphens.
    name: String,
    /// Language of the plugin.
    #[arg(long, value_enum, default_value_t = Language::Rust)]
    lang: Language,
    /// A learner, which finds hyperparameters and predicts by itself, in place of a solver.
    #[arg(long)]
    learner: bool,
    /// Folder to write, which must not exist; NAME in the current folder by default.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// The folder `harness/sdk` of a checkout of gpbench, for Rust; by default that of the checkout around the
    /// current folder or around this program.
    #[arg(long, value_name = "DIR")]
    sdk: Option<PathBuf>,
}

pub(super) fn new(args: &New) -> Outcome {
    let (name, language) = (args.name.as_str(), args.lang);
    let kind = if args.learner { Kind::Learner } else { Kind::Solver };
    check_name(name)?;
    let folder = args.dir.clone().unwrap_or_else(|| PathBuf::from(name));
    if folder.exists() {
        let text = format!("{} exists; choose another folder with `--dir`", folder.display());
        return Err(Failure::usage(text));
    }
    let mut files = template::files(kind, language, name).ok_or_else(|| {
        Failure::usage(
            "there is no example of a learner in Fortran: take `--lang c` or Rust, or write one with the types of \
             harness/abi/include/gpbench.f90",
        )
    })?;
    let mut root = checkout();
    if language == Language::Rust {
        let sdk = find_sdk(args.sdk.as_deref(), root.as_deref())?;
        let path = sdk.to_str().ok_or_else(|| {
            Failure::usage(format!(
                "{}: a Cargo.toml cannot name this folder, which is not UTF-8; move the checkout",
                sdk.display()
            ))
        })?;
        files.insert(0, template::manifest(kind, name, path));
        root = root.or_else(|| sdk.ancestors().nth(2).map(Path::to_owned));
    }
    for (path, text) in &files {
        let file = folder.join(path);
        output::write_file(&file, text)
            .map_err(|e| Failure::usage(format!("{} cannot be written: {e}", file.display())))?;
    }
    let paths: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    output::print(&format!(
        "wrote {}: {}\n\nNext:\n{}",
        folder.display(),
        paths.join(", "),
        next(name, (kind, language), &folder, root.as_deref())
    ))?;
    Ok(OK)
}

fn check_name(name: &str) -> Result<(), Failure> {
    let is_word = |word: &str| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    let starts_with_letter = name.starts_with(|first: char| first.is_ascii_lowercase());
    if !starts_with_letter || name.len() > 40 || !name.split('-').all(is_word) {
        return Err(Failure::usage(format!(
            "`{name}` cannot name a plugin: use at most 40 lower-case letters, digits and single hyphens, such as \
             `my-solver`"
        )));
    }
    if RESERVED.split(' ').any(|reserved| reserved == name) {
        return Err(Failure::usage(format!("`{name}` is a reserved name; try `{name}-solver`")));
    }
    Ok(())
}

/// The SDK: the given folder, or that of the checkout.
fn find_sdk(given: Option<&Path>, checkout: Option<&Path>) -> Result<PathBuf, Failure> {
    let found = match given {
        Some(folder) if !folder.join("Cargo.toml").is_file() => {
            return Err(Failure::usage(format!(
                "--sdk {}: this folder has no Cargo.toml; give the folder {SDK} of a checkout of gpbench",
                folder.display()
            )));
        }
        Some(folder) => folder.to_owned(),
        None => checkout.map(|root| root.join(SDK)).ok_or_else(|| {
            Failure::usage(format!(
                "no {SDK} above the current folder; run this in a checkout of gpbench, or give the folder: \
                 `--sdk DIR`"
            ))
        })?,
    };
    found.canonicalize().map_err(|e| Failure::usage(format!("{}: {e}", found.display())))
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
    };
    let spec = [Path::new(""), root.unwrap_or(Path::new(""))].map(|root| root.join(first_spec(kind)));
    let spec = spec.into_iter().find(|spec| spec.exists()).unwrap_or_else(|| PathBuf::from("SPEC.toml"));
    let program = std::env::args_os().next().unwrap_or_else(|| "gpbench".into());
    let (spec, library) = (spec.into_os_string(), library.into_os_string());
    let test = vec![program.clone(), "plugin".into(), "test".into(), library.clone()];
    let run = vec![program, "run".into(), spec, "--library".into(), library];
    let line = |words: Vec<OsString>| format!("  {}\n", shell_command(words.iter().map(OsString::as_os_str)));
    [build, test, run].into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_kebab_case() {
        for good in ["mine", "my-solver", "sgd-2", "a"] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        for bad in
            ["", "My-solver", "my_solver", "2fast", "-a", "a-", "a--b", "a b", "ä", "../a", "match", "std"]
        {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }
}
