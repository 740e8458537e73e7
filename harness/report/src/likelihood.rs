//! The table of runs that estimate the likelihood: how far the mean estimates lie from the exact terms, beside
//! their standard errors.

use gpbench_record::{Row, names};

use crate::aggregate::Group;
use crate::metric::{SECONDS, Style, short};
use crate::run::Run;
use crate::table::{Cell, Table};
use crate::tables::in_group;
use crate::training::{models, of, title};

/// What the columns mean.
pub(crate) const CONVENTIONS: &str = "\
Each case makes independent estimates of yᵀH⁻¹y, of log|H| and of the gradient of the log marginal likelihood, by \
solutions of a solver and stochastic Lanczos quadrature, or under random features in the kernel's place. A bias is \
the mean of the estimates minus the exact term (dense Cholesky factor), ± the standard error of that mean; in \
brackets the bias in standard errors, where there is any spread. Truncated conjugate gradients have a bias below 0 \
in yᵀH⁻¹y and above 0 in log|H| (they underfit), random features the reverse (they overfit); estimates by random \
truncation have none (Potapczynski et al. 2021). The gradient's columns are norms over the exact gradient's norm: of \
its bias, and of its standard errors; `largest z` is the largest bias of a single derivative in standard errors. \
`terms` are iterations of a solve, or random features, on average; seconds are those of one estimate.";

/// A term of the likelihood: its mean estimate, that mean's standard error, the exact one, its title.
pub(crate) const TERMS: [(&str, &str, &str, &str); 2] = [
    (names::QUADRATIC, names::QUADRATIC_ERROR, names::QUADRATIC_EXACT, "yᵀH⁻¹y"),
    (names::LOG_DET, names::LOG_DET_ERROR, names::LOG_DET_EXACT, "log|H|"),
];

/// One table for each data set and kernel.
pub(crate) fn results(run: &Run, groups: &[Group]) -> Vec<Table> {
    models(groups).into_iter().map(|model| of_model(run, groups, model)).collect()
}

fn of_model(run: &Run, groups: &[Group], model: (&str, &str)) -> Table {
    let mut table = Table::new(title(model, groups)).words("estimate").numbers("ok").numbers("estimates");
    table = table.numbers("terms");
    for (.., what) in TERMS {
        table = table.numbers(format!("exact {what}")).numbers(format!("bias of {what}"));
    }
    for column in ["gradient's bias", "its standard error", "largest z", "seconds"] {
        table = table.numbers(column);
    }
    for group in of(run, groups, model) {
        let number = |name: &str| group.mean(name).map_or_else(String::new, short);
        let mut cells: Vec<Cell> = vec![
            label(run, group).into(),
            format!("{}/{}", group.n_ok, group.n).into(),
            number(names::REPETITIONS).into(),
            terms(run, group).map_or_else(String::new, short).into(),
        ];
        for (mean, error, exact, _) in TERMS {
            cells.push(number(exact).into());
            cells.push(bias(group, mean, error, exact).map_or_else(String::new, |bias| bias.words()).into());
        }
        for name in [names::GRADIENT_BIAS, names::GRADIENT_ERROR, names::GRADIENT_Z] {
            cells.push(number(name).into());
        }
        let seconds = group.mean(SECONDS).zip(group.mean(names::REPETITIONS));
        cells.push(seconds.map_or_else(String::new, |(all, count)| Style::Short.format(all / count)).into());
        table.row(cells);
    }
    table.without_empty_columns()
}

/// How far the mean estimate of a term lies from the exact one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bias {
    /// Mean minus exact.
    pub(crate) bias: f64,
    /// Of the mean; 0 where every estimate is the same.
    pub(crate) standard_error: f64,
    /// The exact term.
    pub(crate) exact: f64,
}

/// The bias of a term; `None` where it was not estimated.
pub(crate) fn bias(group: &Group, mean: &str, error: &str, exact: &str) -> Option<Bias> {
    let exact = group.mean(exact)?;
    let standard_error = group.mean(error).unwrap_or(0.0);
    Some(Bias { bias: group.mean(mean)? - exact, standard_error, exact })
}

impl Bias {
    fn words(&self) -> String {
        let Bias { bias, standard_error, exact } = *self;
        // Spread of rounding alone is none.
        if standard_error <= 1e-9 * exact.abs() {
            return short(bias);
        }
        let z = bias / standard_error;
        format!("{} ± {} ({z:+.1})", short(bias), short(standard_error))
    }
}

/// What tells an estimate from the others: the solver, or the estimator where no solver has a part in it.
pub(crate) fn label(run: &Run, group: &Group) -> String {
    match first(run, group) {
        Some(row) if row.case.estimator.method.is_of_features() => group.problem.estimator.clone(),
        _ if solves_by_several(run) => format!("{} · {}", group.solver, group.problem.estimator),
        _ => group.solver.clone(),
    }
}

/// Whether more than one estimator has its systems solved.
fn solves_by_several(run: &Run) -> bool {
    let mut solved = run.rows.iter().filter(|row| !row.case.estimator.method.is_of_features());
    let first = solved.next().map(|row| &row.labels.estimator);
    solved.any(|row| Some(&row.labels.estimator) != first)
}

/// Iterations of a solve, or random features, on average over the estimates.
pub(crate) fn terms(run: &Run, group: &Group) -> Option<f64> {
    let row = first(run, group)?;
    if row.case.estimator.method.is_of_features() {
        return row.solver_values.get(names::FEATURES).copied();
    }
    let solves = if row.case.estimator.second_solve { 2.0 } else { 1.0 };
    Some(group.mean(names::ITERATIONS)? / group.mean(names::REPETITIONS)? / solves)
}

/// A row of a group: its case says what all of them share.
pub(crate) fn first<'a>(run: &'a Run, group: &Group) -> Option<&'a Row> {
    run.rows.iter().find(|row| in_group(row, group))
}
