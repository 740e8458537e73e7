//! Integration tests, in one program so that they are linked once.

mod arbitrary_pack;
mod flips;
mod journal;
mod merge;
mod merge_contents;
mod merge_names;
mod pack;
mod record;
mod schema1;
mod schema2;

use gpbench_record::testing::case;
use gpbench_record::{CaseStatus, Row};

/// A row of the case `id`.
fn row(id: &str, status: CaseStatus) -> Row {
    Row { id: id.into(), status, ..gpbench_record::testing::row(case("cg"), &[]) }
}
