//! State that lasts from one outer step of training to the next, `gpbench.state/1`.

use gpbench_abi as abi;
use ndarray::{Array2, ShapeBuilder};

use crate::Problem;
use crate::error::{Error, Result};
use crate::text::borrow;

impl Problem<'_> {
    /// The bytes saved under `key` in an earlier outer step; none if there are none, or if the host saves no state.
    pub fn load_state(&self, key: &str) -> Result<Option<Vec<u8>>> {
        let Some(load) = self.extension::<abi::State>(abi::id::STATE).and_then(|state| state.load) else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        let mut len = 0;
        // First for the length, then for the bytes.
        for _ in 0..2 {
            bytes.resize(usize::try_from(len).unwrap_or(0), 0);
            // SAFETY: live problem; `bytes` holds as many bytes as it is said to.
            let status =
                unsafe { load(self.raw(), &borrow(key), bytes.as_mut_ptr(), bytes.len() as i64, &mut len) };
            Error::check("state.load", status)?;
        }
        Ok(Some(bytes).filter(|bytes| !bytes.is_empty()))
    }

    /// Saves bytes under `key` for the next outer step. Does nothing if the host saves no state.
    pub fn save_state(&self, key: &str, bytes: &[u8]) -> Result<()> {
        let Some(save) = self.extension::<abi::State>(abi::id::STATE).and_then(|state| state.save) else {
            return Ok(());
        };
        // SAFETY: live problem; key and bytes are readable during the call.
        Error::check("state.save", unsafe {
            save(self.raw(), &borrow(key), bytes.as_ptr(), bytes.len() as i64)
        })
    }

    /// The columns saved under `key` in an earlier outer step, n x k; none if there are none, or if their number of
    /// rows is not n.
    pub fn load_columns(&self, key: &str) -> Result<Option<Array2<f64>>> {
        let n = self.operator().n();
        let Some(bytes) = self.load_state(key)? else { return Ok(None) };
        let numbers = bytes.chunks_exact(size_of::<f64>()).map(|bytes| {
            f64::from_le_bytes(bytes.try_into().expect("a chunk has as many bytes as a number"))
        });
        let numbers: Vec<f64> = numbers.collect();
        let columns = numbers.len().checked_div(n).unwrap_or(0);
        Ok(Array2::from_shape_vec((n, columns).f(), numbers).ok().filter(|columns| !columns.is_empty()))
    }

    /// Saves columns, n x k, under `key` for the next outer step, if the host saves state.
    pub fn save_columns(&self, key: &str, columns: &Array2<f64>) -> Result<()> {
        let bytes: Vec<u8> = columns.t().iter().flat_map(|number| number.to_le_bytes()).collect();
        self.save_state(key, &bytes)
    }
}
