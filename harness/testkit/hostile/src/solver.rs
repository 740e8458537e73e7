//! The solver: runs an act, and may falsify its report.

use std::cell::Cell;
use std::ffi::c_void;
use std::fs::File;
use std::path::Path;

use gpbench_sdk::abi::{self, Status};
use gpbench_sdk::{
    Error, ParamValue, Parameter as _, Problem, Reason, Report, Result, Solver, export, params,
};

use crate::act::Act;
use crate::{acts, descriptors, files, forks, honest, limits, memory, signals, text};

params! {
    /// Parameters of the misbehaving solver.
    pub struct HostileParams {
        /// What to do.
        pub act: Act = Act::SolveWell;
        /// Folder in which acts that are done once note that they have been; if empty, they are done each time.
        pub marks: String = String::new();
    }
}

/// The misbehaving solver.
#[derive(Debug)]
pub struct Hostile {
    act: Act,
}

/// The act to perform now. An act that is performed only once leaves a mark, and is skipped if the mark exists.
fn due(HostileParams { act, marks }: HostileParams) -> Act {
    let ParamValue::Text(name) = act.value() else { unreachable!("choices are texts") };
    let is_due =
        !act.is_done_once() || marks.is_empty() || File::create_new(Path::new(&marks).join(name)).is_ok();
    if is_due { act } else { Act::SolveWell }
}

thread_local! {
    /// Whether to falsify the report of the solve that has just ended. A solver is called from one thread only.
    static FALSIFY: Cell<bool> = const { Cell::new(false) };
    /// Whether that solve returns an unknown status.
    static UNKNOWN_STATUS: Cell<bool> = const { Cell::new(false) };
}

impl Drop for Hostile {
    fn drop(&mut self) {
        match self.act {
            Act::ExitInDestroy => acts::exit(),
            Act::CutSolution => files::cut_solution(),
            _ => {}
        }
    }
}

impl Solver for Hostile {
    type Params = HostileParams;
    const ID: &'static str = "hostile";
    const DOC: &'static str = "Misbehaves on request, for tests of the harness";
    type Prepared = ();

    fn new(params: HostileParams) -> Result<Self> {
        Ok(Hostile { act: due(params) })
    }

    fn prepare(&self, _: &Problem<'_>) -> Result<()> {
        assert!(self.act != Act::PanicInPrepare, "a panic in prepare, as told");
        Ok(())
    }

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> Result<Report> {
        match self.act {
            Act::SolveWell | Act::PanicInPrepare | Act::ExitInDestroy | Act::CutSolution => {}

            Act::Panic => panic!("a panic in solve, as told"),
            Act::PanicInThread => acts::panic_in_thread(),
            Act::Abort => std::process::abort(),
            Act::Segfault => acts::segfault(),
            Act::StackOverflow => {
                acts::overflow_stack(0);
            }
            Act::Exit0 => acts::exit(),
            Act::Hang => acts::hang(),
            Act::Sleep => acts::sleep(),
            Act::StopProcess => acts::stop_process(),
            Act::IgnoreStop => acts::ignore_stop(problem, 40),
            Act::IgnoreStopForEver => acts::ignore_stop(problem, u64::MAX),

            Act::Nan => {
                problem.x_mut().fill(f64::NAN);
                return Ok(Report::new(Reason::Converged, 1));
            }
            Act::Infinite => {
                problem.x_mut().fill(f64::INFINITY);
                return Ok(Report::new(Reason::Converged, 1));
            }
            Act::Lie => {
                problem.x_mut().fill(0.0);
                let norms = vec![0.0; problem.rhs().ncols()];
                return Ok(Report::new(Reason::Converged, 1).residuals(norms));
            }
            Act::WrongReport => FALSIFY.set(true),
            Act::UnknownStatus => UNKNOWN_STATUS.set(true),
            Act::Error => return Err(Error::new("an error, as told")),
            Act::WriteRhs => acts::overwrite(problem.rhs(), 0.0),
            Act::WriteInputs => {
                let report = honest::solve(problem);
                acts::overwrite(problem.operator().inputs()?.x, 1.0);
                return report;
            }
            Act::ForeignText => return Err(text::speak(problem)),

            Act::Allocate => acts::allocate(),
            Act::AllocateFast => memory::allocate_fast(),
            Act::AllocateInChild => forks::allocate_in_child(),
            Act::AllocateInDaemon => forks::allocate_in_daemon(),
            Act::AllocateMemfd => memory::fill_memfd(),
            Act::AllocateShared => memory::fill_shared(),
            Act::AllocateWithoutLeader => memory::allocate_without_leader(),

            Act::HangWithoutLeader => forks::hang_without_leader(),
            Act::ForkHold => acts::fork_and_exit(),
            Act::ForkAndHang => forks::fork_and_hang(),
            Act::Escape => forks::escape(),
            Act::EscapeUnmarked => forks::escape_unmarked(),
            Act::BurnInChild => forks::burn_in_child(),
            Act::BurnInDaemon => forks::burn_in_daemon(),
            Act::ExhaustProcesses => forks::exhaust_processes(),
            Act::ExhaustThreads => forks::exhaust_threads(),

            Act::PrintStdout => acts::print_to_stdout(),
            Act::CloseStdout => acts::close_stdout(),
            Act::CloseAll => descriptors::close_all(),
            Act::WriteAll => descriptors::write_all(),
            Act::Flood => descriptors::flood(),
            Act::ForgeTrace => descriptors::forge_trace(),
            Act::ForgeResult => descriptors::forge_result(),
            Act::ExhaustDescriptors => descriptors::exhaust(),

            Act::RefuseBytes => limits::refuse_bytes(),
            Act::ZeroLimits => limits::refuse_all(),
            Act::ChangeFolder => files::change_folder(),
            Act::UnlinkShm => files::unlink_shm(),

            Act::BlockSolution => files::block_solution(),
            Act::RemoveScratch => files::remove_scratch(),
            Act::RemoveCheckpoint => files::remove_checkpoint(),
            Act::CutCheckpoint => files::cut_checkpoint(),
            Act::RemoveExact => files::remove_cached("exact"),
            Act::CutExact => files::cut_cached("exact"),
            Act::RemoveData => files::remove_cached("copies"),
            Act::CutData => files::cut_cached("copies"),
            Act::OverwriteLibrary => files::overwrite_library(),

            Act::KillSelf => signals::kill_self(),
            Act::KillSiblings => signals::kill_siblings(),
            Act::KillParent => signals::kill_parent(),
        }
        honest::solve(problem)
    }
}

/// Solves, and falsifies the report if the act requires it.
pub(crate) unsafe extern "C" fn solve_and_lie(
    solver: *mut c_void,
    problem: *const abi::Problem,
    report: *mut abi::Report,
) -> Status {
    static NONSENSE: [f64; 3] = [f64::NAN, -1.0, f64::INFINITY];
    let solve = export::solver::<Hostile>().solve.expect("the SDK's tables are complete");
    // SAFETY: the host's own arguments, passed on.
    let status = unsafe { solve(solver, problem, report) };
    if FALSIFY.take() && status == Status::DONE {
        // SAFETY: the report has been filled, so it is not null. What it points to is static.
        let report = unsafe { &mut *report };
        report.reason = -77;
        report.iterations = -1;
        report.claimed = NONSENSE.as_ptr();
        report.n_claimed = NONSENSE.len() as i64;
    }
    if UNKNOWN_STATUS.take() { Status(-4242) } else { status }
}

#[cfg(test)]
mod tests {
    use gpbench_sdk::ndarray::array;
    use gpbench_testing::{CallError, DenseProblem, Outcome, SolverEntry};

    use super::*;

    fn try_act(act: &str) -> Result<Outcome, CallError> {
        let problem = DenseProblem::new(array![[2.0, 1.0], [1.0, 3.0]], array![[1.0], [4.0]]).tolerance(1e-9);
        let mut table = export::solver::<Hostile>();
        table.solve = Some(solve_and_lie);
        // SAFETY: a table of the SDK, less what its report says.
        let entry = unsafe { SolverEntry::of(table) }.unwrap();
        problem.max_epochs(30.0).solve_with(&entry, &[("act", act.into())])
    }

    fn act(act: &str) -> Outcome {
        try_act(act).unwrap()
    }

    #[test]
    fn behaves_unless_told_otherwise() {
        let outcome = act("solve_well");
        assert_eq!(outcome.reason, Reason::Converged);
        assert!((outcome.x[[0, 0]] + 0.2).abs() < 1e-9 && (outcome.x[[1, 0]] - 1.4).abs() < 1e-9);
    }

    #[test]
    fn lies_on_request() {
        assert_eq!(act("lie").x, array![[0.0], [0.0]]);
        let wrong = try_act("wrong_report").unwrap_err();
        assert!(
            wrong.to_string().starts_with("solve left a wrong report: `report.claimed` has 3"),
            "{wrong}"
        );
        assert!(act("nan").x.iter().all(|x| x.is_nan()));
        assert_eq!(act("ignore_stop").reason, Reason::Stopped);
    }
}
