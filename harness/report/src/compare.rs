//! Two or more runs side by side.

use gpbench_record::names;

use crate::aggregate::{Problem, groups};
use crate::error::Result;
use crate::metric::{self, SECONDS};
use crate::run::Run;
use crate::table::{Cell, Table};

/// What is worth a column in a comparison.
const COMPARED: [&str; 5] = [names::RESIDUAL_Y, names::TEST_RMSE, names::TEST_NLL, names::EPOCHS, SECONDS];

/// One row a problem, solver and metric; one column a run, and the ratio of
/// the last run to the first.
///
/// # Errors
/// If the aggregation fails.
pub fn compare(runs: &[Run]) -> Result<Table> {
    let mut table = Table::new("Comparison").words("data set").words("kernel").words("estimator");
    table = table.words("solver").words("metric");
    for run in runs {
        table = table.numbers(heading(run, runs));
    }
    table = table.numbers("last / first");
    let per_run = runs.iter().map(groups).collect::<Result<Vec<_>>>()?;
    let mut keys: Vec<(&Problem, &str)> = Vec::new();
    for group in per_run.iter().flatten() {
        if !keys.contains(&(&group.problem, &group.solver)) {
            keys.push((&group.problem, &group.solver));
        }
    }
    for (problem, solver) in keys {
        for name in COMPARED {
            let style = metric::find(name).expect("every compared metric has a column").style;
            let mean = |groups: &Vec<crate::Group>| {
                groups.iter().find(|g| g.problem == *problem && g.solver == solver)?.mean(name)
            };
            let means: Vec<Option<f64>> = per_run.iter().map(mean).collect();
            if means.iter().all(Option::is_none) {
                continue;
            }
            let title = metric::find(name).map_or(name, |m| m.title);
            let mut cells: Vec<Cell> =
                [&problem.dataset, &problem.kernel, &problem.estimator, solver, title].map(Cell::from).into();
            cells.extend(means.iter().map(|m| m.map_or_else(Cell::default, |v| style.format(v).into())));
            let ends = means.first().copied().flatten().zip(means.last().copied().flatten());
            let ratio = ends.filter(|(first, _)| *first > 0.0 && means.len() > 1);
            cells.push(
                ratio.map_or_else(Cell::default, |(first, last)| format!("{:.3}", last / first).into()),
            );
            table.row(cells);
        }
    }
    Ok(table.without_empty_columns())
}

/// The name of the run, with its folder where names repeat.
fn heading(run: &Run, runs: &[Run]) -> String {
    let folder = run.dir.file_name().map_or_else(String::new, |f| f.to_string_lossy().into_owned());
    match runs.iter().filter(|r| r.name == run.name).count() {
        1 => run.name.clone(),
        _ => format!("{} {folder}", run.name),
    }
}
