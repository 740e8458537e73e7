//! Neutral names in the place of those of this machine and its user, in runs that others will read.

use std::path::PathBuf;
use std::{env, fs};

use gpbench_runs::{NeutralNames, ReplacedName};

use crate::args::Global;
use crate::notice::say;

/// The names of this machine and its user, with neutral ones.
pub(crate) fn names() -> NeutralNames {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").ok().map(|name| name.trim().into());
    let names: [(Option<PathBuf>, &str); 4] = [
        (env::current_dir().ok(), NeutralNames::WORK),
        (env::var_os("HOME").map(PathBuf::from), NeutralNames::HOME),
        (Some(env::temp_dir()), NeutralNames::TEMPORARY),
        (host, NeutralNames::HOST),
    ];
    NeutralNames::new(names.into_iter().filter_map(|(name, by)| {
        let name = name?.to_str()?.trim_end_matches('/').to_owned();
        Some((name, by.to_owned()))
    }))
}

/// Lists the names that were replaced.
pub(crate) fn tell(global: &Global, replaced: &[ReplacedName]) {
    for ReplacedName { name, by, count } in replaced.iter().filter(|_| !global.quiet) {
        say(format_args!("replaced: {name} by {by}, {count} times"));
    }
}
