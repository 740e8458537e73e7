//! The pages: counts for all papers, and every cell of each.

use std::fmt::Write as _;
use std::ops::Add as _;

use super::hours::Hours;
use super::notes::Note;
use super::paper::{Counts, Entry, Outcome, PaperCoverage};
use super::published_run::PublishedRun;
use crate::escape::{markdown, markdown_block};
use crate::number::short;
use crate::results::once_each;
use crate::table::TextTable;

/// The page of counts, with links to the papers' pages.
pub(super) fn overview(papers: &[PaperCoverage<'_>], hours: &Hours) -> String {
    let mut table = TextTable::new("").words("paper");
    for title in [
        "figures",
        "measured",
        "within 2 deviations",
        "within 2 errors",
        "beyond 2 deviations",
        "of these explained",
        "not measured",
        "hours for these",
        "without an estimate",
    ] {
        table = table.numbers(title);
    }
    for paper in papers {
        table.row(counted(&paper.reference.paper.short, paper.counts(), paper.hours()));
    }
    let all = papers.iter().map(PaperCoverage::counts).fold(Counts::default(), Counts::add);
    table.row(counted("all", all, papers.iter().map(PaperCoverage::hours).sum()));
    let links = papers
        .iter()
        .map(|paper| format!("- [{}]({}.md)\n", markdown(&paper.reference.paper.short), paper.name));
    format!(
        "# Published tables, cell by cell\n\nEvery figure of merit that the papers print in their tables, beside ours where it \
         was measured. `gpbench coverage` writes these pages from `benchmarks/reference/` and from the published runs in this \
         folder's neighbours.\n\n{}\n\
         A difference is our mean less the printed one: in published standard deviations over splits, and in standard errors of \
         both means. The rounding of print counts as an error of 0.29 units of the last digit, in the mean and in the spread; \
         where we have one seed, the printed deviation stands for ours. A run on a part of the \
         rows does not count, unless the paper's does. Of several runs that measured a cell, the one with the most \
         seeds counts; nothing is averaged over runs. Hours are those of all seeds by `gpbench plan`, {}.\n\n{}",
        table.markdown(),
        estimated(hours),
        links.collect::<String>(),
    )
}

/// A line of the table of counts.
fn counted(paper: &str, counts: Counts, hours: f64) -> [String; 10] {
    let number = |number: usize| number.to_string();
    [
        paper.to_owned(),
        number(counts.all),
        number(counts.measured()),
        number(counts.within),
        number(counts.within_errors),
        number(counts.beyond),
        number(counts.explained),
        number(counts.absent),
        format!("{:.0}", hours.ceil()),
        number(counts.without_estimate),
    ]
}

fn estimated(hours: &Hours) -> String {
    match hours.threads {
        0 => "where it was asked".to_owned(),
        threads => {
            format!("with {threads} threads of {}, {}", markdown(&hours.machine), markdown(&hours.day))
        }
    }
}

/// Every cell of a paper.
pub(super) fn paper(paper: &PaperCoverage<'_>, runs: &[PublishedRun]) -> String {
    let counts = paper.counts();
    let mut out = format!(
        "# {}\n\n{}\n\n{} figures: {} measured, of them {} within two published standard deviations and {} beyond; {} not measured.\n",
        markdown(&paper.reference.paper.short),
        markdown_block(&paper.reference.paper.entry),
        counts.all,
        counts.measured(),
        counts.within,
        counts.beyond,
        counts.absent,
    );
    let _ = write!(out, "\n{}\n", markdown_block(&paper.reference.comparison.conditions));
    for table in once_each(paper.entries.iter().map(|entry| entry.cell.table)) {
        let entries = || paper.entries.iter().filter(move |entry| entry.cell.table == table);
        let _ = write!(out, "\n## {}\n", title(table));
        measured(&mut out, entries());
        absent(&mut out, entries());
    }
    differences(&mut out, paper);
    of_runs(&mut out, paper, runs);
    out
}

/// `table_s1` as `Table S1`.
fn title(table: &str) -> String {
    format!("Table {}", table.trim_start_matches("table").trim_start_matches('_').to_uppercase())
}

fn measured<'e>(out: &mut String, entries: impl Iterator<Item = &'e Entry<'e>>) {
    let mut table = TextTable::new("").words("data set").words("method").words("figure");
    table = table.numbers("published").numbers("here").numbers("seeds");
    table = table.numbers("deviations").numbers("errors");
    table = table.words("run").words("solver").words("remark");
    for entry in entries {
        let Outcome::Measured { measured, difference, note } = &entry.outcome else { continue };
        let decimals = entry.cell.theirs.decimals + 1;
        let spread = measured.ours.stderr.map(|stderr| format!(" ± {stderr:.decimals$}")).unwrap_or_default();
        let solver = if measured.stands_in {
            format!("{} (stands in)", measured.solver)
        } else {
            measured.solver.clone()
        };
        table.row([
            entry.cell.row.dataset.clone(),
            entry.cell.row.title(),
            entry.cell.quantity.name().to_owned(),
            entry.cell.theirs.to_string(),
            format!("{:.decimals$}{spread}", measured.ours.mean),
            measured.ours.seeds.to_string(),
            format!("{:+.1}", difference.deviations),
            format!("{:+.1}", difference.errors),
            measured.run.clone(),
            solver,
            note.map(|note| format!("({note})")).unwrap_or_default(),
        ]);
    }
    if !table.rows.is_empty() {
        let _ = write!(out, "\n{}", table.without_empty_columns().markdown());
    }
}

/// Table of the cells not measured, a line for each row of the paper's table.
fn absent<'e>(out: &mut String, entries: impl Iterator<Item = &'e Entry<'e>>) {
    let mut lines: Vec<([String; 5], Vec<&str>)> = Vec::new();
    for entry in entries {
        let Outcome::Absent { cost, why } = &entry.outcome else { continue };
        let hours = cost.map_or_else(String::new, |cost| short(cost.hours));
        let spec = cost.map_or_else(|| "none".to_owned(), |cost| cost.spec.clone());
        let why = why.map_or("", |note| note.text.trim()).to_owned();
        let line = [entry.cell.row.dataset.clone(), entry.cell.row.title(), hours, spec, why];
        match lines.iter_mut().find(|(known, _)| *known == line) {
            Some((_, quantities)) => quantities.push(entry.cell.quantity.name()),
            None => lines.push((line, vec![entry.cell.quantity.name()])),
        }
    }
    if lines.is_empty() {
        return;
    }
    let mut table = TextTable::new("").words("data set").words("method").words("figures").numbers("hours");
    table = table.words("spec").words("remark");
    for ([dataset, method, hours, spec, why], quantities) in lines {
        table.row([dataset, method, quantities.join(", "), hours, spec, why]);
    }
    let _ = write!(out, "\nNot measured:\n\n{}", table.without_empty_columns().markdown());
}

/// The remarks on cells that differ.
fn differences(out: &mut String, paper: &PaperCoverage<'_>) {
    let notes: Vec<&Note> = paper.notes.differs.iter().filter(|note| note.is_of(paper.name)).collect();
    if !notes.is_empty() {
        out.push_str("\n## What differs, and why\n\n");
    }
    for (i, note) in notes.iter().enumerate() {
        let _ = writeln!(out, "{}. {}", i + 1, note.text.trim());
    }
}

/// The runs that cells come from, with the command that repeats each.
fn of_runs(out: &mut String, paper: &PaperCoverage<'_>, runs: &[PublishedRun]) {
    let used = paper.runs();
    if used.is_empty() {
        return;
    }
    out.push_str(
        "\n## Runs\n\nEach command repeats a whole run. For one figure, add `-d DATASET -s SOLVER` with the data set and the solver of \
         its line.\n\n",
    );
    for run in runs.iter().filter(|run| used.contains(&run.name.as_str())) {
        let _ = writeln!(
            out,
            "- [{name}](../{name}/report.md): `gpbench run reports/published/{name}/spec.toml`. {facts}.",
            name = run.name,
            facts = markdown(&run.facts().join(", "))
        );
    }
}
