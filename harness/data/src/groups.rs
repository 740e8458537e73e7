//! Splits that keep rows together: groups and replicates, and rules by groups, blocks and time.
//!
//! Rows that stay together are a unit: rows of one group, of one input, of one place or of one time, as the data set asks, and
//! all rows that a chain of such equalities connects. A split takes whole units, so that sizes are those asked for within
//! the size of a unit. Where each row is a unit, the rows that are drawn are those of a split without units.
//!
//! Blocks are made by repeated bisection of the widest side, because blocks of equal numbers of rows are wanted: the cells of
//! a grid hold none or most of the rows where rows are clustered, and clusters by k-means differ in size and depend on a seed.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use gpbench_record::{Dataset, SplitRule, SplitSizes, Subsample};
use ndarray::ArrayView1;

use crate::scale::Scale;
use crate::split_error::SplitError;
use crate::split_rows::{SplitRows, draw, drawn_training_rows};
use crate::table::Table;

/// The rows of the split of a data set some of whose rows stay together, or that a rule divides.
///
/// # Errors
/// If there is no such split, or there are too few units.
pub(crate) fn rows(table: &Table, dataset: &Dataset) -> Result<SplitRows, SplitError> {
    let units = Units::of(table, dataset)?;
    let Division { units, train, test, candidates } = match &dataset.rule {
        None => drawn(units, dataset)?,
        Some(SplitRule::LeaveGroupOut) => {
            let group = dataset.group().unwrap_or("group");
            leave_one_out(units.in_order_of(&column(table, dataset, group)?, f64::min), dataset)?
        }
        Some(SplitRule::Blocks { blocks, by }) => {
            let columns =
                by.iter().map(|label| column(table, dataset, label)).collect::<Result<Vec<_>, _>>()?;
            leave_one_out(units.blocks(dataset, *blocks, &columns)?, dataset)?
        }
        Some(SplitRule::Future { time, test }) => {
            future(units.in_order_of(&column(table, dataset, time)?, f64::max), dataset, *test)?
        }
        Some(SplitRule::Rolling { time, blocks }) => {
            let times = column(table, dataset, time)?;
            rolling(units.in_order_of(&times, f64::max), dataset, *blocks)?
        }
    };
    let validation = match dataset.validation {
        Some(share) => validation(&units, dataset, &candidates, share)?,
        None => Vec::new(),
    };
    let withheld: HashSet<usize> = validation.iter().copied().collect();
    let train: Vec<usize> = train.into_iter().filter(|unit| !withheld.contains(unit)).collect();
    let [train, validation, test] = [train, validation, test].map(|chosen| units.rows_of(&chosen));
    Ok(SplitRows { train, validation, test })
}

/// The numbers of a column that the split refers to.
fn column(table: &Table, dataset: &Dataset, label: &str) -> Result<Vec<f64>, SplitError> {
    let missing = || SplitError::NoColumn { name: dataset.name.clone(), column: label.to_owned() };
    table.column(label).ok_or_else(missing)
}

/// The units of a split.
struct Division {
    units: Units,
    /// Units to train on, those for validation among them if they are taken from these.
    train: Vec<usize>,
    test: Vec<usize>,
    /// Units that are taken for validation, as far as they are needed, in this order.
    candidates: Vec<usize>,
}

/// Units in a random order: the first ones for testing, or first those for training and then those for testing.
fn drawn(units: Units, dataset: &Dataset) -> Result<Division, SplitError> {
    units.require(dataset, 2)?;
    let (n, seed, all) = (units.rows(), u64::from(dataset.split), units.len());
    let Some(fractions) = dataset.fractions else {
        let order = draw(all, all, seed, "split");
        let (test, rest) = order.split_at(units.prefix(&order, n - drawn_training_rows(n)));
        let (test, train) = (test.to_vec(), sorted(rest));
        let candidates = shuffled(&train, seed);
        return Ok(Division { units, train, test, candidates });
    };
    let sizes = SplitSizes::by_shares(n, fractions, dataset.validation);
    let order = draw(all, all, seed, "fractions");
    let (train, rest) = order.split_at(units.prefix(&order, sizes.training));
    let (test, rest) = rest.split_at(units.prefix(rest, sizes.test));
    let (train, test, candidates) = (train.to_vec(), test.to_vec(), rest.to_vec());
    Ok(Division { units, train, test, candidates })
}

/// Tests on the unit whose number is that of the split.
fn leave_one_out(units: Units, dataset: &Dataset) -> Result<Division, SplitError> {
    units.require(dataset, 2)?;
    let (left_out, available) = (dataset.split as usize, units.len());
    require_split(dataset, available)?;
    let train: Vec<usize> = (0..available).filter(|unit| *unit != left_out).collect();
    let candidates = shuffled(&train, u64::from(dataset.split));
    Ok(Division { units, train, test: vec![left_out], candidates })
}

/// Tests on the last units, and validates by those before them.
fn future(units: Units, dataset: &Dataset, share: f64) -> Result<Division, SplitError> {
    units.require(dataset, 2)?;
    require_split(dataset, 1)?;
    let latest_first: Vec<usize> = (0..units.len()).rev().collect();
    let asked = Subsample::Fraction(share).rows(units.rows()).max(1);
    let (test, candidates) = latest_first.split_at(units.prefix(&latest_first, asked));
    let (train, test, candidates) = (sorted(candidates), test.to_vec(), candidates.to_vec());
    Ok(Division { units, train, test, candidates })
}

/// Trains on the first blocks of time, and tests on the next one.
fn rolling(units: Units, dataset: &Dataset, blocks: usize) -> Result<Division, SplitError> {
    units.require(dataset, blocks)?;
    require_split(dataset, blocks - 1)?;
    let order: Vec<Vec<f64>> = (0..units.len()).map(|unit| vec![unit as f64]).collect();
    let mut of_block = units.bisected(blocks, &order);
    let test = of_block[dataset.split as usize + 1].clone();
    of_block.truncate(dataset.split as usize + 1);
    let train = of_block.concat();
    let candidates = train.iter().rev().copied().collect();
    Ok(Division { units, train, test, candidates })
}

/// The units for validation: as many of the candidates as come nearest to a share of all rows.
fn validation(
    units: &Units,
    dataset: &Dataset,
    candidates: &[usize],
    share: f64,
) -> Result<Vec<usize>, SplitError> {
    let asked = Subsample::Fraction(share).rows(units.rows());
    let chosen = &candidates[..units.prefix(candidates, asked)];
    if chosen.is_empty() {
        let rows = if asked == 0 { units.rows() } else { units.rows_of(candidates).len() };
        let (name, share) = (dataset.name.clone(), share.to_string());
        return Err(SplitError::NoValidationRows { name, share, rows });
    }
    Ok(chosen.to_vec())
}

/// Refuses a split whose number is not below `available`.
fn require_split(dataset: &Dataset, available: usize) -> Result<(), SplitError> {
    if (dataset.split as usize) < available {
        return Ok(());
    }
    Err(SplitError::BeyondRule { name: dataset.name.clone(), split: dataset.split, available })
}

fn sorted(units: &[usize]) -> Vec<usize> {
    let mut units = units.to_vec();
    units.sort_unstable();
    units
}

/// Units in a random order.
fn shuffled(units: &[usize], seed: u64) -> Vec<usize> {
    draw(units.len(), units.len(), seed, "validation").into_iter().map(|place| units[place]).collect()
}

/// Sets of rows that stay together, each in the order of the file.
struct Units(Vec<Vec<usize>>);

impl Units {
    /// The units of a data set, in the order of their first rows.
    fn of(table: &Table, dataset: &Dataset) -> Result<Units, SplitError> {
        let mut links = Links::new(table.n());
        let bits = |value: f64| (value + 0.0).to_bits();
        if let Some(group) = dataset.group() {
            links.join_equal(column(table, dataset, group)?.into_iter().map(bits));
        }
        if dataset.keep_replicates {
            links.join_equal(table.input_numbers().into_iter());
        }
        let by = dataset.rule.iter().flat_map(SplitRule::columns);
        let columns = by.map(|label| column(table, dataset, label)).collect::<Result<Vec<_>, _>>()?;
        if !columns.is_empty() {
            let place = |row: usize| columns.iter().map(|values| bits(values[row])).collect::<Vec<u64>>();
            links.join_equal((0..table.n()).map(place));
        }
        Ok(links.units())
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    /// Rows in all.
    fn rows(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }

    /// Refuses fewer than `needed` units.
    fn require(&self, dataset: &Dataset, needed: usize) -> Result<(), SplitError> {
        if self.len() >= needed {
            return Ok(());
        }
        Err(SplitError::TooFewGroups { name: dataset.name.clone(), groups: self.len(), needed })
    }

    /// The rows of some units, in the order of the file.
    fn rows_of(&self, units: &[usize]) -> Vec<usize> {
        let mut rows: Vec<usize> = units.iter().flat_map(|unit| &self.0[*unit]).copied().collect();
        rows.sort_unstable();
        rows
    }

    /// How many of the first units have a number of rows nearest to the one that is asked for; at least one, unless none is
    /// asked for or there.
    fn prefix(&self, units: &[usize], asked: usize) -> usize {
        if asked == 0 {
            return 0;
        }
        let mut rows = 0;
        for (count, unit) in units.iter().enumerate() {
            let more = rows + self.0[*unit].len();
            if more >= asked {
                let is_nearer = count == 0 || more - asked <= asked - rows;
                return if is_nearer { count + 1 } else { count };
            }
            rows = more;
        }
        units.len()
    }

    /// The units by a number of each row, of which `one` chooses one for each unit.
    fn in_order_of(self, values: &[f64], one: fn(f64, f64) -> f64) -> Units {
        let value = |rows: &Vec<usize>| rows.iter().map(|row| values[*row]).reduce(one).unwrap_or_default();
        let mut keyed: Vec<(f64, Vec<usize>)> = self.0.into_iter().map(|rows| (value(&rows), rows)).collect();
        // Stable: units of the same number stay in the order of their first rows.
        keyed.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        Units(keyed.into_iter().map(|(_, rows)| rows).collect())
    }

    /// Contiguous blocks of units as units. A unit lies at the mean of its rows; columns are divided by their standard
    /// deviations.
    fn blocks(self, dataset: &Dataset, blocks: usize, columns: &[Vec<f64>]) -> Result<Units, SplitError> {
        self.require(dataset, blocks)?;
        let scaled = |values: &Vec<f64>| {
            let scale = Scale::standardising(ArrayView1::from(values));
            values.iter().map(|value| scale.apply(*value)).collect::<Vec<f64>>()
        };
        let scaled: Vec<Vec<f64>> = columns.iter().map(scaled).collect();
        let mean = |rows: &Vec<usize>, values: &Vec<f64>| {
            rows.iter().map(|row| values[*row]).sum::<f64>() / rows.len() as f64
        };
        let place = |rows: &Vec<usize>| scaled.iter().map(|values| mean(rows, values)).collect();
        let places: Vec<Vec<f64>> = self.0.iter().map(place).collect();
        let found = self.bisected(blocks, &places);
        Ok(Units(found.iter().map(|units| self.rows_of(units)).collect()))
    }

    /// The units of blocks with about equal numbers of rows, given a place for each unit. There is at least one unit for each
    /// block.
    fn bisected(&self, blocks: usize, places: &[Vec<f64>]) -> Vec<Vec<usize>> {
        let mut found = Vec::with_capacity(blocks);
        self.bisect(&mut (0..self.len()).collect::<Vec<usize>>(), blocks, places, &mut found);
        found
    }

    fn bisect(&self, units: &mut [usize], blocks: usize, places: &[Vec<f64>], found: &mut Vec<Vec<usize>>) {
        if blocks < 2 {
            found.push(units.to_vec());
            return;
        }
        let axis = widest(units, places);
        units.sort_by(|a, b| places[*a][axis].total_cmp(&places[*b][axis]).then(a.cmp(b)));
        let first = blocks / 2;
        let rows: usize = units.iter().map(|unit| self.0[*unit].len()).sum();
        let asked = (rows as f64 * first as f64 / blocks as f64).round() as usize;
        let cut = self.prefix(units, asked).clamp(first, units.len() - (blocks - first));
        let (low, high) = units.split_at_mut(cut);
        self.bisect(low, first, places, found);
        self.bisect(high, blocks - first, places, found);
    }
}

/// The axis along which the places of some units differ most; the first one of equal ones.
fn widest(units: &[usize], places: &[Vec<f64>]) -> usize {
    let width = |axis: usize| {
        let along = || units.iter().map(|unit| places[*unit][axis]);
        along().fold(f64::NEG_INFINITY, f64::max) - along().fold(f64::INFINITY, f64::min)
    };
    let axes = places.first().map_or(0, Vec::len);
    (0..axes).rev().max_by(|a, b| width(*a).total_cmp(&width(*b))).unwrap_or_default()
}

/// Rows that stay together, as a forest: each row has a parent, and a root is the first row of its unit.
struct Links(Vec<usize>);

impl Links {
    fn new(rows: usize) -> Links {
        Links((0..rows).collect())
    }

    fn root(&mut self, mut row: usize) -> usize {
        while self.0[row] != row {
            self.0[row] = self.0[self.0[row]];
            row = self.0[row];
        }
        row
    }

    /// Joins the rows with equal keys, of which there is one for each row.
    fn join_equal<K: Hash + Eq>(&mut self, keys: impl Iterator<Item = K>) {
        let mut first = HashMap::new();
        for (row, key) in keys.enumerate() {
            let other = *first.entry(key).or_insert(row);
            let (one, other) = (self.root(row), self.root(other));
            self.0[one.max(other)] = one.min(other);
        }
    }

    fn units(mut self) -> Units {
        let mut units: Vec<Vec<usize>> = Vec::new();
        let mut number = HashMap::new();
        for row in 0..self.0.len() {
            let place = *number.entry(self.root(row)).or_insert(units.len());
            if place == units.len() {
                units.push(Vec::new());
            }
            units[place].push(row);
        }
        Units(units)
    }
}
