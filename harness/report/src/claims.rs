//! The papers' claims, each with a verdict that follows from published runs.
//!
//! A list (`benchmarks/reference/claims.toml`) states each claim, what is computed of which runs, the rule by which a
//! number supports the claim, and the verdict. Numbers come from files of the published folders alone, so the page changes only
//! with them and with the list: from pairs of the same seed where a folder has its cases (`seeds`), and else from its
//! `summary.json`. A verdict that contradicts its own rules is a fault, as is a name that no run has.

mod claim_verdict;
mod compute;
mod faults;
mod list;
mod page;
mod rule;
mod seeds;
mod summaries;
mod terms;

use std::path::Path;

use crate::error::Result;
use crate::reference::Reference;
use claim_verdict::JudgedClaim;
use compute::Sources;
use faults::Faults;
use list::ClaimList;
use summaries::Summaries;

/// Folder of the page, beside the published runs.
pub const CLAIMS: &str = "claims";

/// The page of claims, and what is wrong with the list that it was made from.
#[derive(Debug)]
pub struct ClaimsPage {
    /// Markdown.
    pub text: String,
    /// Lines with file, line, column and what to do: names that no run has, and verdicts that contradict their rules.
    pub faults: Vec<String>,
}

/// The page of a list of claims, from a folder of published runs.
///
/// # Errors
/// If the list or a summary cannot be read or is not of its form.
pub fn claims(published: &Path, list: &Path) -> Result<ClaimsPage> {
    let (claims, text) = ClaimList::read(list)?;
    let names = claims.runs();
    let runs = seeds::runs(published, &names)?;
    let frames = seeds::frames(&runs)?;
    let sources = Sources { summaries: Summaries::read(published, &names)?, frames: &frames };
    let mut faults = Faults::default();
    // The list is in `benchmarks/reference`, and specs are named relative to `benchmarks`.
    let specs = list.parent().and_then(Path::parent).unwrap_or(Path::new("."));
    let judged: Vec<JudgedClaim<'_>> =
        claims.claim.iter().map(|claim| JudgedClaim::new(claim, specs, &sources, &mut faults)).collect();
    let papers: Vec<(&str, Reference)> =
        Reference::names().filter_map(|name| Some((name, Reference::named(name)?))).collect();
    Ok(ClaimsPage { text: page::page(&papers, &judged, &claims.term), faults: faults.lines(list, &text) })
}
