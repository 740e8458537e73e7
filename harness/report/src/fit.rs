//! Tables as aligned text for a terminal, fitted to its width.

use std::cmp::Reverse;

use unicode_width::UnicodeWidthStr as _;

use crate::table::{Align, Cell, Column, Importance, TextTable};

/// Blanks between columns.
const GAP: &str = "  ";
/// Least width of the last column where it has words, which wrap.
const LEAST_WORDS: usize = 30;

/// A table as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fitted {
    /// The table.
    pub text: String,
    /// Headings of the columns that are not in it.
    pub left_out: Vec<String>,
}

impl TextTable {
    /// Aligned columns for a terminal; an asterisk marks the best.
    pub fn text(&self) -> String {
        self.fitted(None).text
    }

    /// The table in at most `width` columns of a terminal. Columns of the least importance are left out first, of equal
    /// importance the last one; words of the last column wrap.
    pub fn fitted(&self, width: Option<usize>) -> Fitted {
        let body: Vec<Vec<String>> = self.rows.iter().map(|row| row.iter().map(shown).collect()).collect();
        let width_of =
            |j: usize| body.iter().map(|row| row[j].width()).fold(self.columns[j].title.width(), usize::max);
        let widths: Vec<usize> = (0..self.columns.len()).map(width_of).collect();
        let mut kept: Vec<usize> = (0..self.columns.len()).collect();
        let mut left_out = Vec::new();
        while let Some(least) = self.least_important(&kept)
            && width.is_some_and(|width| self.least_width(&kept, &widths) > width)
        {
            kept.retain(|&j| j != least);
            left_out.push(least);
        }
        left_out.sort_unstable();
        let left_out = left_out.into_iter().map(|j| self.columns[j].title.clone()).collect();

        let mut text = String::new();
        if !self.title.is_empty() {
            text += &self.title;
            text.push('\n');
        }
        let titles: Vec<&str> = self.columns.iter().map(|column| column.title.as_str()).collect();
        let rows = body.iter().map(|row| row.iter().map(String::as_str).collect());
        for cells in [titles].into_iter().chain(rows) {
            text += &self.lines(&cells, &kept, &widths, width);
        }
        Fitted { text, left_out }
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

fn shown(cell: &Cell) -> String {
    if cell.strong { format!("{}*", cell.text) } else { cell.text.clone() }
}

/// Wraps a text to lines of at most `room` columns; longer words have a line of their own.
fn wrapped(text: &str, room: usize) -> Vec<String> {
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

    /// Marks the columns with these headings as the last to be left out of a text that is too wide.
    #[must_use]
    pub fn major(self, titles: &[&str]) -> TextTable {
        self.with_importance(titles, Importance::Major)
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
