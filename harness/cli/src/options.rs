//! The verbs that have each of the shared options. Other verbs neither show nor accept it.

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, Error};

/// An option, and the verbs that have it.
pub(crate) const OPTIONS: [(&str, &[&str]); 3] = [
    (
        "output_dir",
        &[
            "run", "check", "list", "report", "merge", "pack", "unpack", "verify", "status", "watch",
            "cancel", "compare", "history", "site", "clean",
        ],
    ),
    (
        "data_dir",
        &[
            "run",
            "plan",
            "check",
            "verify",
            "list",
            "data list",
            "data fetch",
            "data verify",
            "bench",
            "doctor",
        ],
    ),
    ("verbose", &["run", "plan", "check", "list", "plugin test"]),
];

/// Parses the command line of a program.
///
/// # Errors
/// Also help and the version are errors.
pub(crate) fn parse(program: Command) -> Result<ArgMatches, Error> {
    let mut program = with_own_options(program);
    let matches = program.try_get_matches_from_mut(std::env::args_os())?;
    require_known_options(&mut program, &matches)?;
    Ok(matches)
}

/// The program, in which each verb shows its own options alone.
pub(crate) fn with_own_options(program: Command) -> Command {
    let options: Vec<Arg> = program.get_arguments().cloned().collect();
    let verbs: Vec<String> = program.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    verbs.iter().fold(program, |program, name| {
        program.mut_subcommand(name, |verb| hide_foreign(verb, name.clone(), &options))
    })
}

/// Hides the options that a verb does not have. `path` is its name with those of the verbs above it.
fn hide_foreign(verb: Command, path: String, options: &[Arg]) -> Command {
    let parts: Vec<String> = verb.get_subcommands().map(|part| part.get_name().to_owned()).collect();
    let verb = parts.iter().fold(verb, |verb, part| {
        let path = format!("{path} {part}");
        verb.mut_subcommand(part, |part| hide_foreign(part, path, options))
    });
    let foreign = options.iter().filter(|option| !has(&path, option.get_id().as_str()));
    foreign.fold(verb, |verb, option| verb.arg(option.clone().hide(true)))
}

/// Whether a verb, or one below it, has an option.
fn has(path: &str, option: &str) -> bool {
    let verbs = OPTIONS.iter().find(|(name, _)| *name == option).map(|(_, verbs)| *verbs);
    let is_of = |verb: &&str| path.starts_with(*verb) || verb.starts_with(path);
    verbs.is_none_or(|verbs| verbs.iter().any(is_of))
}

/// Refuses an option that was given to a verb that does not have it.
fn require_known_options(program: &mut Command, matches: &ArgMatches) -> Result<(), Error> {
    let mut path = Vec::new();
    let mut below = matches;
    while let Some((verb, matches)) = below.subcommand() {
        path.push(verb);
        below = matches;
    }
    let path = path.join(" ");
    for (option, verbs) in OPTIONS {
        if below.value_source(option) == Some(ValueSource::CommandLine) && !has(&path, option) {
            let option = option.replace('_', "-");
            let text = format!(
                "`gpbench {path}` has no option `--{option}`; these verbs have it: {}",
                verbs.join(", ")
            );
            return Err(program.error(ErrorKind::UnknownArgument, text));
        }
    }
    Ok(())
}
