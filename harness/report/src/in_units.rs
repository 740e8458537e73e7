//! Hyperparameters in the units of a user's own file, by the names of its columns.

use gpbench_record::{ColumnScale, FileUnits, Hyperparameters, Row, text};

use crate::number::range;

/// Most inputs whose length scales are listed.
const LISTED: usize = 16;

/// Hyperparameters of some cases of one model in the units of the file, each with its range over the cases: those that were
/// learned, or else those that were given. Of many inputs, those with the shortest length scales in units of the scaled inputs.
/// Empty where the units are not known.
pub(crate) fn hyperparameters<'r>(rows: impl Iterator<Item = &'r Row>) -> String {
    let known = |row: &'r Row| Some((row.units.as_deref()?, row.hyperparameters_in_units()?));
    let found: Vec<(&FileUnits, Hyperparameters)> = rows.filter_map(known).collect();
    let Some((units, _)) = found.first() else { return String::new() };
    let named = |name: &str| {
        let values = || found.iter().filter_map(|(_, named)| named.get(name).copied());
        values().next().map(|_| range(values()))
    };
    let single = ["noise_scale", "signal_scale", "mean"].into_iter();
    let of_target = unit(&units.target);
    let part = |name: &str| Some(format!("{} {}{of_target}", name.replace('_', " "), named(name)?));
    let mut parts: Vec<String> = single.filter_map(part).collect();
    let length = |input: &ColumnScale| named(&format!("{}{}", FileUnits::LENGTH_SCALE, input.name));
    let inputs = shortest_first(&found);
    let listed = inputs.iter().take(LISTED);
    let shown = |input: &ColumnScale| text::cut(&input.name, text::NAME).into_owned();
    let part = |input: &&ColumnScale| Some(format!("{}{} of {}", length(input)?, unit(input), shown(input)));
    let listed: Vec<String> = listed.filter_map(part).collect();
    if !listed.is_empty() {
        let more = match units.inputs.len().saturating_sub(LISTED) {
            0 => String::new(),
            more => format!(" and {more} longer ones"),
        };
        parts.push(format!("length scales {}{more}", listed.join(", ")));
    }
    parts.join(", ")
}

/// The unit of a column behind a number, where it is known.
fn unit(column: &ColumnScale) -> String {
    if column.unit.is_empty() { String::new() } else { format!(" {}", column.unit) }
}

/// The inputs in the order of the file; where there are more than are listed, in that of their shortest length scales in units
/// of the scaled inputs.
fn shortest_first<'f>(found: &'f [(&FileUnits, Hyperparameters)]) -> Vec<&'f ColumnScale> {
    let Some((units, _)) = found.first() else { return Vec::new() };
    let shortest = |index: usize| {
        let scaled = found.iter().filter_map(|(units, named)| {
            let input = units.inputs.get(index)?;
            Some(named.get(&format!("{}{}", FileUnits::LENGTH_SCALE, input.name))? / input.divisor)
        });
        scaled.fold(f64::INFINITY, f64::min)
    };
    let mut order: Vec<usize> = (0..units.inputs.len()).collect();
    if order.len() > LISTED {
        order.sort_by(|a, b| shortest(*a).total_cmp(&shortest(*b)));
    }
    order.into_iter().map(|index| &units.inputs[index]).collect()
}

#[cfg(test)]
mod tests {
    use gpbench_record::testing;

    use super::*;

    /// A row of a posterior whose inputs have these names and divisors; the length scale of all inputs is 1 where they are
    /// scaled.
    fn row(inputs: &[(String, f64)], seed: u64) -> Row {
        let column = |name: &str, divisor: f64| ColumnScale {
            name: name.to_owned(),
            centre: 5.0,
            divisor,
            ..ColumnScale::default()
        };
        let mut row = testing::row(testing::case("cg"), &[]);
        let inputs = inputs.iter().map(|(name, divisor)| column(name, *divisor)).collect();
        row.units = Some(Box::new(FileUnits { inputs, target: column("price", 2.0 + seed as f64) }));
        row
    }

    #[test]
    fn columns_are_named_and_seeds_have_a_range() {
        let inputs = [("lon".to_owned(), 0.5), ("depth".to_owned(), 20.0)];
        let rows = [row(&inputs, 0), row(&inputs, 1)];
        assert_eq!(
            hyperparameters(rows.iter()),
            "noise scale 0.200 to 0.300, signal scale 2 to 3, length scales 0.500 of lon, 20 of depth"
        );
        let without = Row { units: None, ..rows[0].clone() };
        assert_eq!(hyperparameters([&without].into_iter()), "");
        assert_eq!(hyperparameters([].into_iter()), "");
    }

    #[test]
    fn times_have_their_unit() {
        let mut row = row(&[("time".to_owned(), 12.0), ("depth".to_owned(), 20.0)], 0);
        row.units.as_mut().unwrap().inputs[0].unit = "hours".to_owned();
        let text = hyperparameters([&row].into_iter());
        assert!(text.ends_with("length scales 12 hours of time, 20 of depth"), "{text}");
    }

    #[test]
    fn the_shortest_of_many_are_listed() {
        let inputs: Vec<(String, f64)> = (0..40).map(|input| (format!("x{input}"), 3.0)).collect();
        let mut row = row(&inputs, 0);
        row.case.kernel.length_scale = (0..40).map(|input| f64::from(40 - input)).collect();
        let text = hyperparameters([&row].into_iter());
        assert!(text.contains("length scales 3 of x39, 6 of x38, "), "{text}");
        assert!(text.ends_with(" of x24 and 24 longer ones"), "{text}");
    }
}
