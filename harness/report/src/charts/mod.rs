//! Charts, as SVG texts.
//!
//! Every chart keeps to the same rules: a solver has one colour and one marker
//! throughout a report (Okabe and Ito's palette, so that both survive colour
//! blindness and print); the legend stands above the axes, where it covers no
//! data; a chart that the data cannot fill is not drawn.

mod axes;
mod convergence;
mod curve;
mod distance;
mod field;
mod likelihood;
mod panel;
mod pareto;
mod paths;
mod posterior;
mod probes;
mod profile;
mod progress;
mod scale;
mod seconds;
mod section;
mod spectrum;
mod style;
mod training;
mod truncation;

use std::collections::BTreeMap;

use gpbench_record::Task;

use crate::aggregate::{Group, Problem, groups, problems, title};
use crate::error::{Error, Result};
use crate::run::Run;
use crate::tables::in_group;

/// A chart with its words.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    /// File name.
    pub(crate) file: String,
    /// What it shows.
    pub(crate) title: String,
    /// How to read it.
    pub(crate) caption: String,
    /// The drawing.
    pub(crate) svg: String,
}

/// What every chart is drawn from.
struct Sheet<'a> {
    run: &'a Run,
    groups: Vec<Group>,
}

/// What a chart gives back: nothing where the data does not support it.
type Drawn = std::result::Result<Option<Figure>, Box<dyn std::error::Error>>;

/// All charts that the run's data supports, overviews first.
pub(crate) fn figures(run: &Run) -> Result<Vec<Figure>> {
    let sheet = Sheet { run, groups: groups(run)? };
    let all = problems(&sheet.groups);
    let trains = run.task() == Some(Task::Train);
    let seconds = if trains { seconds::training_figure(&sheet) } else { seconds::figure(&sheet) };
    let mut drawn = vec![
        named("the quality-time chart", pareto::figure(&sheet))?,
        named("the performance profile", profile::figure(&sheet))?,
        named("the bars of seconds", seconds)?,
    ];
    if trains {
        let figures = [
            paths::figures,
            truncation::figures,
            distance::figures,
            probes::figures,
            section::figures,
            training::figures,
        ];
        for figure in figures.into_iter().flat_map(|figures| figures(&sheet)) {
            drawn.push(named("a chart of training", figure)?);
        }
        return Ok(drawn.into_iter().flatten().collect());
    }
    if run.task() == Some(Task::Likelihood) {
        let figures =
            likelihood::figures(&sheet).into_iter().map(|figure| named("a chart of biases", figure));
        let drawn: Result<Vec<Option<Figure>>> = figures.collect();
        return Ok(drawn?.into_iter().flatten().collect());
    }
    for problem in &all {
        let what = title(problem, &all);
        drawn.push(named("a residual chart", progress::residual_figure(&sheet, problem, &what))?);
        for clock in [curve::Clock::Seconds, curve::Clock::Epochs] {
            drawn.push(named("a progress chart", progress::quality_figure(&sheet, problem, &what, clock))?);
        }
        drawn.push(named("a convergence chart", convergence::errors_figure(&sheet, problem, &what))?);
        drawn.push(named("the solvers' numbers", convergence::own_numbers_figure(&sheet, problem, &what))?);
        drawn.push(named("a posterior", posterior::figure(&sheet, problem, &what))?);
        drawn.push(named("distances", posterior::distance_figure(&sheet, problem, &what))?);
        drawn.push(named("a spectrum", spectrum::figure(&sheet, problem, &what))?);
    }
    Ok(drawn.into_iter().flatten().collect())
}

fn named(chart: &str, drawn: Drawn) -> Result<Option<Figure>> {
    drawn.map_err(|error| Error::Chart { chart: chart.to_owned(), reason: error.to_string() })
}

impl Sheet<'_> {
    /// Groups of one problem, in the order of the spec's solvers.
    fn of<'a>(&'a self, problem: &'a Problem) -> impl Iterator<Item = &'a Group> {
        self.groups.iter().filter(move |g| g.problem == *problem)
    }

    /// A metric of each seed of a group, its timing repeats averaged.
    fn of_seeds(&self, group: &Group, metric: &str) -> Vec<f64> {
        let mut of_seed: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for row in self.run.rows.iter().filter(|row| in_group(row, group)) {
            let value = row.metrics.get(metric).filter(|_| row.status.is_answer());
            of_seed.entry(row.labels.seed).or_default().extend(value);
        }
        let measured = of_seed.values().filter(|values| !values.is_empty());
        measured.map(|values| values.iter().sum::<f64>() / values.len() as f64).collect()
    }

    /// The look of a solver, the same in every chart.
    fn look(&self, solver: &str) -> style::Look {
        style::Look::nth(self.run.solvers().iter().position(|s| *s == solver).unwrap_or_default())
    }

    /// A legend with one entry a solver, of those that `shown` admits.
    fn legend(&self, shown: impl Fn(&str) -> bool) -> Vec<style::Entry> {
        let solvers = self.run.solvers().into_iter().filter(|s| shown(s));
        solvers.map(|s| style::Entry::solver(s, self.look(s))).collect()
    }
}

/// A file name from words that users chose.
fn file_name(kind: &str, what: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c.to_ascii_lowercase() } else { '-' };
    let mut name: String = format!("{kind}-{what}").chars().map(word).collect();
    while name.contains("--") {
        name = name.replace("--", "-");
    }
    format!("{}.svg", name.trim_matches('-'))
}
