//! Tables for papers: LaTeX with the packages booktabs and siunitx.
//!
//! A column of numbers is an `S` column, which aligns them at their points, with the digits that its numbers need as
//! `table-format`. A number has its standard error in parentheses: `0.0830(12)`. Numbers that span decades have an exponent, and no
//! error. What is no number stands in braces, which siunitx sets as text.

use std::iter;

use crate::aggregate::MeanWithError;
use crate::escape;
use crate::frame::Cases;
use crate::notation::{NumberCell, decimals, parenthesis, three_digits};
use crate::overview;
use crate::page::{Page, Part};
use crate::results::once_each;
use crate::table::{Align, Cell, Column, TextTable};

/// What a document needs to set the tables.
const PREAMBLE: &str = r"% The preamble needs \usepackage{booktabs,siunitx} and, for numbers in bold and marks close to their numbers,
% \sisetup{text-series-to-math = true, reset-text-series = false, table-align-text-after = false}
% (of version 2 of siunitx: \usepackage{etoolbox} \robustify\bfseries
% \sisetup{detect-weight = true, table-align-text-post = false}).
";

/// Words that begin the explanation of errors.
const ERRORS: &str = "In parentheses: standard error";

/// Letters of a column of words from which its cells wrap.
const WIDE: usize = 40;

/// Tables as LaTeX, after the comment on what they need.
pub fn latex<'t>(tables: impl IntoIterator<Item = &'t TextTable>) -> String {
    iter::once(PREAMBLE.to_owned()).chain(tables.into_iter().map(table)).collect::<Vec<_>>().join("\n")
}

/// All tables of results of a page and its calibration, with the conditions of their measurement in the captions.
pub(super) fn page(page: &Page<'_>) -> String {
    let mut tables: Vec<TextTable> = Vec::new();
    for part in &page.parts {
        let own = part.tables.iter().chain(&part.calibration);
        tables.extend(own.map(|table| captioned(table, part, &page.cases)));
        tables.extend(part.published.iter().chain(&part.archive).cloned());
    }
    tables.extend(overview::not_ok(&page.cases));
    latex(&tables)
}

/// A table of results with a caption that says what its numbers are means of and where they were measured, too.
fn captioned(table: &TextTable, part: &Part, cases: &Cases<'_>) -> TextTable {
    let rows = || cases.rows().filter(|row| row.case.task.kind() == part.task);
    let count = |number: usize, one: &str| match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {one}s"),
    };
    let seeds = count(once_each(rows().map(|row| row.labels.seed)).len(), "seed");
    let repeats = count(once_each(rows().map(|row| row.labels.repeat)).len(), "repeat");
    let has_errors = (0..table.columns.len()).any(|j| has_errors(table, j));
    let own = table.caption.contains("standard error");
    let error = (has_errors && !own).then(|| format!("{ERRORS} over {seeds} in units of the last digits."));
    let measured = overview::measured(cases);
    let is_told = table.caption.contains("Machine: ");
    let machine = measured.iter().find(|(what, _)| *what == "machine" && !is_told);
    let machine = machine.map(|(_, machine)| format!("; {machine}"));
    let conditions = format!("{seeds}, {repeats}{}.", machine.unwrap_or_default());
    let all = iter::once(table.caption.clone()).chain(error).chain([conditions]);
    let caption = all.filter(|sentence| !sentence.is_empty()).collect::<Vec<_>>().join(" ");
    TextTable { caption, ..table.clone() }
}

/// A table without the comment on what it needs.
fn table(table: &TextTable) -> String {
    let columns: Vec<Kind> = (0..table.columns.len()).map(|j| Kind::of(table, j)).collect();
    let line = |cells: Vec<String>| format!("    {} \\\\\n", cells.join(" & "));
    let headings = table.columns.iter().zip(&columns).map(|(column, kind)| kind.heading(column));
    let headings = line(headings.collect());
    let row = |row: &Vec<Cell>| line(row.iter().zip(&columns).map(|(cell, kind)| kind.cell(cell)).collect());
    let rows: String = table.rows.iter().map(row).collect();
    let formats: Vec<String> = columns.iter().map(Kind::format).collect();
    format!(
        "\\begin{{table}}\n  \\centering\n  \\caption{{{}}}\n  \\begin{{tabular}}{{{}}}\n    \\toprule\n{headings}    \
         \\midrule\n{rows}    \\bottomrule\n  \\end{{tabular}}\n\\end{{table}}\n",
        caption(table),
        formats.join(" "),
    )
}

/// Title and caption, and what the parentheses are where the caption does not say so.
fn caption(table: &TextTable) -> String {
    let title = Some(&table.title).filter(|title| !title.is_empty());
    let title = title.map(|title| format!("{}.", title.trim_end_matches('.')));
    let is_explained = table.caption.contains(ERRORS);
    let has_errors = (0..table.columns.len()).any(|j| has_errors(table, j));
    let errors = (has_errors && !is_explained).then(|| format!("{ERRORS} in units of the last digits."));
    let sentences = title.into_iter().chain([table.caption.replace('`', "")]).chain(errors);
    let sentences: Vec<String> = sentences.filter(|sentence| !sentence.is_empty()).collect();
    escape::latex(&sentences.join(" "))
}

/// Whether a column is written with errors in parentheses.
fn has_errors(table: &TextTable, j: usize) -> bool {
    let Kind::Numbers { spans_decades: false, .. } = Kind::of(table, j) else { return false };
    table.rows.iter().filter_map(|row| number(&row[j], false)).any(|(number, _)| number.contains('('))
}

/// How a column is set.
enum Kind {
    /// Words, on the left.
    Words,
    /// Words that wrap.
    LongWords,
    /// Texts such as `3/3`, on the right.
    Texts,
    /// Numbers, aligned at their points.
    Numbers { spans_decades: bool, digits: Digits, longest_note: String },
}

impl Kind {
    fn of(table: &TextTable, j: usize) -> Kind {
        let cells = || table.rows.iter().map(|row| &row[j]);
        let longest = cells().map(|cell| cell.text.chars().count()).max().unwrap_or_default();
        if table.columns[j].align == Align::Left {
            return if longest > WIDE { Kind::LongWords } else { Kind::Words };
        }
        let parsed = || cells().filter_map(|cell| Some((cell, NumberCell::parse(&cell.text)?)));
        // A column of several metrics keeps each number in its form.
        let of_one_metric = parsed().all(|(cell, _)| cell.mean.is_some());
        let spans_decades = of_one_metric && parsed().any(|(_, number)| number.mean.contains('e'));
        let (numbers, notes): (Vec<String>, Vec<String>) =
            cells().filter_map(|cell| number(cell, spans_decades)).unzip();
        let longest_note = notes.into_iter().max_by_key(|note| note.chars().count()).unwrap_or_default();
        match numbers.is_empty() {
            true => Kind::Texts,
            false => Kind::Numbers { spans_decades, digits: Digits::of(&numbers), longest_note },
        }
    }

    /// The column in the argument of `tabular`.
    fn format(&self) -> String {
        match self {
            Kind::Words => "l".to_owned(),
            Kind::LongWords => "p{0.4\\linewidth}".to_owned(),
            Kind::Texts => "r".to_owned(),
            Kind::Numbers { digits, longest_note, .. } => {
                let room = match superscript(longest_note) {
                    none if none.is_empty() => none,
                    note => format!(", table-space-text-post = {note}"),
                };
                format!("S[table-format = {}{room}]", digits.format())
            }
        }
    }

    fn heading(&self, column: &Column) -> String {
        let title = escape::latex(&column.title);
        if matches!(self, Kind::Numbers { .. }) { format!("{{{title}}}") } else { title }
    }

    fn cell(&self, cell: &Cell) -> String {
        let text = || match cell.strong {
            true => format!("\\textbf{{{}}}", escape::latex(&cell.text)),
            false => escape::latex(&cell.text),
        };
        let Kind::Numbers { spans_decades, .. } = self else { return text() };
        let strong = if cell.strong { "\\bfseries " } else { "" };
        match number(cell, *spans_decades) {
            Some((number, note)) => format!("{strong}{number}{}", superscript(&note)),
            None if cell.text.is_empty() => "{--}".to_owned(),
            None => format!("{{{}}}", text()),
        }
    }
}

/// The number of a cell as siunitx reads it, and the note behind it; none of a cell that is no number.
fn number(cell: &Cell, spans_decades: bool) -> Option<(String, String)> {
    let NumberCell { mean, error, note } = NumberCell::parse(&cell.text)?;
    let note = note.to_owned();
    if spans_decades {
        return Some((format!("{:.1e}", cell.mean?.mean), note));
    }
    let number = match (cell.mean, error) {
        (Some(MeanWithError { mean: own, stderr, .. }), _) => {
            // Two digits more than the style of the metric has are all that a small error may show.
            let most = decimals(mean) + 2;
            stderr.and_then(|error| parenthesis(own, error, most)).unwrap_or_else(|| three_digits(own))
        }
        (None, Some(error)) if !mean.contains('e') => {
            let value: f64 = mean.parse().ok()?;
            let written = parenthesis(value, error.parse().ok()?, decimals(mean));
            written.unwrap_or_else(|| mean.to_owned())
        }
        (None, _) => mean.to_owned(),
    };
    Some((number, note))
}

/// A note as superscript: the number of seeds as in `2/3`, and marks.
fn superscript(note: &str) -> String {
    if note.is_empty() {
        return String::new();
    }
    let short = note.replace(" of ", "/").replace(['(', ')'], "");
    format!("{{\\textsuperscript{{{}}}}}", escape::latex(&short))
}

/// The digits that the numbers of a column need.
#[derive(Debug, Default, PartialEq, Eq)]
struct Digits {
    /// Whether a number is negative.
    has_sign: bool,
    /// Digits before the point.
    whole: usize,
    /// Digits after the point.
    decimals: usize,
    /// Digits of the error.
    error: usize,
    /// Digits of the exponent.
    power: usize,
    /// Whether an exponent is negative.
    has_negative_power: bool,
}

impl Digits {
    fn of(numbers: &[String]) -> Digits {
        numbers.iter().fold(Digits::default(), |all, number| {
            let (number, power) = number.split_once('e').unwrap_or((number, ""));
            let (number, error) = number.split_once('(').unwrap_or((number, ""));
            let unsigned = number.trim_start_matches('-');
            let (whole, decimals) = unsigned.split_once('.').unwrap_or((unsigned, ""));
            Digits {
                has_sign: all.has_sign || number.starts_with('-'),
                whole: all.whole.max(whole.len()),
                decimals: all.decimals.max(decimals.len()),
                error: all.error.max(error.trim_end_matches(')').len()),
                power: all.power.max(power.trim_start_matches('-').len()),
                has_negative_power: all.has_negative_power || power.starts_with('-'),
            }
        })
    }

    /// The value of siunitx's `table-format`.
    fn format(&self) -> String {
        let sign = |is: bool| if is { "-" } else { "" };
        let mut format = format!("{}{}.{}", sign(self.has_sign), self.whole, self.decimals);
        if self.error > 0 {
            format += &format!("({})", self.error);
        }
        if self.power > 0 {
            format += &format!("e{}{}", sign(self.has_negative_power), self.power);
        }
        format
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cell of a mean, as tables of metrics have it.
    fn mean(text: &str, mean: f64, stderr: Option<f64>, strong: bool) -> Cell {
        Cell { text: text.to_owned(), strong, mean: Some(MeanWithError { mean, stderr, seeds: 5, of: 5 }) }
    }

    fn example() -> TextTable {
        let mut table = TextTable::new("pol_1 & bike").words("solver").numbers("ok");
        table = table.numbers("test RMSE").numbers("residual y").numbers("speed-up over cg");
        table.caption = "Seconds of 50 % of the `rows`.".to_owned();
        table.row([
            "cg_2".into(),
            "5/5".into(),
            mean("0.0830 ± 0.0012", 0.083012, Some(0.00123), true),
            mean("9.8e-3 ± 1.2e-4", 0.00982, Some(1.2e-4), false),
            "1×".into(),
        ]);
        table.row([
            "cholesky".into(),
            "4/5".into(),
            mean("-0.8388 ± 0.0212 (4 of 5)†", -0.83876, Some(0.0212), false),
            mean("2.2e-14", 2.2e-14, None, true),
            "2.9× [2.7, 3.2]".into(),
        ]);
        table.row(["sgd", "0/5", "", "", "4/5"]);
        table
    }

    #[test]
    fn a_table_is_set_with_booktabs_and_siunitx() {
        let expected = r"\begin{table}
  \centering
  \caption{pol\_1 \& bike. Seconds of 50 \% of the rows. In parentheses: standard error in units of the last digits.}
  \begin{tabular}{l r S[table-format = -1.4(2), table-space-text-post = {\textsuperscript{4/5\textdagger{}}}] S[table-format = 1.1e-2] r}
    \toprule
    solver & ok & {test RMSE} & {residual y} & speed-up over cg \\
    \midrule
    cg\_2 & 5/5 & \bfseries 0.0830(12) & 9.8e-3 & 1$\times$ \\
    cholesky & 4/5 & -0.839(21){\textsuperscript{4/5\textdagger{}}} & \bfseries 2.2e-14 & 2.9$\times$ [2.7, 3.2] \\
    sgd & 0/5 & {--} & {--} & 4/5 \\
    \bottomrule
  \end{tabular}
\end{table}
";
        assert_eq!(table(&example()), expected);
        let document = latex([&example()]);
        assert!(document.starts_with("% The preamble needs") && document.ends_with(expected), "{document}");
    }

    #[test]
    fn numbers_without_errors_have_three_digits() {
        let mut table = TextTable::default().numbers("test RMSE").numbers("n");
        table.row([mean("0.0830", 0.083012, None, false), "13500".into()]);
        table.row([mean("12.3460 ± 0.0000", 12.346, Some(0.0), false), "800".into()]);
        let text = super::table(&table);
        assert!(text.contains("S[table-format = 2.4] S[table-format = 5.0]"), "{text}");
        assert!(text.contains("    0.0830 & 13500 \\\\\n    12.3 & 800 \\\\\n"), "{text}");
        assert!(!text.contains("parentheses"), "{text}");
    }

    #[test]
    fn figures_of_papers_keep_their_digits() {
        let mut table = TextTable::default().numbers("RMSE, there").numbers("verdict");
        table.row(["0.174 ± 0.006", "within 2"]);
        table.row(["0.08 ± 0.00", "7"]);
        let text = super::table(&table);
        assert!(text.contains("    0.174(6) & {within 2} \\\\\n    0.08 & 7 \\\\\n"), "{text}");
    }

    #[test]
    fn a_column_of_several_metrics_keeps_the_form_of_each() {
        let mut table = TextTable::default().words("metric").numbers("before");
        table.row(["residual y", "4.6e-4"]);
        table.row(["test RMSE", "0.1057"]);
        table.row(["entries", "2.21e7 ± 4.8e6"]);
        let text = super::table(&table);
        assert!(text.contains("S[table-format = 1.4e-1]"), "{text}");
        assert!(
            text.contains("y & 4.6e-4 ") && text.contains("E & 0.1057 ") && text.contains("s & 2.21e7 "),
            "{text}"
        );
    }

    #[test]
    fn long_words_wrap() {
        let mut table = TextTable::default().words("case").words("reason");
        table.row(["a", "the budget of 1000 epochs is spent at a residual of 0.12"]);
        assert!(super::table(&table).contains(r"\begin{tabular}{l p{0.4\linewidth}}"));
    }
}
