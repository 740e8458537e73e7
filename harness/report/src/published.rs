//! Our results beside published figures.

use gpbench_record::metric::{self, Style};
use gpbench_record::{Task, names};

use crate::aggregate::Group;
use crate::layout::with_error;
use crate::number::times;
use crate::reference::{Figure, Figures, Reference};
use crate::results::{Results, once_each};
use crate::table::Table;

/// The table of our results beside published figures; none where no case has any. `seconds` is the metric of the
/// time that papers give, `ratio` the speed-up of a group over the baseline that papers take.
pub(crate) fn table(
    results: &Results<'_>,
    reference: &Reference,
    seconds: &str,
    ratio: impl Fn(&Group) -> Option<f64>,
) -> Option<Table> {
    let mut table = Table::new(format!("Beside the figures of {}", reference.paper.short));
    for name in ["data set", "solver", "estimator", "method there", "hyperparameters here"] {
        table = table.words(name);
    }
    for name in ["RMSE", "NLL", "minutes", "speed-up"] {
        table = table.numbers(format!("{name}, here")).numbers(format!("{name}, there"));
    }
    let several = once_each(results.groups.iter().map(Group::estimator)).len() > 1;
    for model in results.models() {
        let mut methods: Vec<String> = Vec::new();
        for group in results.of_model(model) {
            let case = results.case(group);
            let Some(theirs) = reference.find(case, group.mean(names::INDUCING_POINTS)) else { continue };
            let ours = |name: &str, scale: f64| {
                let style = metric::find(name).map_or(Style::Short, |metric| metric.style);
                let mean = group.metrics.get(name).map(|mean| mean.scaled(scale));
                mean.map_or_else(String::new, |mean| with_error(style, &mean))
            };
            let minutes = if theirs.minutes.is_some() { ours(seconds, 1.0 / 60.0) } else { String::new() };
            let speed_up = ratio(group).map_or_else(String::new, times);
            let ours = [ours(names::TEST_RMSE, 1.0), ours(names::TEST_NLL, 1.0), minutes, speed_up];
            let estimator = if several { group.estimator() } else { "" };
            let here = hyperparameters(results, reference, group);
            methods.push(theirs.method.clone());
            table.row(row([model.dataset, &group.solver, estimator], &here, ours, &theirs));
        }
        let any = results.of_model(model)[0];
        let others = reference.others(results.case(any), &methods);
        for theirs in others.iter().filter(|_| !methods.is_empty()) {
            let here = hyperparameters(results, reference, any);
            table.row(row([model.dataset, "", ""], &here, Default::default(), theirs));
        }
    }
    table.caption.clone_from(&reference.comparison.conditions);
    (!table.rows.is_empty()).then(|| table.without_empty_columns())
}

fn row(names: [&str; 3], hyperparameters: &str, ours: [String; 4], theirs: &Figures) -> Vec<String> {
    let figure = |figure: Option<Figure>| figure.map_or_else(String::new, |figure| figure.to_string());
    let speed_up = theirs.speed_up.map_or_else(String::new, times);
    let theirs_of = [figure(theirs.rmse), figure(theirs.nll), figure(theirs.minutes), speed_up];
    let words = names.into_iter().chain([theirs.method.as_str(), hyperparameters]).map(str::to_owned);
    words.chain(ours.into_iter().zip(theirs_of).flat_map(|(ours, theirs)| [ours, theirs])).collect()
}

/// What hyperparameters a group has, where they are given rather than trained.
fn hyperparameters(results: &Results<'_>, reference: &Reference, group: &Group) -> String {
    let case = results.case(group);
    match case.task {
        Task::Train(_) => String::new(),
        _ if reference.is_low_noise(case) => "noise variance 1e-6".to_owned(),
        _ => case.kernel.origin.to_string(),
    }
}
