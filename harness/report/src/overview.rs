//! The tables of a report.

use gpbench_record::{
    Case, Dataset, Environment, Estimator, EstimatorMethod, Frequencies, Param, ProbeDistribution, Row,
    Source, Status, Task, names,
};

use crate::aggregate::{Estimate, Group, Problem, problems, title};
use crate::metric::{COLUMNS, Metric, SECONDS, Style, short};
use crate::reference::{Reference, TrainingReference, is_low_noise};
use crate::run::Run;
use crate::table::{Cell, Table};
use crate::{likelihood, training};

/// What the columns mean: signs, units and what a mean is taken over.
const CONVENTIONS: &str = "\
Mean ± standard error over seeds (a seed's timing repeats are averaged first) of the cases that ended ok or \
not_converged; `ok` counts the cases that ended ok, and a mean over fewer seeds than were run says over how many, \
as in `(2 of 3)`. Bold: the best mean, ties in the digits shown included, among \
the solvers whose cases all ended ok. Lower is better, \
except for ok and speed-up. Residuals are ||b − Hv|| / ||b||, recomputed \
in double precision after the clock stopped; `probes` is their mean over the right-hand sides beside y. RMSE and \
NLL (mean negative log-likelihood of a test row, from the posterior samples' variances plus noise) are in units of \
the standardised target. `exact NLL` uses the exact variances, and `RMSE to exact` is the distance of the \
predictive mean to that of the exact GP. An epoch is n² kernel entries used. Times are wall-clock seconds of \
prepare and solve, without loading, verification and trace points; memory is the peak resident memory of the \
case's process in MiB.";

/// What the columns of this run's results mean.
pub(crate) fn conventions(run: &Run) -> &'static str {
    match run.task() {
        Some(Task::Train) => training::CONVENTIONS,
        Some(Task::Likelihood) => likelihood::CONVENTIONS,
        _ => CONVENTIONS,
    }
}

/// One table a problem: solvers by metrics.
pub(crate) fn results(run: &Run, groups: &[Group]) -> Vec<Table> {
    if run.task() == Some(Task::Train) {
        return training::results(run, groups);
    }
    if run.task() == Some(Task::Likelihood) {
        return likelihood::results(run, groups);
    }
    let all = problems(groups);
    let table = |problem: &&Problem| {
        let of_problem: Vec<&Group> = groups.iter().filter(|g| g.problem == **problem).collect();
        results_of(&title(problem, &all), &of_problem, run.baseline_solver())
    };
    all.iter().map(table).collect()
}

fn results_of(title: &str, groups: &[&Group], baseline: Option<&str>) -> Table {
    let mut table =
        COLUMNS.iter().fold(Table::new(title).words("solver").numbers("ok"), |t, m| t.numbers(m.title));
    let reference = baseline.and_then(|name| groups.iter().find(|g| g.solver == name)?.mean(SECONDS));
    if let Some(name) = baseline {
        table = table.numbers(format!("speed-up over {name}"));
    }
    let best: Vec<Option<String>> = COLUMNS.iter().map(|m| best(m, groups)).collect();
    for group in groups {
        let mut cells: Vec<Cell> =
            vec![group.solver.as_str().into(), format!("{}/{}", group.n_ok, group.n).into()];
        for (metric, best) in COLUMNS.iter().zip(&best) {
            cells.push(cell(metric, group, best.as_deref()));
        }
        if baseline.is_some() {
            let speed_up = reference.zip(group.mean(SECONDS)).filter(|(_, own)| *own > 0.0);
            cells.push(
                speed_up.map_or_else(String::new, |(base, own)| format!("{}×", short(base / own))).into(),
            );
        }
        table.row(cells);
    }
    table.without_empty_columns()
}

/// The best mean of a column as it is written, if the column ranks its solvers and there is a choice.
fn best(metric: &Metric, groups: &[&Group]) -> Option<String> {
    let mut means: Vec<f64> =
        groups.iter().filter(|g| g.all_ok()).filter_map(|g| g.mean(metric.name)).collect();
    means.sort_by(f64::total_cmp);
    (metric.ranked && means.len() > 1).then(|| metric.style.format(means[0]))
}

fn cell(metric: &Metric, group: &Group, best: Option<&str>) -> Cell {
    let Some(estimate) = group.metrics.get(metric.name) else { return Cell::default() };
    let mean = metric.style.format(estimate.mean);
    let strong = group.all_ok() && best == Some(mean.as_str());
    Cell { text: with_spread(metric.style, estimate), strong }
}

/// A mean with its standard error; over fewer seeds than were run, it says over how many.
pub(crate) fn with_spread(style: Style, estimate: &Estimate) -> String {
    let mean = style.format(estimate.mean);
    let text = match estimate.stderr {
        Some(stderr) => format!("{mean} ± {}", style.format_spread(estimate.mean, stderr)),
        None => mean,
    };
    match estimate {
        Estimate { seeds, of, .. } if seeds < of => format!("{text} ({seeds} of {of})"),
        _ => text,
    }
}

/// Ours beside the published figures, and what to know before comparing.
pub(crate) fn published(run: &Run, groups: &[Group]) -> Option<Table> {
    let name = run.settings.reference.as_deref()?;
    if let Some(reference) = TrainingReference::named(name) {
        return training::published(run, groups, reference);
    }
    let reference = Reference::named(name)?;
    let cited = reference.paper.short();
    let mut table = Table::new(format!("Beside the figures of {cited}"));
    for name in ["data set", "solver", "method there", "hyperparameters here"] {
        table = table.words(name);
    }
    for name in ["RMSE", "NLL", "minutes"] {
        table = table.numbers(format!("{name}, here")).numbers(format!("{name}, there"));
    }
    let there = |figure: Option<crate::reference::Figure>| figure.map_or_else(String::new, |f| f.to_string());
    let hyperparameters = |case: &Case| {
        if is_low_noise(case) { "noise variance 1e-6".to_owned() } else { case.kernel.origin.clone() }
    };
    let mut methods: Vec<String> = Vec::new();
    for (i, group) in groups.iter().enumerate() {
        let Some(case) = run.rows.iter().find(|r| in_group(r, group)).map(|r| &r.case) else { continue };
        let is_last = groups.get(i + 1).is_none_or(|next| next.problem != group.problem);
        let theirs = reference.find(case, group.mean(names::INDUCING_POINTS));
        if let Some(theirs) = theirs {
            let ours = |name, style, scale: f64| {
                let scaled = |e: &Estimate| Estimate {
                    mean: e.mean * scale,
                    stderr: e.stderr.map(|s| s * scale),
                    ..*e
                };
                group.metrics.get(name).map_or_else(String::new, |e| with_spread(style, &scaled(e)))
            };
            methods.push(theirs.method());
            table.row([
                group.problem.dataset.clone(),
                group.solver.clone(),
                theirs.method(),
                hyperparameters(case),
                ours(names::TEST_RMSE, Style::Fixed, 1.0),
                there(theirs.rmse_of(case)),
                ours(names::TEST_NLL, Style::Fixed, 1.0),
                there(theirs.nll_of(case)),
                theirs.minutes_of(case).map_or_else(String::new, |_| ours(SECONDS, Style::Short, 1.0 / 60.0)),
                there(theirs.minutes_of(case)),
            ]);
        }
        if is_last && !methods.is_empty() {
            for theirs in reference.others(case, &methods) {
                let mut cells = vec![group.problem.dataset.clone(), String::new(), theirs.method()];
                cells.extend([hyperparameters(case), String::new(), there(theirs.rmse_of(case))]);
                cells.extend([String::new(), there(theirs.nll_of(case))]);
                cells.extend([String::new(), there(theirs.minutes_of(case))]);
                table.row(cells);
            }
        }
        if is_last {
            methods.clear();
        }
    }
    table.caption = reference.conditions.to_owned();
    (!table.rows.is_empty()).then(|| table.without_empty_columns())
}

pub(crate) fn in_group(row: &Row, group: &Group) -> bool {
    row.labels.solver == group.solver && Problem::of(&row.labels) == group.problem
}

/// How many cases ended how.
pub(crate) fn outcomes(run: &Run) -> Vec<(String, usize)> {
    const ALL: [Status; 8] = [
        Status::Ok,
        Status::NotConverged,
        Status::Diverged,
        Status::Timeout,
        Status::OutOfMemory,
        Status::Crashed,
        Status::Invalid,
        Status::Skipped,
    ];
    let count = |s: Status| (s.to_string(), run.rows.iter().filter(|r| r.status == s).count());
    let mut counts: Vec<_> = ALL.map(count).into_iter().filter(|(_, n)| *n > 0).collect();
    if run.missing() > 0 {
        counts.push(("not run yet".to_owned(), run.missing()));
    }
    counts
}

/// The rows that did not end `ok`, with their reasons.
pub(crate) fn not_ok(run: &Run) -> Option<Table> {
    let mut table = Table::new("Cases that did not end ok").words("case").words("status").words("reason");
    for row in run.rows.iter().filter(|r| r.status != Status::Ok) {
        table.row([row.labels.to_string(), row.status.to_string(), row.reason.clone()]);
    }
    (!table.rows.is_empty()).then_some(table)
}

/// Solvers, with their plugin, parameters and budget.
pub(crate) fn solvers(run: &Run) -> Table {
    let mut table = Table::new("Solvers").words("solver").words("plugin").words("parameters").words("budget");
    for name in run.solvers() {
        let cases = || run.rows.iter().map(|r| &r.case).filter(|c| c.solver.name == name);
        let distinct = |of: fn(&Case) -> String| once_each(cases().map(of));
        table.row([
            name.to_owned(),
            distinct(|c| c.solver.plugin.clone()),
            distinct(|c| {
                c.solver
                    .params
                    .iter()
                    .map(|(k, v)| format!("{k} = {}", param(v)))
                    .collect::<Vec<_>>()
                    .join(", ")
            }),
            distinct(|c| budget(&c.budget)),
        ]);
    }
    table.without_empty_columns()
}

/// Data sets, with their size and source.
pub(crate) fn datasets(run: &Run) -> Table {
    let mut table = Table::new("Data sets")
        .words("data set")
        .words("source")
        .numbers("n (training)")
        .numbers("unique inputs")
        .numbers("d");
    let mut names: Vec<&str> = run.rows.iter().map(|r| r.labels.dataset.as_str()).collect();
    names.dedup();
    for name in names {
        let rows = || run.rows.iter().filter(|r| r.labels.dataset == name);
        let number = |of: fn(&Row) -> Option<usize>| once_each(rows().filter_map(of).map(|v| v.to_string()));
        table.row([
            name.to_owned(),
            once_each(rows().map(|r| source(&r.case.dataset))),
            number(|r| r.n),
            number(|r| r.metrics.get(names::UNIQUE_INPUTS).map(|unique| unique as usize)),
            number(|r| r.d),
        ]);
    }
    table.without_empty_columns()
}

/// Kernels and estimators as the spec resolved them.
pub(crate) fn models(run: &Run) -> Table {
    let mut table = Table::new("Models")
        .words("data set")
        .words("kernel")
        .words("hyperparameters")
        .words("right-hand sides");
    let mut seen = Vec::new();
    for row in &run.rows {
        let (kernel, estimator) = (&row.case.kernel, &row.case.estimator);
        let key = (&row.labels.dataset, &kernel.name, &estimator.name);
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let same = || run.rows.iter().filter(|r| (&r.labels.dataset, &r.labels.kernel) == (key.0, key.1));
        let scale = |of: fn(&gpbench_record::Kernel) -> f64| range(same().map(|r| of(&r.case.kernel)));
        table.row([
            row.labels.dataset.clone(),
            kernel.family.clone(),
            format!(
                "{}: noise scale {}, signal scale {}",
                kernel.origin,
                scale(|k| k.noise_scale),
                scale(|k| k.signal_scale)
            ),
            format!("y and {} {}{}", estimator.probes, estimator_word(row), drawn_from(estimator)),
        ]);
    }
    table
}

fn estimator_word(row: &Row) -> &'static str {
    match (row.case.estimator.method, row.case.estimator.probe_distribution) {
        (EstimatorMethod::Pathwise, _) => "pathwise targets",
        (EstimatorMethod::Standard, ProbeDistribution::Normal) => "standard normal probes",
        (EstimatorMethod::Standard, ProbeDistribution::Rademacher) => "Rademacher probes",
        (EstimatorMethod::Exact | EstimatorMethod::Rff | EstimatorMethod::SsRff, _) => {
            "targets of the prediction alone"
        }
    }
}

/// What prior functions are drawn from, where there are any.
fn drawn_from(estimator: &Estimator) -> String {
    match (estimator.frequencies, estimator.features) {
        (Frequencies::Exact, _) => " (exact draws of the prior)".to_owned(),
        (_, 0) => String::new(),
        (_, features) => format!(" ({features} features)"),
    }
}

/// Machine and measurement, as pairs of a name and a value.
pub(crate) fn measured(run: &Run) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if let Some(e) = &run.environment {
        facts.push(("gpbench", e.gpbench.clone()));
        facts.push(("machine", machine(e)));
        for later in &run.later_environments {
            let what = e.differences(later).join(", ");
            facts.push((
                "went on elsewhere",
                format!("{} ({what}); do not compare its times", machine(later)),
            ));
        }
        if let Some(load) = e.load.first() {
            facts.push(("load as it began", load.to_string()));
        }
        facts.push(("threads a case", e.threads.to_string()));
        facts.push(("kernel products", e.cpu_dispatch.clone()));
        facts.push(("BLAS", format!("{}, core type {}", e.blas, e.blas_core)));
    }
    if let Some(revision) =
        run.environment.as_ref().and_then(|e| Some((e.git_revision.as_ref()?, e.git_dirty)))
    {
        let (commit, dirty) = revision;
        let changes = if dirty == Some(true) { ", with changes" } else { "" };
        facts.push(("git revision", format!("{}{changes}", commit.get(..12).unwrap_or(commit))));
    }
    let seeds: Vec<u64> = run.rows.iter().map(|r| r.labels.seed).collect();
    if let (Some(lo), Some(hi)) = (seeds.iter().min(), seeds.iter().max()) {
        facts.push(("seeds", if lo == hi { lo.to_string() } else { format!("{lo} to {hi}") }));
    }
    let clocked = run.rows.iter().filter(|r| !r.reproducible).count();
    if clocked > 0 {
        facts
            .push(("not reproducible", format!("{clocked} cases: a clock decided where the solver stopped")));
    }
    if let Some(last) = run.rows.iter().map(|r| r.finished.as_str()).max() {
        facts.push(("last case finished", last.to_owned()));
    }
    facts
}

fn machine(e: &Environment) -> String {
    let gib = e.memory_bytes as f64 / f64::from(1 << 30);
    format!("{}, {} cores, {gib:.0} GiB, {}", e.cpu, e.cores, e.os)
}

fn once_each(values: impl Iterator<Item = String>) -> String {
    let mut all: Vec<String> = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all.join("; ")
}

fn range(values: impl Iterator<Item = f64> + Clone) -> String {
    let lo = values.clone().fold(f64::INFINITY, f64::min);
    let hi = values.fold(f64::NEG_INFINITY, f64::max);
    if short(lo) == short(hi) { short(lo) } else { format!("{} to {}", short(lo), short(hi)) }
}

fn param(value: &Param) -> String {
    match value {
        Param::Bool(v) => v.to_string(),
        Param::Int(v) => v.to_string(),
        Param::Float(v) => v.to_string(),
        Param::Text(v) => v.clone(),
    }
}

fn budget(budget: &gpbench_record::Budget) -> String {
    let parts = [
        budget.tolerance.map(|v| format!("tolerance {v}")),
        budget.max_epochs.map(|v| format!("{v} epochs")),
        budget.seconds.map(|v| format!("{v} s")),
        budget.memory_bytes.map(|v| format!("{} MiB", Style::Memory.format(v as f64))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn source(dataset: &Dataset) -> String {
    let from = match &dataset.source {
        Source::Registry { name } => format!("UCI, {name}"),
        Source::File { path, .. } => path.clone(),
        Source::Toy { name, .. } => format!("built in, {name}"),
        Source::GpDraw(draw) => {
            format!("draw from a GP ({}, length scale {})", draw.kernel, draw.length_scale)
        }
    };
    if dataset.collapse_duplicates { format!("{from}; duplicates collapsed") } else { from }
}
