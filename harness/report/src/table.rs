//! A table of formatted cells, as Markdown, CSV and HTML; `fit` writes it for a terminal, `export/latex` for a paper.

use std::fmt::Write as _;

use gpbench_record::text;
use maud::{Markup, html};

use crate::aggregate::MeanWithError;
use crate::escape;

/// Alignment of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Order in which columns are left out of a text that is too wide for its terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Importance {
    /// Among the first to be left out.
    Minor,
    /// Left out after all minor ones.
    #[default]
    Plain,
    /// Left out after all plain ones.
    Major,
    /// What a reader comes for: left out where nothing else is left.
    Key,
}

/// Heading, alignment and importance of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Heading.
    pub title: String,
    /// Alignment of its cells.
    pub align: Align,
    /// Its place in the order in which columns are left out.
    pub importance: Importance,
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cell {
    /// Its text, one line; may be empty.
    pub text: String,
    /// Whether it is bold: no other row beats it in its column.
    pub strong: bool,
    /// The mean that the text states, with all of its digits, for formats that choose others.
    pub mean: Option<MeanWithError>,
}

/// What a page that has other pages beside it adds to a row of a table.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct RowLinks {
    /// Value of the attribute `data-facets`, by which the page filters rows.
    pub(crate) facets: String,
    /// Headings of columns whose cell is a link, with its address.
    pub(crate) links: Vec<(&'static str, String)>,
}

/// Columns, rows and a caption.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TextTable {
    /// One line above the table.
    pub title: String,
    /// Conventions, below the table.
    pub caption: String,
    /// Headings.
    pub columns: Vec<Column>,
    /// Cells, row by row.
    pub rows: Vec<Vec<Cell>>,
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Cell { text: bounded_line(text), ..Cell::default() }
    }
}

/// Reduces foreign text, such as names and reasons in cells and headings, to one line of bounded length.
fn bounded_line(text: impl Into<String>) -> String {
    let text = text.into();
    text::cut(&text::line(&text), text::REASON).into_owned()
}

/// Where the error of a number or its interval begins in a cell, which a page sets below the number; the end where there is
/// none.
fn spread_of(text: &str, align: Align) -> usize {
    let interval = || text.find(" [").filter(|_| align == Align::Right && text.ends_with(']'));
    text.find(" ± ").or_else(interval).unwrap_or(text.len())
}

impl TextTable {
    /// An empty table.
    pub fn new(title: impl Into<String>) -> TextTable {
        TextTable { title: bounded_line(title), ..TextTable::default() }
    }

    /// Adds a column of words.
    #[must_use]
    pub fn words(self, title: impl Into<String>) -> TextTable {
        self.column(title, Align::Left)
    }

    /// Adds a column of numbers.
    #[must_use]
    pub fn numbers(self, title: impl Into<String>) -> TextTable {
        self.column(title, Align::Right)
    }

    fn column(mut self, title: impl Into<String>, align: Align) -> TextTable {
        let importance = Importance::default();
        self.columns.push(Column { title: bounded_line(title), align, importance });
        self
    }

    /// Adds a row.
    pub fn row<C: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = C>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Removes the columns that are empty in every row.
    #[must_use]
    pub fn without_empty_columns(mut self) -> TextTable {
        let kept: Vec<usize> = (0..self.columns.len())
            .filter(|&j| self.rows.iter().any(|row| !row[j].text.is_empty()))
            .collect();
        self.columns = kept.iter().map(|&j| self.columns[j].clone()).collect();
        for row in &mut self.rows {
            *row = kept.iter().map(|&j| row[j].clone()).collect();
        }
        self
    }

    /// Removes the columns with these headings.
    #[must_use]
    pub fn without(mut self, titles: &[&str]) -> TextTable {
        for row in &mut self.rows {
            let mut columns = self.columns.iter();
            row.retain(|_| columns.next().is_none_or(|c| !titles.contains(&c.title.as_str())));
        }
        self.columns.retain(|c| !titles.contains(&c.title.as_str()));
        self
    }

    /// A pipe table, without title and caption.
    pub fn markdown(&self) -> String {
        let cell = |cell: &Cell| match cell.strong {
            true => format!("**{}**", escape::markdown(&cell.text)),
            false => escape::markdown(&cell.text),
        };
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut out = line(self.columns.iter().map(|c| escape::markdown(&c.title)).collect());
        let rule = |align| if align == Align::Left { "---" } else { "---:" };
        out.push_str(&line(self.columns.iter().map(|c| rule(c.align).to_owned()).collect()));
        for row in &self.rows {
            out.push_str(&line(row.iter().map(cell).collect()));
        }
        out
    }

    /// Comma-separated values with a heading line. Words that a spreadsheet would evaluate begin with an apostrophe.
    pub fn csv(&self) -> String {
        let quote = |text: &str| match text.contains([',', '"', '\n']) {
            true => format!("\"{}\"", text.replace('"', "\"\"")),
            false => text.to_owned(),
        };
        let mut out = String::new();
        let titles: Vec<String> = self.columns.iter().map(|c| quote(&escape::csv_words(&c.title))).collect();
        let _ = writeln!(out, "{}", titles.join(","));
        for row in &self.rows {
            let cells = row.iter().zip(&self.columns).map(|(cell, column)| match column.align {
                Align::Left => quote(&escape::csv_words(&cell.text)),
                Align::Right => quote(&cell.text),
            });
            let _ = writeln!(out, "{}", cells.collect::<Vec<String>>().join(","));
        }
        out
    }

    /// A table element that scrolls sideways where it is too wide.
    pub(crate) fn html(&self) -> Markup {
        self.html_with(&[])
    }

    /// The same with the links of each row.
    pub(crate) fn html_with(&self, links: &[RowLinks]) -> Markup {
        let class = |j: usize| (self.columns[j].align == Align::Right).then_some("number");
        let facets = |i: usize| links.get(i).map(|row| row.facets.as_str());
        let link = |i: usize, j: usize| {
            let of_column = |(title, _): &&(&str, String)| *title == self.columns[j].title;
            links.get(i)?.links.iter().find(of_column).map(|(_, address)| address.as_str())
        };
        html! {
            div.scroll {
                table {
                    thead { tr { @for (j, c) in self.columns.iter().enumerate() { th class=[class(j)] { (c.title) } } } }
                    tbody {
                        @for (i, row) in self.rows.iter().enumerate() {
                            tr data-facets=[facets(i)] {
                                @for (j, cell) in row.iter().enumerate() {
                                    td class=[class(j)] {
                                        @let (value, spread) = cell.text.split_at(spread_of(&cell.text, self.columns[j].align));
                                        @if let Some(address) = link(i, j) { a href=(address) { (value) } }
                                        @else if cell.strong { strong { (value) } } @else { (value) }
                                        @if !spread.is_empty() { " " small { (spread.trim_start()) } }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
