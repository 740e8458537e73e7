//! Tables as aligned text for a terminal, fitted to its width.

use std::cmp::Reverse;

use unicode_width::UnicodeWidthStr as _;

use crate::notation;
use crate::table::{Align, Cell, Column, Importance, TextTable};

/// Blanks between columns.
const GAP: &str = "  ";
/// Least width of the last column where it has words, which wrap.
const LEAST_WORDS: usize = 30;
/// Least width of a heading that wraps.
const LEAST_HEADING: usize = 6;

/// A table as text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fitted {
    /// The table.
    pub text: String,
    /// Headings of the columns that are not in it.
    pub left_out: Vec<String>,
    /// Whether errors are in parentheses, in units of the last digits of their means.
    pub is_shortened: bool,
}

/// How much room a table takes, the widest form first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Room {
    /// A line for each row.
    Wide,
    /// Headings of several lines.
    NarrowHeadings,
    /// Errors in parentheses too.
    NarrowValues,
}

/// The texts of a table.
struct Texts {
    /// Lines of each heading.
    headings: Vec<Vec<String>>,
    /// Texts of the cells, row by row.
    body: Vec<Vec<String>>,
    /// Width of each column.
    widths: Vec<usize>,
}

impl TextTable {
    /// Aligned columns for a terminal; an asterisk stands for bold.
    pub fn text(&self) -> String {
        self.fitted(None).text
    }

    /// The table in at most `width` columns of a terminal. First, headings are wrapped; then, errors stand in parentheses
    /// behind their means; then, columns are left out, those of the least importance first and of equal importance the
    /// last one. Words of the last column wrap.
    pub fn fitted(&self, width: Option<usize>) -> Fitted {
        let mut kept: Vec<usize> = (0..self.columns.len()).collect();
        let is_too_wide = |texts: &Texts, kept: &[usize]| {
            width.is_some_and(|width| self.least_width(kept, &texts.widths) > width)
        };
        let roomy = [Room::Wide, Room::NarrowHeadings].map(|room| self.texts(room));
        let roomy = roomy.into_iter().find(|texts| !is_too_wide(texts, &kept));
        let is_narrow = roomy.is_none();
        let texts = roomy.unwrap_or_else(|| self.texts(Room::NarrowValues));
        let mut left_out = Vec::new();
        while let Some(least) = self.least_important(&kept)
            && is_too_wide(&texts, &kept)
        {
            kept.retain(|&j| j != least);
            left_out.push(least);
        }
        left_out.sort_unstable();
        let left_out = left_out.into_iter().map(|j| self.columns[j].title.clone()).collect();
        let has_error = |&j: &usize| self.rows.iter().any(|row| notation::shortened(&row[j].text).is_some());

        let mut text = String::new();
        if !self.title.is_empty() {
            text += &self.title;
            text.push('\n');
        }
        for line in heading_lines(&texts.headings, &kept) {
            text += &self.lines(&line, &kept, &texts.widths, width);
        }
        for row in &texts.body {
            let cells: Vec<&str> = row.iter().map(String::as_str).collect();
            text += &self.lines(&cells, &kept, &texts.widths, width);
        }
        Fitted { text, left_out, is_shortened: is_narrow && kept.iter().any(has_error) }
    }

    /// The texts of the table where it may take so much room.
    fn texts(&self, room: Room) -> Texts {
        let cell = |cell: &Cell| match notation::shortened(&cell.text).filter(|_| room == Room::NarrowValues)
        {
            Some(short) => shown(&Cell { text: short, ..cell.clone() }),
            None => shown(cell),
        };
        let body: Vec<Vec<String>> = self.rows.iter().map(|row| row.iter().map(cell).collect()).collect();
        let widest = |j: usize| body.iter().map(|row| row[j].width()).max().unwrap_or_default();
        let heading = |(j, column): (usize, &Column)| match room {
            Room::Wide => vec![column.title.clone()],
            _ => {
                let longest = column.title.split(' ').map(str::width).max().unwrap_or_default();
                wrapped(&column.title, widest(j).max(longest).max(LEAST_HEADING))
            }
        };
        let headings: Vec<Vec<String>> = self.columns.iter().enumerate().map(heading).collect();
        let lines = |j: usize| headings[j].iter().map(|line| line.width()).max().unwrap_or_default();
        let widths = (0..self.columns.len()).map(|j| widest(j).max(lines(j))).collect();
        Texts { headings, body, widths }
    }

    /// The column that is left out next; never the first.
    fn least_important(&self, kept: &[usize]) -> Option<usize> {
        kept.iter().skip(1).copied().min_by_key(|&j| (self.columns[j].importance, Reverse(j)))
    }

    /// The least width that these columns take.
    fn least_width(&self, kept: &[usize], widths: &[usize]) -> usize {
        let Some((&last, others)) = kept.split_last() else { return 0 };
        let last_width = match self.columns[last].align {
            Align::Left => widths[last].min(LEAST_WORDS.max(self.columns[last].title.width())),
            Align::Right => widths[last],
        };
        before_last(others, widths) + last_width
    }

    /// A row as lines: more than one only where words of the last column wrap.
    fn lines(&self, cells: &[&str], kept: &[usize], widths: &[usize], width: Option<usize>) -> String {
        let Some((&last, others)) = kept.split_last() else { return "\n".to_owned() };
        let pad = |j: usize, cell: &str| {
            let blanks = " ".repeat(widths[j] - cell.width());
            match self.columns[j].align {
                Align::Left => format!("{cell}{blanks}"),
                Align::Right => format!("{blanks}{cell}"),
            }
        };
        let mut line: String = others.iter().map(|&j| pad(j, cells[j]) + GAP).collect();
        let indent = before_last(others, widths);
        match (self.columns[last].align, width) {
            (Align::Left, Some(width)) => {
                let room = width.saturating_sub(indent).max(1);
                line += &wrapped(cells[last], room).join(&format!("\n{}", " ".repeat(indent)));
            }
            _ => line += &pad(last, cells[last]),
        }
        format!("{}\n", line.trim_end())
    }
}

/// Width of the columns before the last one, with the blanks after each.
fn before_last(others: &[usize], widths: &[usize]) -> usize {
    others.iter().map(|&j| widths[j] + GAP.len()).sum()
}

/// The lines of the headings of these columns, each with a text for every column. Short headings stand in the last line.
fn heading_lines<'h>(headings: &'h [Vec<String>], kept: &[usize]) -> Vec<Vec<&'h str>> {
    let most = kept.iter().map(|&j| headings[j].len()).max().unwrap_or(1);
    let line = |i: usize| {
        let of = |heading: &'h Vec<String>| {
            let first = most.saturating_sub(heading.len());
            i.checked_sub(first).and_then(|i| heading.get(i)).map_or("", String::as_str)
        };
        headings.iter().map(of).collect()
    };
    (0..most).map(line).collect()
}

fn shown(cell: &Cell) -> String {
    if cell.strong { format!("{}*", cell.text) } else { cell.text.clone() }
}

/// Wraps a text to lines of at most `room` columns; longer words have a line of their own.
pub fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is a first line");
        if line.is_empty() {
            *line += word;
        } else if line.width() + 1 + word.width() <= room {
            *line = format!("{line} {word}");
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

impl Column {
    fn is_one_of(&self, titles: &[&str]) -> bool {
        titles.contains(&self.title.as_str())
    }
}

impl TextTable {
    /// Marks the columns with these headings as the first to be left out of a text that is too wide.
    #[must_use]
    pub fn minor(self, titles: &[&str]) -> TextTable {
        self.with_importance(titles, Importance::Minor)
    }

    /// Marks the columns with these headings as the last but those of [`TextTable::key`].
    #[must_use]
    pub fn major(self, titles: &[&str]) -> TextTable {
        self.with_importance(titles, Importance::Major)
    }

    /// Marks the columns with these headings as what a reader comes for: the last to be left out of a text that is too wide.
    #[must_use]
    pub fn key(self, titles: &[&str]) -> TextTable {
        self.with_importance(titles, Importance::Key)
    }

    fn with_importance(mut self, titles: &[&str], importance: Importance) -> TextTable {
        for column in self.columns.iter_mut().filter(|column| column.is_one_of(titles)) {
            column.importance = importance;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> TextTable {
        let mut table = TextTable::new("Results").words("solver").words("kernel").numbers("residual");
        table = table.numbers("epochs").numbers("seconds").minor(&["kernel"]).major(&["residual"]);
        table.row(["cg", "matern32", "1.0e-3", "12", "0.5"]);
        table.row(["cholesky", "matern32", "1.0e-15", "1", "0.25"]);
        table
    }

    #[test]
    fn lines_are_wrapped_between_words() {
        assert_eq!(wrapped("split: by rows", 8), ["split:", "by rows"]);
        assert_eq!(wrapped("short", 3), ["short"]);
    }

    #[test]
    fn columns_of_least_importance_are_left_out_first() {
        let left_out = |width| table().fitted(Some(width)).left_out;
        assert_eq!(table().fitted(None).left_out, [""; 0]);
        assert_eq!(left_out(45), [""; 0]);
        assert_eq!(left_out(44), ["kernel"]);
        assert_eq!(left_out(30), ["kernel", "seconds"]);
        assert_eq!(left_out(20), ["kernel", "epochs", "seconds"]);
        assert_eq!(left_out(1), ["kernel", "residual", "epochs", "seconds"]);
        assert_eq!(
            table().fitted(Some(30)).text,
            "Results\nsolver    residual  epochs\ncg          1.0e-3      12\ncholesky   1.0e-15       1\n"
        );
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for width in 8..60 {
            let text = table().fitted(Some(width)).text;
            assert!(text.lines().all(|line| line.width() <= width), "{width}:\n{text}");
        }
    }

    #[test]
    fn headings_wrap_and_errors_stand_in_parentheses_before_columns_go() {
        let mut table = TextTable::default().words("solver").numbers("ok").numbers("residual of the probes");
        table = table.numbers("test RMSE").key(&["ok"]);
        table.row(["cg", "3/3", "8.2e-3 ± 1.7e-4", "0.0919 ± 0.0010 (2 of 3)"]);
        table.row(["cholesky", "3/3", "2.8e-14 ± 2.6e-15‡", "0.0918 ± 0.0010"]);
        let lines =
            |width: usize| table.fitted(Some(width)).text.lines().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(table.fitted(Some(70)), Fitted { text: table.text(), ..Fitted::default() });
        let wrapped = [
            "                  residual of the",
            "solver     ok              probes                 test RMSE",
            "cg        3/3     8.2e-3 ± 1.7e-4  0.0919 ± 0.0010 (2 of 3)",
            "cholesky  3/3  2.8e-14 ± 2.6e-15‡           0.0918 ± 0.0010",
        ];
        assert_eq!(
            (lines(62), table.fitted(Some(62)).is_shortened),
            (wrapped.map(str::to_owned).to_vec(), false)
        );
        let shortened = [
            "               residual of",
            "solver     ok   the probes            test RMSE",
            "cg        3/3    8.2(2)e-3  0.0919(10) (2 of 3)",
            "cholesky  3/3  2.8(3)e-14‡           0.0918(10)",
        ];
        assert_eq!(
            (lines(50), table.fitted(Some(50)).is_shortened),
            (shortened.map(str::to_owned).to_vec(), true)
        );
        let narrow = table.fitted(Some(20));
        assert_eq!(narrow.left_out, ["residual of the probes", "test RMSE"]);
        assert!(!narrow.is_shortened && narrow.text.ends_with("cholesky  3/3\n"), "{}", narrow.text);
    }

    #[test]
    fn words_of_the_last_column_go_on_in_the_next_line() {
        let mut table = TextTable::default().words("name").words("documentation");
        table.row(["cg", "conjugate gradients with a preconditioner"]);
        let expected = "name  documentation\ncg    conjugate gradients with a\n      preconditioner\n";
        assert_eq!(table.fitted(Some(36)).text, expected);
        assert_eq!(table.text(), "name  documentation\ncg    conjugate gradients with a preconditioner\n");
    }

    #[test]
    fn wide_characters_are_aligned() {
        let mut table = TextTable::default().words("data set").numbers("n");
        table.row(["データ", "10"]);
        assert_eq!(table.text(), "data set   n\nデータ    10\n");
    }
}
