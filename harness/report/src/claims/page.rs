//! The page: counts, then the claims of each paper.

use std::fmt::Write as _;

use super::claim_verdict::{JudgedClaim, JudgedEvidence};
use super::compute::Computed;
use super::list::{Compute, Verdict};
use super::rule::Bound;
use crate::escape::{markdown, markdown_block};
use crate::number::{range, short, times};
use crate::reference::Reference;
use crate::table::TextTable;

/// Most numbers that a cell lists one by one.
const LISTED: usize = 6;

/// The text of the page.
pub(super) fn page(papers: &[(&str, Reference)], claims: &[JudgedClaim<'_>]) -> String {
    let mut out = format!(
        "# Do the papers' claims hold?\n\nClaims of four papers, in our words, beside what was measured here. `gpbench claims` writes this \
         page from `benchmarks/reference/claims.toml` and from the published runs in this folder's neighbours.\n\n{}\n{}",
        counts(papers, claims).markdown(),
        CONVENTIONS
    );
    for (name, reference) in papers {
        let own = || claims.iter().filter(|judged| judged.claim.paper.get_ref() == name);
        if own().next().is_none() {
            continue;
        }
        let _ = write!(
            out,
            "\n## {}\n\n{}\n",
            markdown(&reference.paper.short),
            markdown_block(&reference.paper.entry)
        );
        for (i, judged) in own().enumerate() {
            claim(&mut out, i + 1, judged);
        }
    }
    out
}

const CONVENTIONS: &str = "\
- **holds**: the numbers keep the rules beside them. **holds in part**: some do, or only a part of the claim was measured. **does not hold \
  here**: none does. **not measured**: no number was measured that speaks for the claim or against it.\n\
- A number is a mean over seeds, with its standard error; one seed has none. Errors of two sides are combined as if they were independent, \
  which is too wide where both sides have the same splits; the runs' own reports have pairs.\n\
- A ratio of epochs may come from any run: an epoch is n^2 kernel entries, whatever the machine does besides. Seconds count only from \
  runs beside which other programs are known to have used little of the processors.\n\
- \"at least\" and \"at most\": solves of one side ended at the limit of their budget before they reached the tolerance.\n\
- Hours are estimates for two cores of what is missing, and not measured.\n";

/// Numbers of verdicts, paper by paper.
fn counts(papers: &[(&str, Reference)], claims: &[JudgedClaim<'_>]) -> TextTable {
    let mut table = TextTable::new("").words("paper").numbers("claims");
    for verdict in Verdict::ALL {
        table = table.numbers(verdict.as_str());
    }
    table = table.numbers("hours for what is missing");
    for (name, reference) in papers {
        let own: Vec<&JudgedClaim<'_>> =
            claims.iter().filter(|judged| judged.claim.paper.get_ref() == name).collect();
        table.row(counted(&reference.paper.short, &own));
    }
    table.row(counted("all", &claims.iter().collect::<Vec<_>>()));
    table
}

fn counted(title: &str, claims: &[&JudgedClaim<'_>]) -> Vec<String> {
    let of =
        |verdict: Verdict| claims.iter().filter(|judged| *judged.claim.verdict.get_ref() == verdict).count();
    let hours: f64 =
        claims.iter().filter_map(|judged| judged.claim.hours).fold(0.0, |sum, hours| sum + hours);
    let mut cells = vec![title.to_owned(), claims.len().to_string()];
    cells.extend(Verdict::ALL.map(|verdict| of(verdict).to_string()));
    cells.push(format!("{:.0}", hours.ceil()));
    cells
}

fn claim(out: &mut String, number: usize, judged: &JudgedClaim<'_>) {
    let claim = judged.claim;
    let _ = write!(
        out,
        "\n### {number}. {}\n\n**{}**. {}\n",
        markdown(claim.claim.trim()),
        claim.verdict.get_ref().as_str(),
        markdown_block(claim.why.trim())
    );
    let table = numbers(&judged.evidence);
    if !table.rows.is_empty() {
        let _ = write!(out, "\n{}", table.markdown());
    }
    let _ = write!(
        out,
        "\n- What to take from it: {}\n- Made in {}. The paper has: {}\n",
        markdown(claim.take.trim()),
        markdown(claim.made_in.trim()),
        markdown(claim.published.trim())
    );
    if let Some(missing) = &claim.missing {
        let hours = claim.hours.map_or_else(String::new, |hours| format!(" About {hours} hours."));
        let _ = writeln!(out, "- Not measured: {}{hours}", markdown(missing.trim()));
    }
    let runs = crate::results::once_each(judged.evidence.iter().flat_map(|judged| judged.runs()));
    let links: Vec<String> = runs.iter().map(|run| format!("[{run}](../{run}/report.md)")).collect();
    if !links.is_empty() {
        let _ = writeln!(out, "- Runs: {}", links.join(", "));
    }
    let options = if claim.options.is_empty() { String::new() } else { format!(" {}", claim.options.trim()) };
    let _ = writeln!(out, "- Command: `gpbench run benchmarks/{}{options}`", claim.spec.get_ref());
}

/// The table of what was measured.
fn numbers(evidence: &[JudgedEvidence<'_>]) -> TextTable {
    let mut table = TextTable::new("").words("measured").words("here").words("seeds");
    table = table.words("in the paper").words("rule for the claim");
    for judged in evidence {
        let numbers = &judged.numbers;
        let rule = judged.kept.map_or_else(String::new, |(rule, kept)| {
            let least = match judged.evidence.share {
                1.0.. => String::new(),
                share => format!(", at least {share} of all"),
            };
            format!("{rule}{least}: {kept} of {}", numbers.len())
        });
        table.row([
            judged.evidence.what.clone(),
            here(*judged.evidence.compute.get_ref(), numbers),
            range(numbers.iter().map(|number| number.seeds as f64)),
            judged.evidence.published.clone().unwrap_or_default(),
            rule,
        ]);
    }
    table
}

/// Some numbers: one by one, or the least and the greatest of many.
fn here(compute: Compute, numbers: &[Computed]) -> String {
    match numbers {
        [] => String::new(),
        [one] => text(compute, one),
        few if few.len() <= LISTED => {
            let each = |number: &Computed| format!("{} {}", number.label, text(compute, number));
            few.iter().map(each).collect::<Vec<String>>().join("; ")
        }
        many => format!("{} numbers, {}", many.len(), range(many.iter().map(|number| number.value))),
    }
}

/// A number with its error: `8.23×`, `at least 8.23×`, `-0.12 ± 0.03`.
fn text(compute: Compute, number: &Computed) -> String {
    let value = if compute == Compute::Ratio { times(number.value) } else { short(number.value) };
    let error = number.error.map_or_else(String::new, |error| format!(" ± {}", short(error)));
    match number.bound {
        Bound::Exact => format!("{value}{error}"),
        Bound::AtLeast => format!("at least {value}{error}"),
        Bound::AtMost => format!("at most {value}{error}"),
        Bound::Open => format!("{value}{error} (both ended at their limit)"),
    }
}

impl<'c> JudgedEvidence<'c> {
    /// Names of its runs.
    fn runs(&self) -> impl Iterator<Item = &'c str> {
        let evidence = self.evidence;
        let of_sides = [Some(&evidence.of), evidence.to.as_ref()].into_iter().flatten();
        let runs = evidence.runs.iter().chain(of_sides.flat_map(|side| &side.get_ref().runs));
        runs.map(|run| run.get_ref().as_str())
    }
}
