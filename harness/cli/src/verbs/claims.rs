//! `gpbench claims`: the papers' claims, with verdicts that follow from published runs.

use std::path::PathBuf;

use clap::Args;
use gpbench_report::{CLAIMS, ClaimsPage, claims as page_of};

use super::coverage::{check, require_published, write};
use crate::args::Global;
use crate::exit::{Failure, OK, Outcome, REGRESSION};
use crate::notice::say;

/// `gpbench claims`.
#[derive(Debug, Args)]
pub(crate) struct Claims {
    /// The folder of published runs; the page is written to `claims/` in it.
    #[arg(default_value = "reports/published")]
    published: PathBuf,
    /// The list of claims. Specs are looked for in the folder above its own.
    #[arg(long, value_name = "FILE", default_value = "benchmarks/reference/claims.toml")]
    list: PathBuf,
    /// Write nothing, and fail where the page is not what would be written.
    #[arg(long)]
    check: bool,
}

pub(crate) fn claims(global: &Global, args: &Claims) -> Outcome {
    require_published(&args.published)?;
    let ClaimsPage { text, faults } = page_of(&args.published, &args.list).map_err(Failure::usage)?;
    let folder = args.published.join(CLAIMS);
    let name = "README.md".to_owned();
    if args.check {
        return check(&folder, &[(name, text)], &faults, "claims");
    }
    if !faults.is_empty() {
        faults.iter().for_each(say);
        return Ok(REGRESSION);
    }
    write(&folder.join(&name), &text)?;
    if !global.quiet {
        say(format_args!("{}", folder.join(name).display()));
    }
    Ok(OK)
}
