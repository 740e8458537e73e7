//! Aligned text for a terminal: results, and how the cases ended.

use crate::fit::Fitted;
use crate::overview;
use crate::page::Page;

/// The tables of results with their legends, published figures, archived results, cases that did not end ok, and the
/// number of cases by outcome, for a terminal of `width` columns.
pub(super) fn page(page: &Page<'_>, width: Option<usize>) -> Fitted {
    let cases = &page.cases;
    let not_ok = overview::not_ok(cases);
    let of_parts =
        page.parts.iter().flat_map(|part| part.tables.iter().chain(&part.published).chain(&part.archive));
    let tables = of_parts.chain(&not_ok);
    let mut parts = Vec::new();
    let mut left_out: Vec<String> = Vec::new();
    let mut is_shortened = false;
    for table in tables {
        let fitted = table.with_legend(width, cases.noun());
        parts.push(fitted.text);
        is_shortened |= fitted.is_shortened;
        for title in fitted.left_out {
            if !left_out.contains(&title) {
                left_out.push(title);
            }
        }
    }
    let counts: Vec<String> =
        overview::outcomes(cases).iter().map(|(what, n)| format!("{n} {what}")).collect();
    parts.push(format!("{}: {}\n", cases.record().name, counts.join(", ")));
    parts.extend(page.parts.iter().flat_map(|part| &part.remarks).map(|text| format!("{text}\n")));
    parts.extend(page.parts.iter().find_map(|part| part.advice).map(|text| format!("{text}\n")));
    Fitted { text: parts.join("\n"), left_out, is_shortened }
}
