//! The legend below a table of a terminal: what its marks are, of those that it has and of no others.

use crate::change::CHANGE;
use crate::fit::{Fitted, wrapped};
use crate::speed_up::has_ratios;
use crate::table::{Align, Cell, Column, TextTable};

/// Width of a legend where that of the terminal is not known.
const WIDTH: usize = 80;

impl TextTable {
    /// The table in at most `width` columns of a terminal, as [`TextTable::fitted`] gives it, with its legend. `noun` is what its
    /// rows are called.
    pub(crate) fn with_legend(&self, width: Option<usize>, noun: &str) -> Fitted {
        let fitted = self.fitted(width);
        let left_out: Vec<&str> = fitted.left_out.iter().map(String::as_str).collect();
        let marks = marks(&self.clone().without(&left_out), noun);
        let lines = (!marks.is_empty()).then(|| wrapped(&marks.join("; "), width.unwrap_or(WIDTH)));
        let legend: String = lines.into_iter().flatten().map(|line| line + "\n").collect();
        Fitted { text: fitted.text + &legend, ..fitted }
    }
}

/// The marks of a table, each with what it means.
fn marks(table: &TextTable, noun: &str) -> Vec<String> {
    let cells = || table.rows.iter().flat_map(|row| row.iter().zip(&table.columns));
    let is_number = |(_, column): &(&Cell, &Column)| column.align == Align::Right;
    let is_ratio = |(_, column): &(&Cell, &Column)| column.title == CHANGE || has_ratios(&column.title);
    let ratios = || cells().filter(is_ratio).map(|(cell, _)| cell.text.as_str());
    let has_changes = table.columns.iter().any(|column| column.title == CHANGE);
    let is_stated = |text: &str| !text.is_empty() && missed(text).is_none();
    let mut marks: Vec<String> = Vec::new();
    if has_changes {
        marks.push(format!("{CHANGE}: last / first (×) or last − first, seed by seed"));
    }
    if cells().any(|(cell, _)| cell.strong) {
        marks.push(format!("* beaten by no other {noun} (paired t, Holm, 5 %)"));
    }
    if cells().filter(is_number).any(|(cell, _)| has_interval(&cell.text)) {
        marks.push("[ ] 95 % interval".to_owned());
    } else if has_changes && ratios().any(is_stated) {
        marks.push("no interval below three common seeds".to_owned());
    }
    if let Some((both, of)) = ratios().find_map(missed) {
        marks.push(format!("{both}/{of}: both reached it with {both} of {of} seeds"));
    }
    if ratios().any(|text| text.starts_with(['≥', '≤'])) {
        marks.push("≥ ≤: bounds by a spent budget".to_owned());
    }
    marks
}

/// Whether a number has an interval behind it: `2.9× [2.7, 3.2]`.
fn has_interval(text: &str) -> bool {
    text.split_once(" [").is_some_and(|(_, ends)| ends.contains(", ") && ends.contains(']'))
}

/// The numbers of seeds of the mark of a ratio that is not stated: `4/5`, or `≥ 0.70× (4/5)`.
fn missed(text: &str) -> Option<(&str, &str)> {
    let mark = text.rsplit(' ').next()?.trim_matches(['(', ')']);
    let is_count = |text: &str| !text.is_empty() && text.bytes().all(|letter| letter.is_ascii_digit());
    mark.split_once('/').filter(|(both, of)| is_count(both) && is_count(of))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table of a solver with a speed-up, whose RMSE is bold or not.
    fn table(speed_up: &str, strong: bool) -> TextTable {
        let mut table = TextTable::default().words("solver").numbers("ok").numbers("test RMSE");
        table = table.numbers("speed-up over cholesky").key(&["solver", "ok"]).major(&["test RMSE"]);
        let rmse = Cell { strong, ..Cell::from("0.0918 ± 0.0010") };
        table.row(["cg".into(), "4/5".into(), rmse, speed_up.into()]);
        table
    }

    fn legend(table: &TextTable, width: Option<usize>) -> Vec<String> {
        let text = table.with_legend(width, "solver").text;
        let own = table.fitted(width).text;
        text.strip_prefix(&own).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_legend_has_the_marks_of_its_table_and_no_others() {
        assert!(legend(&table("2.9×", false), None).is_empty(), "`ok` is no mark");
        assert_eq!(legend(&table("", true), None), ["* beaten by no other solver (paired t, Holm, 5 %)"]);
        assert_eq!(legend(&table("2.9× [2.7, 3.2]", false), None), ["[ ] 95 % interval"]);
        assert_eq!(legend(&table("4/5", false), None), ["4/5: both reached it with 4 of 5 seeds"]);
        let bound = ["2/3: both reached it with 2 of 3 seeds; ≥ ≤: bounds by a spent budget"];
        assert_eq!(legend(&table("≥ 0.70× (2/3)", false), None), bound);
    }

    #[test]
    fn a_legend_wraps_and_leaves_out_what_the_terminal_has_no_room_for() {
        let mut both = table("2.9× [2.7, 3.2]", true);
        both.row(["ap", "5/5", "0.0920 ± 0.0010", "4/5"]);
        let wrapped = [
            "* beaten by no other solver (paired t, Holm, 5 %); [ ] 95 % interval; 4/5: both",
            "reached it with 4 of 5 seeds",
        ];
        assert_eq!(legend(&both, None), wrapped);
        assert_eq!(legend(&both, Some(80)), wrapped);
        assert_eq!(legend(&both, Some(200)), [wrapped.join(" ")]);
        assert_eq!(legend(&both, Some(30)), ["* beaten by no other solver", "(paired t, Holm, 5 %)"]);
    }

    #[test]
    fn changes_say_what_they_are_of() {
        let of = |change: &str| {
            let mut table = TextTable::default().words("metric").numbers(CHANGE);
            table.row(["total [s]", change]);
            legend(&table, Some(120)).concat()
        };
        let what = "change: last / first (×) or last − first, seed by seed; ";
        assert_eq!(of("0.50× [0.49, 0.51]"), format!("{what}[ ] 95 % interval"));
        assert_eq!(of("0.50×"), format!("{what}no interval below three common seeds"));
    }
}
