//! The plugins of the run before another one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::lookup::{id, run_before};
use crate::{NameKind, PlanFile};

/// The plugins of the run that began last before another one of the same name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierPlugins {
    /// The earlier run's id.
    pub run: String,
    /// SHA-256 of the plugins' libraries, by the names of solvers and learners: several where cases have different ones.
    pub libraries: BTreeMap<String, BTreeSet<String>>,
}

impl EarlierPlugins {
    /// Those of the run before the one in `folder`; none where there is no such run, or its plan cannot be read.
    pub fn before(folder: &Path) -> Option<Self> {
        let run = run_before(folder)?;
        let libraries = PlanFile::read(&run).ok()?.contents(NameKind::Solver);
        Some(Self { run: id(&run), libraries })
    }
}
