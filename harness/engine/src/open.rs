//! The run folder of a plan, found or created, and the cases that are left to run.

use std::collections::HashMap;

use gpbench_runs::{
    ComparedEnvironment, DamagedRow, FinishedStore, Journal, PlanFile, RunError, RunFolder, newest_run,
};

use crate::reuse::FinishedCases;
use crate::solutions::kept_sample;
use crate::{Beginning, EngineError, Event, Plan, Reused, RunOptions, WallClock};

/// An open run, to be run by this process or by others. No other process can run it while its journal is open.
pub struct OpenRun {
    /// Its folder.
    pub folder: RunFolder,
    /// Its journal.
    pub journal: Journal,
    /// Indices in the plan of the cases that are to run.
    pub pending: Vec<usize>,
    /// Whether the folder is continued, or why not.
    pub beginning: Beginning,
    /// The rows that were taken from earlier runs.
    pub reused: Reused,
    /// Keeps finished cases for later runs.
    pub(crate) finished: FinishedCases,
}

impl OpenRun {
    /// Continues the newest folder of the plan's name with the same cases, or creates one; takes the rows of finished cases.
    /// Paths in `options` are absolute.
    ///
    /// # Errors
    /// When the folder cannot be written, or another process runs in it.
    pub fn open(
        plan: &Plan,
        options: &RunOptions,
        clock: &dyn WallClock,
        events: &mut dyn FnMut(Event),
    ) -> Result<Self, EngineError> {
        plan.check()?;
        let cases = &plan.file.cases;
        let (folder, beginning) = find_or_create(plan, options, clock, events)?;
        // The journal is locked before the folder is changed.
        let (mut journal, damaged) = Journal::open(folder.path())?;
        folder.begin()?;
        // A run that was killed may have left those of cases whose rows it had just written.
        let workspace = folder.workspace();
        plan.file
            .ids()
            .filter(|id| journal.status(id).is_some())
            .for_each(|id| workspace.remove_checkpoint(id));
        if beginning == Beginning::Continued {
            let file = match PlanFile::read(folder.path()) {
                Err(error @ RunError::Damaged { .. }) => {
                    events(Event::Warning(format!("{error}; it is written again, and the run continues")));
                    plan.stored(folder.created().unwrap_or(clock.now()))
                }
                read => plan.refresh(read?),
            };
            folder.write_plan(&file, &plan.spec_toml)?;
        }
        let environment = folder.add_environment(&plan.environment)?;
        let missing = |id: &str| match journal.status(id) {
            None => true,
            Some(status) => options.retry_failed && status.is_failure(),
        };
        let mut pending: Vec<usize> = (0..cases.len()).filter(|&place| missing(&cases[place].id)).collect();
        let finished = FinishedCases::new(FinishedStore::of(&options.output_dir), &folder, &plan.file.name);
        let reused = if options.fresh {
            Reused::default()
        } else {
            // The solution of a row that is taken is gone.
            let kept = kept_sample(cases, options.keep_solutions);
            let (runs, mut others): (Vec<usize>, Vec<usize>) =
                pending.into_iter().partition(|place| kept.contains(&cases[*place].id));
            let into = (&folder, &mut journal);
            let taken = finished.take((options.reuse, &plan.environment), (cases, &mut others), into, events);
            pending = in_order(runs, others);
            taken.inspect_err(|_| drop(folder.end()))?
        };
        let complete = plan.file.ids().all(|id| journal.status(id).is_some());
        warnings(&damaged, complete, environment).into_iter().map(Event::Warning).for_each(&mut *events);
        Ok(Self { folder, journal, pending, beginning, reused, finished })
    }
}

/// Two lists of places in a plan as one, in the order of the plan.
fn in_order(some: Vec<usize>, others: Vec<usize>) -> Vec<usize> {
    let mut all = [some, others].concat();
    all.sort_unstable();
    all
}

/// The folder to run in, and whether it is continued, or why not.
fn find_or_create(
    plan: &Plan,
    options: &RunOptions,
    clock: &dyn WallClock,
    events: &mut dyn FnMut(Event),
) -> Result<(RunFolder, Beginning), EngineError> {
    if !options.fresh {
        let ids: Vec<&str> = plan.file.ids().collect();
        match RunFolder::find(&options.output_dir, &plan.file.name, &ids) {
            Ok(folder) => return Ok((folder, Beginning::Continued)),
            Err(unreadable) => unreadable.into_iter().for_each(|error| {
                events(Event::Warning(format!("{error}; that run is not continued, a new one begins")));
            }),
        }
    }
    let beginning = if options.fresh { Beginning::Fresh } else { beginning(plan, options) };
    let now = clock.now();
    let file = plan.stored(now);
    let created = RunFolder::create(&options.output_dir, &file, &plan.spec_toml, &plan.environment, now)?;
    Ok((created, beginning))
}

/// Why the newest run of a plan's name is not continued.
fn beginning(plan: &Plan, options: &RunOptions) -> Beginning {
    let newest = newest_run(&options.output_dir, &plan.file.name);
    let Some(newest) = newest.and_then(|run| PlanFile::read(&run).ok()) else { return Beginning::First };
    let mut earlier: HashMap<_, _> =
        newest.cases.iter().map(|entry| (&entry.labels, entry.id.as_str())).collect();
    let (mut same, mut changed, mut added) = (0, 0, 0);
    for planned in &plan.file.cases {
        match earlier.remove(&planned.labels) {
            Some(known) if known == planned.id => same += 1,
            Some(_) => changed += 1,
            None => added += 1,
        }
    }
    Beginning::Changed { same, changed, added, removed: earlier.len() }
}

/// Warnings about a folder that is continued.
fn warnings(damaged: &[DamagedRow], complete: bool, environment: ComparedEnvironment) -> Vec<String> {
    let ComparedEnvironment { differences, warnings } = environment;
    let elsewhere = (!differences.is_empty()).then(|| {
        let what = differences.join(", ");
        format!(
            "this run began in another environment, described by its environment.json ({what}); \
             do not compare its times"
        )
    });
    damaged.iter().map(|line| line.warning(complete)).chain(warnings).chain(elsewhere).collect()
}
