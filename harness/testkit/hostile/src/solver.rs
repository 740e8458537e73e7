//! The solver: runs an act, and may falsify its report.

use std::cell::Cell;
use std::ffi::c_void;

use gpbench_sdk::abi::{self, Status};
use gpbench_sdk::{Error, Problem, Reason, Report, Result, Solver, choices, export, params};

use crate::{acts, descriptors, forks, honest};

choices! {
    /// What to do.
    pub enum Act {
        /// Solve, like any other solver.
        SolveWell = "solve_well",
        /// Panic in `solve`.
        Panic = "panic",
        /// Panic in `prepare`.
        PanicInPrepare = "panic_in_prepare",
        /// Call abort.
        Abort = "abort",
        /// Write through a null pointer.
        Segfault = "segfault",
        /// Exit with status 0.
        Exit0 = "exit0",
        /// Write lines that look like records to standard output, then solve.
        PrintStdout = "print_stdout",
        /// Close standard output, then solve.
        CloseStdout = "close_stdout",
        /// Loop forever.
        Hang = "hang",
        /// Leave NaN as the solution.
        Nan = "nan",
        /// Leave zero as the solution and claim convergence.
        Lie = "lie",
        /// Report impossible numbers after solving.
        WrongReport = "wrong_report",
        /// Return an error.
        Error = "error",
        /// Take memory without end.
        Allocate = "allocate",
        /// Recurse without end.
        StackOverflow = "stack_overflow",
        /// Leave a child that holds standard output open, and exit.
        ForkHold = "fork_hold",
        /// Continue for a while after the request to stop, then solve.
        IgnoreStop = "ignore_stop",
        /// Continue forever after the request to stop.
        IgnoreStopForEver = "ignore_stop_for_ever",
        /// Panic in a thread that holds a lock, then in the one that wants it.
        PanicInThread = "panic_in_thread",
        /// Exit while the solver is destroyed, after solving.
        ExitInDestroy = "exit_in_destroy",
        /// Sleep forever.
        Sleep = "sleep",
        /// Stop the process, as job control would.
        StopProcess = "stop_process",
        /// Leave a child in a session of its own, and hang.
        ForkAndHang = "fork_and_hang",
        /// Leave a grandchild in a session of its own that outlives the process, then solve.
        Escape = "escape",
        /// Take memory without end in a child.
        AllocateInChild = "allocate_in_child",
        /// Burn processor time in a child, and wait for it.
        BurnInChild = "burn_in_child",
        /// Close every descriptor, then solve.
        CloseAll = "close_all",
        /// Write into every descriptor there is, then solve.
        WriteAll = "write_all",
        /// Write eight megabytes to standard output and as many to standard error, then solve.
        Flood = "flood",
        /// Leave infinity as the solution.
        Infinite = "infinite",
        /// Set the right-hand sides to zero, then solve.
        WriteRhs = "write_rhs",
        /// Move the inputs after solving.
        WriteInputs = "write_inputs",
        /// Return a status that no version has.
        UnknownStatus = "unknown_status",
    }
}

params! {
    /// Parameters of the misbehaving solver.
    pub struct HostileParams {
        /// What to do.
        pub act: Act = Act::SolveWell;
    }
}

/// The misbehaving solver.
#[derive(Debug)]
pub struct Hostile {
    act: Act,
}

thread_local! {
    /// Whether to falsify the report of the solve that has just ended. A solver is called from one thread.
    static FALSIFY: Cell<bool> = const { Cell::new(false) };
    /// Whether that solve returns an unknown status.
    static UNKNOWN_STATUS: Cell<bool> = const { Cell::new(false) };
}

impl Drop for Hostile {
    fn drop(&mut self) {
        if self.act == Act::ExitInDestroy {
            acts::exit();
        }
    }
}

impl Solver for Hostile {
    type Params = HostileParams;
    const ID: &'static str = "hostile";
    const DOC: &'static str = "Misbehaves on request, for tests of the harness";

    fn new(params: HostileParams) -> Result<Self> {
        Ok(Hostile { act: params.act })
    }

    fn prepare(&mut self, _problem: &Problem<'_>) -> Result<()> {
        assert!(self.act != Act::PanicInPrepare, "a panic in prepare, as told");
        Ok(())
    }

    fn solve(&mut self, problem: &mut Problem<'_>) -> Result<Report> {
        match self.act {
            Act::SolveWell | Act::PanicInPrepare | Act::ExitInDestroy => {}
            Act::Panic => panic!("a panic in solve, as told"),
            Act::Abort => std::process::abort(),
            Act::Segfault => acts::segfault(),
            Act::Exit0 => acts::exit(),
            Act::PrintStdout => acts::print_to_stdout(),
            Act::CloseStdout => acts::close_stdout(),
            Act::Hang => acts::hang(),
            Act::Nan => {
                problem.x_mut().fill(f64::NAN);
                return Ok(Report::new(Reason::Converged, 1));
            }
            Act::Lie => {
                problem.x_mut().fill(0.0);
                let norms = vec![0.0; problem.rhs().ncols()];
                return Ok(Report::new(Reason::Converged, 1).residuals(norms));
            }
            Act::WrongReport => FALSIFY.set(true),
            Act::Error => return Err(Error::new("an error, as told")),
            Act::Allocate => acts::allocate(),
            Act::StackOverflow => {
                acts::overflow_stack(0);
            }
            Act::ForkHold => acts::fork_and_exit(),
            Act::IgnoreStop => acts::ignore_stop(problem, 40),
            Act::IgnoreStopForEver => acts::ignore_stop(problem, u64::MAX),
            Act::PanicInThread => acts::panic_in_thread(),
            Act::Sleep => acts::sleep(),
            Act::StopProcess => acts::stop_process(),
            Act::ForkAndHang => forks::fork_and_hang(),
            Act::Escape => forks::escape(),
            Act::AllocateInChild => forks::allocate_in_child(),
            Act::BurnInChild => forks::burn_in_child(),
            Act::CloseAll => descriptors::close_all(),
            Act::WriteAll => descriptors::write_all(),
            Act::Flood => descriptors::flood(),
            Act::Infinite => {
                problem.x_mut().fill(f64::INFINITY);
                return Ok(Report::new(Reason::Converged, 1));
            }
            Act::WriteRhs => acts::overwrite(problem.rhs(), 0.0),
            Act::WriteInputs => {
                let report = honest::solve(problem);
                acts::overwrite(problem.operator().inputs()?.x, 1.0);
                return report;
            }
            Act::UnknownStatus => UNKNOWN_STATUS.set(true),
        }
        honest::solve(problem)
    }
}

/// Solves, and falsifies the report if that is the act.
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
    use gpbench_sdk::testing::{DenseProblem, Outcome};

    use super::*;

    fn act(act: &str) -> Outcome {
        let problem = DenseProblem::new(array![[2.0, 1.0], [1.0, 3.0]], array![[1.0], [4.0]]).tolerance(1e-9);
        let mut table = export::solver::<Hostile>();
        table.solve = Some(solve_and_lie);
        problem.max_epochs(30.0).solve_with(&table, &[("act", act.into())]).unwrap()
    }

    #[test]
    fn behaves_unless_told_otherwise() {
        let outcome = act("solve_well");
        assert_eq!(outcome.reason, abi::reason::CONVERGED);
        assert!((outcome.x[[0, 0]] + 0.2).abs() < 1e-9 && (outcome.x[[1, 0]] - 1.4).abs() < 1e-9);
    }

    #[test]
    fn lies_on_request() {
        assert_eq!(act("lie").x, array![[0.0], [0.0]]);
        assert_eq!(act("wrong_report").iterations, -1);
        assert!(act("nan").x.iter().all(|x| x.is_nan()));
        assert_eq!(act("ignore_stop").reason, abi::reason::STOPPED);
    }
}
