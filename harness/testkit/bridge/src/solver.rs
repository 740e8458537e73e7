//! The solver of a script.

use gpbench_sdk::abi::{self, Status, part_kind};
use gpbench_sdk::{Capabilities, Error, NoParams, Problem, Report, Result, Shape, Solver};

use crate::child::Child;
use crate::{honest, parts, served};

/// The solver.
pub(crate) struct Stub {
    child: Child,
    ready_for: Option<Shape>,
}

impl Solver for Stub {
    type Params = NoParams;
    const ID: &'static str = "stub";
    const DOC: &'static str = "Solves as its script says, for tests of the harness";
    const CAPABILITIES: Capabilities = Capabilities::NONE;
    type Prepared = ();

    fn new(_: NoParams) -> Result<Self> {
        let child = Child::start(served().script.holds)?;
        child.burn(served().script.starts)?;
        Ok(Stub { child, ready_for: None })
    }

    fn warm_up(&mut self, shape: &Shape) -> Result<()> {
        self.child.burn(served().script.warms)?;
        self.ready_for = Some(*shape);
        Ok(())
    }

    fn prepare(&self, problem: &Problem<'_>) -> Result<()> {
        let (operator, columns) = (problem.operator(), problem.rhs().ncols());
        let expected = (operator.n(), operator.m(), columns, problem.threads());
        let ready = self.ready_for.map(|shape| (shape.n, shape.m, shape.s, shape.threads));
        if ready != Some(expected) {
            return Err(Error::new(format!("ready for {ready:?}, where the problem is {expected:?}")));
        }
        Ok(())
    }

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> Result<Report> {
        self.child.burn(served().script.burns)?;
        if let Some(name) = &served().script.reports {
            report(name)?;
        }
        honest::solve(problem)
    }
}

/// Reports a file as a part that is in use.
fn report(name: &str) -> Result<()> {
    let found: &abi::Parts = served().extension(abi::id::PARTS)?;
    let part = parts::part(part_kind::FILE, name, "", &served().script.beside(name))?;
    let add = found.add.ok_or_else(|| Error::new("the host has no `add`"))?;
    // SAFETY: a live host and part.
    match unsafe { add(served().host(), &part) } {
        Status::DONE => Ok(()),
        Status(code) => Err(Error::new(format!("the part was refused: {code}"))),
    }
}
