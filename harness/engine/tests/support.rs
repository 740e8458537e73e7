//! Small plans, a clock that does not advance, and an executor without processes.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Mutex;

use gpbench_engine::{
    End, Engine, EngineError, Event, Executor, Interrupt, Outcome, Plan, RunOptions, RunSummary, WallClock,
    WorkItem,
};
use gpbench_record::{
    Case, CaseFiles, CaseStatus, Entries, Environment, ExactSummary, Failure, Fingerprint, Hyperparameters,
    Message, Metrics, PlannedCase, Program, Solved, StopReason, TaskKind, TaskOutput, TracePoint, Verified,
    names, testing,
};
use gpbench_runs::PlanFile;

/// The file that stands for all plugins.
pub(crate) fn plugin() -> Program {
    Program::of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap()
}

/// A case of the solver and plugin `solver`.
pub(crate) fn planned(solver: &str, seed: u64) -> PlannedCase {
    let text = String::from;
    let plugin = plugin();
    let mut case = testing::case(solver);
    (case.solver.plugin, case.seed) = (text(solver), seed);
    let fingerprint = Fingerprint {
        plugin_sha256: plugin.sha256,
        dataset_sha256: None,
        worker_sha256: text("w"),
        threads: 1,
        cpu_dispatch: text("portable"),
        blas_core: text("Generic"),
        exact: false,
    };
    PlannedCase::new(case, fingerprint, Some(10), None)
}

/// A plan of these cases, all with the plugin of [`plugin`].
pub(crate) fn plan_of(cases: impl IntoIterator<Item = PlannedCase>) -> Plan {
    let now = Noon.now();
    let mut plan = Plan {
        file: PlanFile::new("toy", now),
        files: Vec::new(),
        libraries: Vec::new(),
        spec_toml: "schema = 1\n".into(),
        environment: Environment::default(),
    };
    cases.into_iter().for_each(|planned| add(&mut plan, planned));
    plan
}

/// A plan of one case per solver, all with seed 0.
pub(crate) fn plan(solvers: &[&str]) -> Plan {
    plan_of(solvers.iter().map(|solver| planned(solver, 0)))
}

/// Adds a case to a plan.
pub(crate) fn add(plan: &mut Plan, planned: PlannedCase) {
    plan.file.cases.push(planned);
    plan.files.push(CaseFiles {
        plugin_file: plugin().file,
        dataset_file: None,
        memory_estimate: None,
        seconds_estimate: None,
    });
}

/// Changes what a case is, and with it its id.
pub(crate) fn change(planned: &mut PlannedCase, change: impl FnOnce(&mut Case, &mut Fingerprint)) {
    let PlannedCase { mut case, mut fingerprint, n, skip, .. } = planned.clone();
    change(&mut case, &mut fingerprint);
    *planned = PlannedCase::new(case, fingerprint, n, skip);
}

/// Options that keep everything under `folder`.
pub(crate) fn options(folder: &Path) -> RunOptions {
    RunOptions {
        output_dir: folder.join("reports"),
        cache_dir: folder.join("cache"),
        ..RunOptions::default()
    }
}

/// The message of a solve that used `epochs` epochs.
pub(crate) fn solved(reason: StopReason, claimed: &[f64], epochs: f64) -> Message {
    Message::Solved(Solved {
        n: 10,
        d: 1,
        reason,
        iterations: 3,
        claimed: claimed.to_vec(),
        prepare: gpbench_record::Clock { wall: 0.25, cpu: 0.5 },
        solve: gpbench_record::Clock { wall: 1.0, cpu: 2.0 },
        entries: Entries { used: 100.0 * epochs, evaluated: 100.0, setup: 50.0, ..Entries::default() },
        peak_memory_bytes: 4096,
        base_memory_bytes: 1024,
        cached_bytes: 0,
        startup_seconds: 0.125,
        build_seconds: 0.25,
        values: BTreeMap::from([("rank".to_owned(), 7.0)]),
        metrics: Metrics::default(),
        unplanned_parts: Vec::new(),
        start: None,
        output: TaskOutput::empty(TaskKind::Posterior),
    })
}

/// The message of a verification that found these residuals.
pub(crate) fn verified(y: f64, probes: f64) -> Message {
    let mut metrics = Metrics::default();
    metrics.insert(names::RESIDUAL_Y, y);
    metrics.insert(names::RESIDUAL_PROBES, probes);
    Message::Verified(Verified { metrics, ..Verified::default() })
}

/// Does by the solver's name what a worker would; records what it was asked.
#[derive(Default)]
pub(crate) struct Mock {
    /// Work items done, as `<verb> <solver>`.
    pub(crate) asked: Mutex<Vec<String>>,
    /// Jobs of the solves, by solver.
    pub(crate) jobs: Mutex<HashMap<String, gpbench_record::Job>>,
    /// Whether the solver `no-room` finds room.
    pub(crate) has_room: bool,
    /// Whether solves leave a file as their solution.
    pub(crate) writes_solutions: bool,
}

impl Mock {
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Executor for Mock {
    fn machine(&self) -> Environment {
        Environment::default()
    }

    fn run(&self, item: &WorkItem, _log: &Path, interrupt: &Interrupt, _seen: &dyn Fn(&Message)) -> Outcome {
        let name = match item {
            WorkItem::Case(job) | WorkItem::Verify(job) => job.case.solver.name.clone(),
            WorkItem::Exact(request) => request.dataset.name.clone(),
            WorkItem::Optimum(request) => request.system.dataset.name.clone(),
        };
        self.asked.lock().unwrap().push(format!("{} {name}", item.verb()));
        let exited = |messages| Outcome {
            messages,
            end: End::Exited(0),
            peak_memory_bytes: 0,
            seconds_over_limit: None,
            stood_still: None,
        };
        match (item, name.as_str()) {
            (WorkItem::Exact(request), _) => {
                std::fs::write(&request.output, "exact").unwrap();
                exited(vec![Message::Exact(ExactSummary { metrics: Metrics::default() })])
            }
            (WorkItem::Optimum(_), _) => panic!("no optimum was requested"),
            (WorkItem::Verify(_), _) => exited(vec![verified(0.005, 0.01)]),
            (WorkItem::Case(_), "interrupted") => {
                interrupt.raise(2);
                Outcome {
                    messages: Vec::new(),
                    end: End::Interrupted,
                    peak_memory_bytes: 0,
                    seconds_over_limit: None,
                    stood_still: None,
                }
            }
            (WorkItem::Case(_), "segfault") => Outcome {
                messages: vec![Message::Loading],
                end: End::Signalled { signal: 11, memory_pressure: false },
                peak_memory_bytes: 512,
                seconds_over_limit: None,
                stood_still: None,
            },
            (WorkItem::Case(job), "no-room") if !self.has_room => {
                // As on a full disk, nothing more can be written where the solution is to be.
                std::fs::remove_dir_all(job.solution_file.parent().unwrap()).unwrap();
                let failure = Failure { status: CaseStatus::Invalid, reason: "cannot write".into() };
                exited(vec![Message::Failed(failure)])
            }
            (WorkItem::Case(_), "refuses") => {
                let failure = Failure { status: CaseStatus::Invalid, reason: "no such parameter".into() };
                exited(vec![Message::Failed(failure)])
            }
            (WorkItem::Case(job), _) => {
                self.jobs.lock().unwrap().insert(name, job.clone());
                if self.writes_solutions {
                    std::fs::write(&job.solution_file, "solution").unwrap();
                }
                let point =
                    TracePoint { iteration: 1, seconds: 0.1, epochs: 1.0, metrics: Metrics::default() };
                exited(vec![
                    Message::Loading,
                    Message::Trace(point),
                    solved(StopReason::Converged, &[0.004, 0.009], 3.0),
                ])
            }
        }
    }
}

/// Hyperparameters that training ends with.
pub(crate) fn hyperparameters() -> Hyperparameters {
    [("noise_scale", 0.5), ("signal_scale", 2.0), ("length_scale", 3.0)]
        .map(|(name, scale)| (name.to_owned(), scale))
        .into()
}

/// A clock that does not advance.
pub(crate) struct Noon;

impl WallClock for Noon {
    fn now(&self) -> jiff::Timestamp {
        "2026-01-02T12:00:00Z".parse().unwrap()
    }
}

/// Runs a plan; the summary and all events.
pub(crate) fn run(
    executor: &dyn Executor,
    plan: &Plan,
    options: &RunOptions,
) -> Result<(RunSummary, Vec<Event>), EngineError> {
    let engine =
        Engine { executor, clock: &Noon, interrupt: Interrupt::default(), renew_dataset: &|_| Ok(()) };
    let mut events = Vec::new();
    let summary = engine.run(plan, options, &mut |event| events.push(event))?;
    Ok((summary, events))
}
