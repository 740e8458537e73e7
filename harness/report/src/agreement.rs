//! Agreement of our figures of learners with published ones.
//!
//! Of one figure: |ours - published| <= 2 sqrt(ours' standard error^2 + published spread^2 / splits) + floor, with a
//! floor of 0.05 nats or 3 % of an RMSE. Else the methods on that data set and batch size may at least have the
//! published order.

use std::cmp::Ordering;

use crate::aggregate::MeanWithError;
use crate::reference::Figure;
use crate::results::once_each;
use crate::table::TextTable;

/// Absolute part of the tolerance of likelihoods, in nats.
const NATS: f64 = 0.05;

/// Absolute part of the tolerance of an RMSE, as a share of it.
const SHARE: f64 = 0.03;

/// A figure of quality.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quality {
    Nlml,
    Rmse,
    Nll,
}

impl Quality {
    pub(crate) const ALL: [Quality; 3] = [Quality::Nlml, Quality::Rmse, Quality::Nll];

    fn name(self) -> &'static str {
        match self {
            Quality::Nlml => "NLML",
            Quality::Rmse => "RMSE",
            Quality::Nll => "NLL",
        }
    }
}

/// Our figure beside the published one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) ours: MeanWithError,
    pub(crate) theirs: Figure,
}

/// A method on a data set, with a kernel and a batch size.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) dataset: String,
    pub(crate) kernel: String,
    pub(crate) batch: Option<u64>,
    /// The paper's name of the method.
    pub(crate) method: String,
    /// In the order of [`Quality::ALL`].
    pub(crate) figures: [Option<Pair>; 3],
}

/// Verdict on one figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Agrees,
    SameOrder,
    Differs,
}

impl Entry {
    fn figure(&self, quality: Quality) -> Option<&Pair> {
        self.figures[quality as usize].as_ref()
    }

    /// Key of the setting in which methods are compared.
    fn place(&self) -> (&str, &str, Option<u64>) {
        (&self.dataset, &self.kernel, self.batch)
    }
}

impl Pair {
    /// Whether the distance is explained by the spread of both.
    fn agrees(&self, quality: Quality, splits: usize) -> bool {
        let theirs = self.theirs.stderr.unwrap_or(0.0) / (splits as f64).sqrt();
        let spread = self.ours.stderr.unwrap_or(0.0).hypot(theirs);
        let floor = match quality {
            Quality::Rmse => SHARE * self.theirs.mean.abs(),
            Quality::Nlml | Quality::Nll => NATS,
        };
        (self.ours.mean - self.theirs.mean).abs() <= 2.0 * spread + floor
    }
}

/// Text of the verdicts on an entry's figures; empty where there are none.
pub(crate) fn words(entries: &[Entry], entry: &Entry, splits: usize) -> String {
    let of = |quality: Quality| {
        let said = match verdict(entries, entry, quality, splits)? {
            Verdict::Agrees => "agrees",
            Verdict::SameOrder => "same order",
            Verdict::Differs => "differs",
        };
        Some((quality.name(), said))
    };
    let all: Vec<_> = Quality::ALL.into_iter().filter_map(of).collect();
    match all.split_first() {
        Some((first, rest)) if rest.iter().all(|other| other.1 == first.1) => first.1.to_owned(),
        _ => all.iter().map(|(name, said)| format!("{name} {said}")).collect::<Vec<_>>().join(", "),
    }
}

fn verdict(entries: &[Entry], entry: &Entry, quality: Quality, splits: usize) -> Option<Verdict> {
    let pair = entry.figure(quality)?;
    if pair.agrees(quality, splits) {
        return Some(Verdict::Agrees);
    }
    let beside: Vec<&Pair> = entries
        .iter()
        .filter(|other| other.place() == entry.place())
        .filter_map(|other| other.figure(quality))
        .collect();
    let is_same = |a: &Pair, b: &Pair| {
        a.ours.mean.total_cmp(&b.ours.mean) == a.theirs.mean.total_cmp(&b.theirs.mean)
            || a.theirs.mean.total_cmp(&b.theirs.mean) == Ordering::Equal
    };
    let has_order = beside.len() > 1 && beside.iter().all(|a| beside.iter().all(|b| is_same(a, b)));
    Some(if has_order { Verdict::SameOrder } else { Verdict::Differs })
}

/// Numbers of statements that hold here and in the paper, and of all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Count {
    here: usize,
    there: usize,
    of: usize,
}

impl Count {
    fn add(&mut self, here: bool, there: bool) {
        self.here += usize::from(here);
        self.there += usize::from(there);
        self.of += 1;
    }
}

/// Table of the agreement of all figures and of the paper's claims; none with fewer than two entries.
pub(crate) fn table(entries: &[Entry], proposed: &[String], splits: usize, paper: &str) -> Option<TextTable> {
    let mut table = TextTable::new(format!("How far they agree with {paper}")).words("statement");
    table = ["here", "there", "of"].into_iter().fold(table, TextTable::numbers);
    let mut row = |statement: String, here: usize, there: String, of: usize| {
        if of > 0 {
            table.row([statement, here.to_string(), there, of.to_string()]);
        }
    };
    for quality in Quality::ALL {
        let verdicts: Vec<Verdict> =
            entries.iter().filter_map(|entry| verdict(entries, entry, quality, splits)).collect();
        let count = |wanted: Verdict| verdicts.iter().filter(|verdict| **verdict == wanted).count();
        let (name, of) = (quality.name(), verdicts.len());
        row(format!("{name} agrees"), count(Verdict::Agrees), String::new(), of);
        row(
            format!("{name} differs, methods in the published order"),
            count(Verdict::SameOrder),
            String::new(),
            of,
        );
        let signs = signs(entries, proposed, quality);
        row(
            format!("{name} of {} against the others has the published sign", proposed.join(", ")),
            signs.here,
            String::new(),
            signs.of,
        );
    }
    for (method, count) in batches(entries) {
        let statement = format!("NLML of {method} is no worse at the smallest batch than at the largest");
        row(statement, count.here, count.there.to_string(), count.of);
    }
    let count = least(entries);
    row("The least NLML has the least RMSE too".to_owned(), count.here, count.there.to_string(), count.of);
    for dataset in once_each(entries.iter().map(|entry| entry.dataset.as_str())) {
        let count = first(entries, proposed, dataset);
        let statement = format!("{dataset}: one of {} has the least NLML", proposed.join(", "));
        row(statement, count.here, count.there.to_string(), count.of);
    }
    table.caption = "Counts of figures, of pairs of methods, or of batch sizes and kernels on the data sets above. `agrees`: the \
                     distance is at most twice the standard error of both, plus 0.05 nats or 3 % of an RMSE."
        .to_owned();
    (entries.len() > 1 && !table.rows.is_empty()).then(|| table.without_empty_columns())
}

/// The entries of each data set, kernel and batch size.
fn places(entries: &[Entry]) -> Vec<Vec<&Entry>> {
    let places = once_each(entries.iter().map(Entry::place));
    places.into_iter().map(|at| entries.iter().filter(|entry| entry.place() == at).collect()).collect()
}

/// Pairs of a proposed method and another whose difference has the published sign.
fn signs(entries: &[Entry], proposed: &[String], quality: Quality) -> Count {
    let mut count = Count::default();
    for place in places(entries) {
        let (own, others): (Vec<&Entry>, Vec<&Entry>) =
            place.into_iter().partition(|entry| proposed.contains(&entry.method));
        for (a, b) in own.iter().flat_map(|a| others.iter().map(move |b| (a, b))) {
            let (Some(a), Some(b)) = (a.figure(quality), b.figure(quality)) else { continue };
            let there = a.theirs.mean - b.theirs.mean;
            if there != 0.0 {
                count.add((a.ours.mean - b.ours.mean) * there > 0.0, true);
            }
        }
    }
    count
}

/// By method: data sets and kernels on which its likelihood is no worse at the smallest batch than at the largest.
fn batches(entries: &[Entry]) -> Vec<(&str, Count)> {
    let of_method = |method| {
        let own: Vec<&Entry> = entries.iter().filter(|entry| entry.method == method).collect();
        let models = once_each(own.iter().map(|entry| (&entry.dataset, &entry.kernel)));
        let mut count = Count::default();
        for (dataset, kernel) in models {
            let known = own.iter().filter(|entry| (&entry.dataset, &entry.kernel) == (dataset, kernel));
            let mut known: Vec<(u64, &Pair)> =
                known.filter_map(|entry| Some((entry.batch?, entry.figure(Quality::Nlml)?))).collect();
            known.sort_by_key(|(batch, _)| *batch);
            if let [(_, small), .., (_, large)] = known[..] {
                count.add(small.ours.mean <= large.ours.mean, small.theirs.mean <= large.theirs.mean);
            }
        }
        (method, count)
    };
    once_each(entries.iter().map(|entry| entry.method.as_str())).into_iter().map(of_method).collect()
}

/// Places where the method with the least likelihood has the least RMSE too.
fn least(entries: &[Entry]) -> Count {
    let mut count = Count::default();
    for place in places(entries) {
        let both: Vec<(&Pair, &Pair)> = place
            .iter()
            .filter_map(|entry| entry.figure(Quality::Nlml).zip(entry.figure(Quality::Rmse)))
            .collect();
        let is_least = |of: fn(&Pair) -> f64| {
            let first = both.iter().min_by(|a, b| of(a.0).total_cmp(&of(b.0)));
            first.is_some_and(|first| both.iter().all(|other| of(first.1) <= of(other.1)))
        };
        if both.len() > 1 {
            count.add(is_least(|pair| pair.ours.mean), is_least(|pair| pair.theirs.mean));
        }
    }
    count
}

/// Places of a data set where a proposed method has the least likelihood, among methods of both kinds.
fn first(entries: &[Entry], proposed: &[String], dataset: &str) -> Count {
    let mut count = Count::default();
    for place in places(entries).into_iter().filter(|place| place[0].dataset == dataset) {
        let known: Vec<(bool, &Pair)> = place
            .iter()
            .filter_map(|entry| Some((proposed.contains(&entry.method), entry.figure(Quality::Nlml)?)))
            .collect();
        let is_both = known.iter().any(|(own, _)| *own) && known.iter().any(|(own, _)| !own);
        let is_first = |of: fn(&Pair) -> f64| {
            known.iter().min_by(|a, b| of(a.1).total_cmp(&of(b.1))).is_some_and(|(own, _)| *own)
        };
        if is_both {
            count.add(is_first(|pair| pair.ours.mean), is_first(|pair| pair.theirs.mean));
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(ours: f64, theirs: f64) -> Option<Pair> {
        let ours = MeanWithError { mean: ours, stderr: Some(0.01), seeds: 5, of: 5 };
        Some(Pair { ours, theirs: Figure::new(theirs, Some(0.02)) })
    }

    fn entry(batch: u64, method: &str, nlml: Option<Pair>, rmse: Option<Pair>) -> Entry {
        Entry {
            dataset: "bike".to_owned(),
            kernel: "deep".to_owned(),
            batch: Some(batch),
            method: method.to_owned(),
            figures: [nlml, rmse, None],
        }
    }

    #[test]
    fn a_figure_agrees_within_both_spreads_and_a_floor() {
        // 2 sqrt(0.01^2 + 0.02^2 / 4) = 0.0283; with 0.05 nats 0.0783; with 3 % of 1 0.0583.
        let agrees = |quality, ours, theirs| pair(ours, theirs).unwrap().agrees(quality, 4);
        assert!(agrees(Quality::Nlml, -1.0, -1.078) && !agrees(Quality::Nlml, -1.0, -1.079));
        assert!(agrees(Quality::Rmse, 1.058, 1.0) && !agrees(Quality::Rmse, 1.059, 1.0));
    }

    #[test]
    fn verdicts_tell_order_from_difference() {
        let entries = [
            entry(32, "A", pair(-1.0, -2.0), pair(0.1, 0.1)),
            entry(32, "B", pair(-0.5, -1.0), pair(0.3, 0.2)),
            entry(64, "A", pair(-0.5, -2.0), None),
            entry(64, "B", pair(-1.0, -1.0), None),
        ];
        let said = |i: usize| words(&entries, &entries[i], 5);
        assert_eq!(said(0), "NLML same order, RMSE agrees");
        assert_eq!(said(1), "same order");
        assert_eq!(said(2), "differs");
        assert_eq!(said(3), "agrees");
    }

    #[test]
    fn claims_are_counted_here_and_there() {
        let entries = [
            entry(32, "A", pair(-1.0, -2.0), pair(0.1, 0.3)),
            entry(32, "B", pair(-0.5, -1.0), pair(0.3, 0.2)),
            entry(64, "A", pair(-1.5, -1.9), pair(0.1, 0.3)),
            entry(64, "B", pair(-2.0, -1.0), pair(0.3, 0.2)),
        ];
        let table = table(&entries, &["A".to_owned()], 5, "them").unwrap();
        let rows: Vec<Vec<&str>> =
            table.rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str()).collect()).collect();
        let of = |start: &str| rows.iter().find(|row| row[0].starts_with(start)).unwrap()[1..].to_vec();
        assert_eq!(of("NLML of A against"), ["1", "", "2"]);
        assert_eq!(of("NLML of A is no worse"), ["0", "1", "1"]);
        assert_eq!(of("NLML of B is no worse"), ["0", "1", "1"]);
        assert_eq!(of("The least NLML"), ["1", "0", "2"]);
        assert_eq!(of("bike: one of A"), ["1", "2", "2"]);
    }
}
