//! `gpbench read-table`: the process that reads a file for another gpbench.

use crate::exit::{Failure, OK, Outcome};

pub(crate) fn read_table() -> Outcome {
    gpbench_import::serve().map(|()| OK).map_err(Failure::internal)
}
