//! Task `learn`: not yet.

use gpbench_record::{Learning, Message, Solved, Verified};

use crate::failure::{CaseError, invalid};
use crate::setup::Setup;

pub(super) fn run(_: &Setup, _: &Learning, _: &mut dyn FnMut(Message)) -> Result<Solved, CaseError> {
    Err(invalid("this version cannot run learners"))
}

pub(super) fn verify(_: &Setup, _: &Learning) -> Result<Verified, CaseError> {
    Err(invalid("this version cannot run learners"))
}
