//! Estimates of the likelihood: the bias of their mean, beside its standard error.

use gpbench_record::metric::{self, Style};
use gpbench_record::names;

use super::section::{MEANS, Section};
use crate::aggregate::Group;
use crate::bias::{TERMS, terms};
use crate::charts::figure::Drawn;
use crate::charts::likelihood;
use crate::estimates;
use crate::layout::{Added, Layout, column};
use crate::number::{Format, short};
use crate::papers::POTAPCZYNSKI_2021;
use crate::results::{Model, Results};
use crate::table::TextTable;

/// The section of task `likelihood`.
pub(super) struct Likelihood;

const ESTIMATES: &str = "\
Each case makes independent estimates of yᵀH⁻¹y, of log|H| and of the gradient of the log marginal likelihood. They \
use solutions of a solver and stochastic Lanczos quadrature, or random features in place of the kernel. A bias is the \
mean of the estimates minus the exact term (dense Cholesky factor), ± the standard error of that mean; in brackets the \
bias in standard errors, where there is any spread. Truncated conjugate gradients have a negative bias in yᵀH⁻¹y and a \
positive one in log|H| (they underfit); random features have the reverse (they overfit); estimates by random truncation \
have none (Potapczynski et al. 2021). The gradient's columns are norms over the exact gradient's norm: of its bias, and \
of its standard errors. `largest z` is the largest bias of a single derivative in standard errors. `terms` are the mean \
number of iterations of a solve, or of random features. Seconds are those of one estimate.";

impl Section for Likelihood {
    fn title(&self) -> &'static str {
        "Estimates of the marginal likelihood"
    }

    fn conventions(&self) -> &'static [&'static str] {
        &[MEANS, ESTIMATES]
    }

    fn layouts<'a>(&self, results: &'a Results<'a>) -> Vec<Layout<'a>> {
        let layout = |model: Model<'_>| {
            let mut added =
                vec![number(names::REPETITIONS), column("terms", |group| terms(results, group).map(short))];
            for term in TERMS {
                let title = metric::find(term.mean).map_or(term.mean, |metric| metric.title);
                added.push(number(term.exact));
                let bias = move |group: &Group| Some(term.bias(group)?.words());
                added.push(column(format!("bias of {title}"), bias));
            }
            added.extend([names::GRADIENT_BIAS, names::GRADIENT_ERROR, names::GRADIENT_Z].map(number));
            added.push(column("seconds", |group| {
                let seconds = group.mean(names::SECONDS)? / group.mean(names::REPETITIONS)?;
                Some(Style::Short.format(seconds) + results.mark(group, names::SECONDS))
            }));
            Layout {
                results,
                title: results.model_title(model),
                groups: results.of_model(model),
                names: vec![column("estimate", |group| Some(results.label(group)))],
                added,
                notes: Vec::new(),
                may_be_bold: Box::new(|_: &Group| true),
            }
        };
        results.models().into_iter().map(layout).collect()
    }

    fn tables(&self, results: &Results<'_>) -> Vec<TextTable> {
        results.models().into_iter().filter_map(|model| estimates::table(results, model)).collect()
    }

    fn figures(&self, results: &Results<'_>) -> Vec<Drawn> {
        results.models().into_iter().map(|model| likelihood::figure(results, model)).collect()
    }

    fn papers(&self) -> &'static [&'static str] {
        &[POTAPCZYNSKI_2021]
    }
}

/// A column of a metric's mean.
fn number<'a>(name: &'static str) -> Added<'a> {
    let title = metric::find(name).map_or(name, |metric| metric.title);
    column(title, move |group| group.mean(name).map(short))
}
