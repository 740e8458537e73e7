//! Posteriors: predictions of each solver, beside those of the exact Gaussian process.

use gpbench_record::TaskKind;

use super::section::{MEANS, RESIDUALS, Section};
use super::solve::{self, SECONDS};
use crate::aggregate::Group;
use crate::charts::figure::Drawn;
use crate::charts::{calibration, posterior, spectrum};
use crate::layout::Layout;
use crate::paired;
use crate::performance;
use crate::results::Results;
use crate::table::TextTable;

/// The section of task `posterior`.
pub(super) struct Posterior;

const PREDICTIONS: &str = "\
Predictions are in units of the standardised target. NLL is the mean negative log-likelihood of a test row; its \
variances are those of the posterior samples plus noise, those of `exact NLL` are exact.";

impl Section for Posterior {
    fn title(&self) -> &'static str {
        "Gaussian-process posteriors"
    }

    fn conventions(&self) -> &'static [&'static str] {
        &[MEANS, RESIDUALS, PREDICTIONS, SECONDS]
    }

    fn layouts<'a>(&self, results: &'a Results<'a>) -> Vec<Layout<'a>> {
        solve::layouts(results)
    }

    fn tables(&self, results: &Results<'_>) -> Vec<TextTable> {
        paired::table(results).into_iter().chain(performance::table(results)).collect()
    }

    fn figures(&self, results: &Results<'_>) -> Vec<Drawn> {
        let mut drawn = solve::overviews(results);
        for problem in results.problems() {
            let what = results.problem_title(problem);
            drawn.extend(solve::along(results, TaskKind::Posterior, problem, &what));
            drawn.push(posterior::figure(results, problem, &what));
            drawn.push(posterior::distance_figure(results, problem, &what));
            drawn.push(spectrum::figure(results, problem, &what));
            let groups: Vec<&Group> = results.of_problem(problem).collect();
            drawn.push(calibration::curve_figure(results, &groups, &what));
            drawn.push(calibration::pit_figure(results, &groups, &what));
        }
        drawn
    }
}
