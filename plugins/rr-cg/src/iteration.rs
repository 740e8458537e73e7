//! Conjugate gradients with several right-hand sides, in which each iteration's term has a weight.
//!
//! Every right-hand side has its own step sizes, so columns are independent between two products with A. One
//! thread works on a column, so that results do not depend on the number of threads.

use gpbench_sdk::ndarray::{Array2, ArrayView1, Axis, ShapeBuilder};
use gpbench_sdk::precondition::Preconditioner;
use gpbench_sdk::{Problem, Result};

use crate::column::{Column, State};

/// The series x = x_0 + alpha_1 d_1 + alpha_2 d_2 + ... of conjugate gradients (Potapczynski et al. 2021,
/// equation (4)), whose terms are added to the problem's `x` one by one.
#[derive(Debug, Clone)]
pub struct Iteration<'p> {
    preconditioner: Option<&'p Preconditioner>,
    reorthogonalise: bool,
    /// Terms added.
    count: usize,
    /// Residual of the truncated iterate, relative to the right-hand side's norm; n x s.
    r: Array2<f64>,
    /// Direction; n x s.
    d: Array2<f64>,
    /// A d; n x s.
    product: Array2<f64>,
    /// P r; none without a preconditioner, where it is r.
    preconditioned: Option<Array2<f64>>,
    columns: Vec<State>,
}

impl<'p> Iteration<'p> {
    /// Starts from the iterate in `x`: one product with A, unless the iterate is zero.
    ///
    /// With `reorthogonalise` each residual is made orthogonal to all earlier ones, which are stored. In exact
    /// arithmetic it would be orthogonal to them anyway.
    pub fn start(
        problem: &mut Problem<'_>,
        preconditioner: Option<&'p Preconditioner>,
        reorthogonalise: bool,
    ) -> Result<Iteration<'p>> {
        let (operator, b) = (problem.operator(), problem.rhs());
        operator.require_square()?;
        let (r, scales) = problem.relative_residual()?;
        let state = |(r, scale): (ArrayView1<'_, f64>, f64)| {
            let active = r.iter().any(|&r| r != 0.0);
            State { scale, gamma: f64::INFINITY, active, earlier: Vec::new() }
        };
        let columns = r.columns().into_iter().zip(scales).map(state).collect();
        let (d, product) = (Array2::zeros(b.dim().f()), Array2::zeros(b.dim().f()));
        let mut iteration = Iteration {
            preconditioner,
            reorthogonalise,
            count: 0,
            r,
            d,
            product,
            preconditioned: None,
            columns,
        };
        iteration.update_directions(problem);
        Ok(iteration)
    }

    /// Adds the next term, times `weight`. One product with A.
    pub fn step(&mut self, problem: &mut Problem<'_>, weight: f64) -> Result<()> {
        problem.operator().apply(&self.d, &mut self.product)?;
        let reorthogonalise = self.reorthogonalise;
        self.in_columns(problem, |column| {
            if reorthogonalise {
                column.store_residual();
            }
            column.step(weight);
            // Without a step the residual is the one stored last, and would become zero.
            if column.state.active {
                column.reorthogonalise();
            }
        });
        self.update_directions(problem);
        self.count += 1;
        Ok(())
    }

    /// Computes the next directions.
    fn update_directions(&mut self, problem: &mut Problem<'_>) {
        let workers = problem.workers();
        self.preconditioned =
            self.preconditioner.map(|preconditioner| preconditioner.apply(&self.r, workers));
        self.in_columns(problem, |column| column.update_direction());
    }

    /// Applies `work` to all active right-hand sides.
    fn in_columns(&mut self, problem: &mut Problem<'_>, work: impl Fn(&mut Column<'_>) + Sync) {
        let workers = problem.workers();
        let preconditioned = self.preconditioned.as_ref();
        let mut x = problem.x_mut();
        let columns = x
            .axis_iter_mut(Axis(1))
            .zip(self.r.axis_iter_mut(Axis(1)))
            .zip(self.d.axis_iter_mut(Axis(1)))
            .zip(self.product.axis_iter(Axis(1)))
            .zip(&mut self.columns)
            .enumerate()
            .filter(|(_, (_, state))| state.active)
            .map(|(j, ((((x, r), d), product), state))| {
                let preconditioned = preconditioned.map(|all| all.column(j));
                Column { x, r, d, product, preconditioned, state }
            });
        workers.for_each(columns, |mut column| work(&mut column));
    }

    /// Number of terms added.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether some column has a next term.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        self.columns.iter().any(|column| column.active)
    }

    /// Whether all columns without a next term have a residual of zero.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let ended = self.r.axis_iter(Axis(1)).zip(&self.columns).filter(|(_, column)| !column.active);
        ended.map(|(r, _)| r).all(|r| r.iter().all(|&r| r == 0.0))
    }
}
