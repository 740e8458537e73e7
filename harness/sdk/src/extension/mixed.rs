//! The operator in mixed precision, `gpbench.mixed/1`.

use gpbench_abi as abi;

use crate::Operator;

impl<'a> Operator<'a> {
    /// The same matrix with products in mixed precision: about half the time, with a relative error of about 1e-6.
    /// Blocks are in double precision. If the host lacks it, this operator itself.
    pub fn mixed(&self) -> Operator<'a> {
        let raw = self.extension::<abi::Operator>(abi::id::MIXED);
        // SAFETY: by that extension's contract, an operator that lives as long as this one.
        raw.and_then(|raw| unsafe { Operator::new(raw) }).unwrap_or(*self)
    }
}
