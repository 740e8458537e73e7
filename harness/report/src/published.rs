//! Our results beside published figures.

use gpbench_record::metric::{self, Style};
use gpbench_record::{Task, names};

use crate::aggregate::Group;
use crate::agreement::{self, Entry, Pair};
use crate::cost::Size;
use crate::layout::with_error;
use crate::number::times;
use crate::reference::{Figure, Figures, Reference};
use crate::results::{OWN_PREDICTIONS, Results, once_each};
use crate::table::TextTable;

/// Tables of our results beside published figures and, of learners, of their agreement; none where no case has figures. `seconds`
/// is the metric of the time that papers give, `ratio` the speed-up of a group over the baseline that papers take.
pub(crate) fn tables(
    results: &Results<'_>,
    reference: &Reference,
    seconds: &str,
    ratio: impl Fn(&Group) -> Option<String>,
) -> Vec<TextTable> {
    let entries = entries(results, reference);
    let (proposed, splits) = (&reference.comparison.proposed, splits(reference));
    let agreement = agreement::table(&entries, proposed, splits, &reference.paper.short);
    let figures = table(results, reference, seconds, ratio, &entries);
    figures.into_iter().chain(agreement).collect()
}

/// Number of splits that divides the square of the published spread: 1 where the spread is a standard error.
fn splits(reference: &Reference) -> usize {
    if reference.comparison.spread_is_deviation { reference.comparison.splits } else { 1 }
}

/// Learners with figures of ours, computed from their models, and of the paper.
fn entries(results: &Results<'_>, reference: &Reference) -> Vec<Entry> {
    results.groups.iter().filter_map(|group| entry(results, reference, group)).collect()
}

fn entry(results: &Results<'_>, reference: &Reference, group: &Group) -> Option<Entry> {
    let case = results.case(group);
    case.task.learning().filter(|_| !results.has_own_predictions(group))?;
    let theirs = find(results, reference, group)?;
    let pair =
        |name: &str, theirs: Option<Figure>| Some(Pair { ours: *group.metrics.get(name)?, theirs: theirs? });
    Some(Entry {
        dataset: group.problem.dataset.clone(),
        kernel: group.problem.kernel.clone(),
        batch: Size::Batch.of(case).map(|batch| batch as u64),
        figures: [
            pair(names::NLML, theirs.nlml),
            pair(names::TEST_RMSE, theirs.rmse),
            pair(names::TEST_NLL, theirs.nll.filter(|_| theirs.compares_nll)),
        ],
        method: theirs.method,
    })
}

/// Published figures of the method that a group stands for.
fn find(results: &Results<'_>, reference: &Reference, group: &Group) -> Option<Figures> {
    let case = results.case(group);
    // A learner's inducing points are a part of the method.
    let points = group.mean(names::INDUCING_POINTS).filter(|_| case.task.learning().is_none());
    reference.find(case, points)
}

fn table(
    results: &Results<'_>,
    reference: &Reference,
    seconds: &str,
    ratio: impl Fn(&Group) -> Option<String>,
    entries: &[Entry],
) -> Option<TextTable> {
    let mut table = TextTable::new(format!("Beside the figures of {}", reference.paper.short));
    for name in ["data set", "solver", "estimator", "method there", "hyperparameters here"] {
        table = table.words(name);
    }
    for name in ["NLML", "RMSE", "NLL", "minutes", "speed-up"] {
        table = table.numbers(format!("{name}, here"));
        if name == "NLL" {
            table = table.numbers(EXACT_NLL);
        }
        table = table.numbers(format!("{name}, there"));
    }
    table = table.words("verdict").key(&["solver"]).major(&["verdict", "RMSE, here", "RMSE, there"]);
    table = table.minor(&["estimator", "method there", "hyperparameters here"]);
    let several = once_each(results.groups.iter().map(Group::estimator)).len() > 1;
    for model in results.models() {
        let mut methods: Vec<String> = Vec::new();
        for group in results.of_model(model) {
            let Some(theirs) = find(results, reference, group) else { continue };
            let ours = |name: &str, scale: f64| {
                let style = metric::find(name).map_or(Style::Short, |metric| metric.style);
                let mean = group.metrics.get(name).map(|mean| mean.scaled(scale));
                mean.map_or_else(String::new, |mean| with_error(style, &mean) + results.mark(group, name))
            };
            let minutes = if theirs.minutes.is_some() { ours(seconds, 1.0 / 60.0) } else { String::new() };
            let speed_up = ratio(group).unwrap_or_default();
            let nlml = if theirs.nlml.is_some() { ours(names::NLML, 1.0) } else { String::new() };
            let exact_nll =
                if theirs.nll.is_some() { ours(names::TEST_NLL_EXACT, 1.0) } else { String::new() };
            let nll = ours(names::TEST_NLL, 1.0);
            let ours = Ours { nlml, rmse: ours(names::TEST_RMSE, 1.0), nll, exact_nll, minutes, speed_up };
            let own = entry(results, reference, group);
            let verdict = own.map(|own| agreement::words(entries, &own, splits(reference)));
            let own_predictions = || match results.has_own_predictions(group) {
                true => format!("none: {OWN_PREDICTIONS} predictions"),
                false => String::new(),
            };
            let estimator = if several { group.estimator() } else { "" };
            let here = hyperparameters(results, reference, group);
            methods.push(theirs.method.clone());
            let words = [model.dataset, &group.solver, estimator];
            table.row(row(words, &here, ours, &theirs, verdict.unwrap_or_else(own_predictions)));
        }
        let any = results.of_model(model)[0];
        let others = reference.others(results.case(any), &methods);
        for theirs in others.iter().filter(|_| !methods.is_empty()) {
            let here = hyperparameters(results, reference, any);
            table.row(row([model.dataset, "", ""], &here, Ours::default(), theirs, String::new()));
        }
    }
    table.caption.clone_from(&reference.comparison.conditions);
    (!table.rows.is_empty()).then(|| table.without_empty_columns())
}

/// Heading of the NLL of the exact Gaussian process under the same hyperparameters. Papers that print the NLL of a
/// solver without samples may mean this one.
const EXACT_NLL: &str = "exact NLL, here";

/// Figures of a group, as written.
#[derive(Default)]
struct Ours {
    nlml: String,
    rmse: String,
    nll: String,
    exact_nll: String,
    minutes: String,
    speed_up: String,
}

fn row(
    names: [&str; 3],
    hyperparameters: &str,
    ours: Ours,
    theirs: &Figures,
    verdict: String,
) -> Vec<String> {
    let figure = |figure: Option<Figure>| figure.map_or_else(String::new, |figure| figure.to_string());
    let speed_up = theirs.speed_up.map_or_else(String::new, times);
    let words = names.into_iter().chain([theirs.method.as_str(), hyperparameters]).map(str::to_owned);
    let numbers = [
        ours.nlml,
        figure(theirs.nlml),
        ours.rmse,
        figure(theirs.rmse),
        ours.nll,
        ours.exact_nll,
        figure(theirs.nll),
        ours.minutes,
        figure(theirs.minutes),
        ours.speed_up,
        speed_up,
    ];
    words.chain(numbers).chain([verdict]).collect()
}

/// Origin of a group's hyperparameters, where they are given rather than trained.
fn hyperparameters(results: &Results<'_>, reference: &Reference, group: &Group) -> String {
    let case = results.case(group);
    match case.task {
        Task::Train(_) | Task::Learn(_) => String::new(),
        _ if reference.is_low_noise(case) => "noise variance 1e-6".to_owned(),
        _ => case.kernel.origin.to_string(),
    }
}
