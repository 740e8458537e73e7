//! The store of named matrices of a learner's model or state: `PUT` and `GET`.

use gpbench_abi::{self as abi, Status};

use super::matrix;
use crate::failure::{Failure, Result};
use crate::frame::{Frame, INTEGERS, Wrong, kind};
use crate::host::borrow;
use crate::process::{Process, Reply, Server, refuse};
use crate::region::{Extent, Region};

/// A store of the host's.
#[derive(Debug)]
pub struct Store<'a>(&'a abi::Store);

impl<'a> Store<'a> {
    /// Checks a store of the interface.
    ///
    /// # Safety
    /// `raw` is null or points to a store that lives during `'a`.
    pub unsafe fn new(raw: *const abi::Store) -> Result<Store<'a>> {
        // SAFETY: promised by the caller; only the first field is read before the size is known.
        if raw.is_null() || unsafe { (*raw).size } < size_of::<abi::Store>() as u32 {
            return Err(Failure::invalid("the store is null or too small"));
        }
        // SAFETY: as above.
        Ok(Store(unsafe { &*raw }))
    }

    fn put(&self, request: &Frame, process: &Process) -> Result<Reply> {
        let name = request.text("name")?;
        let numbers = request.field("matrix").and_then(|matrix| matrix.as_array());
        let numbers = numbers.filter(|numbers| numbers.len() == 4);
        let mut integers = [0; INTEGERS];
        for (index, number) in numbers.into_iter().flatten().enumerate() {
            integers[index] = number.as_i64().ok_or_else(|| Wrong("a matrix of other numbers".into()))?;
        }
        let value = matrix(&integers, 0, (Extent::Any, Extent::Any), &process.arena, name)?;
        let Some(put) = self.0.put else { return Ok(Status::UNSUPPORTED.into()) };
        // SAFETY: live store; the matrix is copied before the call returns.
        Ok(unsafe { put(self.0, &borrow(name), &process.arena.mat(&value)) }.into())
    }

    fn get(&self, request: &Frame, process: &Process) -> Result<Reply> {
        let (name, capacity) = (request.text("name")?, request.integer("capacity")?);
        let region =
            Region::column(request.integer("offset")?, capacity, process.arena.size(), "the matrix")?;
        let Some(get) = self.0.get else { return Ok(Status::UNSUPPORTED.into()) };
        let (mut rows, mut cols) = (-1, -1);
        let to = process.arena.address(&region);
        // SAFETY: live store, and room for as many entries as it is said to have.
        let status = unsafe { get(self.0, &borrow(name), to, region.rows, &mut rows, &mut cols) };
        Ok(Reply::with(status, &[rows, cols]))
    }
}

impl Server for Store<'_> {
    fn serve(&mut self, request: &Frame, process: &Process) -> Result<Reply> {
        match request.kind {
            kind::PUT => self.put(request, process),
            kind::GET => self.get(request, process),
            _ => Ok(refuse(request, process)),
        }
    }
}
