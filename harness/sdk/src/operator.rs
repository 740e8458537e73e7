//! The matrix A, known through its products.

use std::marker::PhantomData;

use gpbench_abi as abi;
use ndarray::{Array1, ArrayRef2, Axis};

use crate::error::{Error, Result};
use crate::extension::{answer, missing};
use crate::matrix::{check_shape, with_input, with_output};

/// A matrix A with n rows and m columns, known through its products.
///
/// A = K(X, X) + noise_scale^2 I, or with inducing points A = K(X, Z), see [`Operator::inputs`]. Every call
/// counts the kernel entries it uses, n^2 of them being one epoch, and fails with [`Error::Stopped`] if they
/// do not fit into the budget. Arguments may have any layout; column-major ones
/// (`.f()`) are passed on without a copy. A handle: cheap to copy, independent of the problem's borrow.
#[derive(Debug, Clone, Copy)]
pub struct Operator<'a> {
    raw: *const abi::Operator,
    n: usize,
    m: usize,
    life: PhantomData<&'a abi::Operator>,
}

impl<'a> Operator<'a> {
    /// Checks an operator of the interface.
    ///
    /// # Safety
    /// `raw` is null or points to an operator that lives during `'a`.
    pub(crate) unsafe fn new(raw: *const abi::Operator) -> Result<Operator<'a>> {
        let bad = |why: &str| Error::InvalidArgument(format!("the operator {why}"));
        // SAFETY: promised by the caller; only the first field is read before the size is known.
        if raw.is_null() || unsafe { (*raw).size } < size_of::<abi::Operator>() as u32 {
            return Err(bad("is null or too small"));
        }
        // SAFETY: as above.
        let op = unsafe { &*raw };
        if op.apply.is_none() || op.diag.is_none() || op.charge.is_none() || op.extension.is_none() {
            return Err(bad("lacks a function"));
        }
        let n = usize::try_from(op.n).map_err(|_| bad("has a negative number of rows"))?;
        let m = usize::try_from(op.m).map_err(|_| bad("has a negative number of columns"))?;
        Ok(Operator { raw, n, m, life: PhantomData })
    }

    /// The operator as it crosses the interface.
    pub(crate) fn raw(&self) -> *const abi::Operator {
        self.raw
    }

    fn table(&self) -> &abi::Operator {
        // SAFETY: checked when made, alive during `'a`.
        unsafe { &*self.raw }
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Number of columns; n except with inducing points.
    pub fn m(&self) -> usize {
        self.m
    }

    /// Fails with [`Error::Unsupported`] unless A is square, as it is without inducing points.
    pub fn require_square(&self) -> Result<()> {
        if self.m == self.n {
            return Ok(());
        }
        Err(Error::Unsupported(format!("A is {} x {}, not square", self.n, self.m)))
    }

    /// y = A x, with x m x s and y n x s. Counts n m entries, whatever s.
    pub fn apply(&self, x: &ArrayRef2<f64>, y: &mut ArrayRef2<f64>) -> Result<()> {
        let s = x.ncols();
        check_shape("apply: x", x, self.m, s)?;
        check_shape("apply: y", y, self.n, s)?;
        let apply = self.table().apply.expect("checked when made");
        let status = with_input(x, |x| {
            with_output(y, |y| {
                // SAFETY: live operator, matrices of the right shapes that do not overlap.
                unsafe { apply(self.raw, x, y) }
            })
        });
        Error::check("apply", status)
    }

    /// The diagonal of A. Counts nothing. Fails with inducing points, where A has none.
    pub fn diagonal(&self) -> Result<Array1<f64>> {
        let mut out = ndarray::Array2::zeros((self.n, 1));
        let diag = self.table().diag.expect("checked when made");
        // SAFETY: live operator, an n x 1 matrix.
        let status = with_output(&mut out, |out| unsafe { diag(self.raw, out) });
        Error::check("diag", status)?;
        Ok(out.remove_axis(Axis(1)))
    }

    /// Reports kernel entries that the solver evaluated by itself.
    pub fn charge(&self, entries: usize) -> Result<()> {
        let charge = self.table().charge.expect("checked when made");
        // SAFETY: live operator.
        Error::check("charge", unsafe { charge(self.raw, entries as i64) })
    }

    /// Asks for an extension, one of [`gpbench_abi::id`].
    pub(crate) fn extension<T>(&self, id: &'static str) -> Result<&'a T> {
        let ask = self.table().extension.expect("checked when made");
        // SAFETY: live operator, static id; by its contract the answer is a `T` that lives as long as it.
        unsafe { answer(ask(self.raw, &abi::Str::new(id))) }.ok_or_else(|| missing(id))
    }
    /// Asks for a function of an extension.
    pub(crate) fn function<T: 'a, F>(
        &self,
        id: &'static str,
        field: impl FnOnce(&'a T) -> Option<F>,
    ) -> Result<F> {
        field(self.extension(id)?).ok_or_else(|| missing(id))
    }
}
