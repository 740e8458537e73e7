//! The interface of a task's part of a report.

use gpbench_record::names;

use crate::aggregate::Group;
use crate::charts::figure::Drawn;
use crate::layout::Layout;
use crate::reference::Reference;
use crate::results::Results;
use crate::table::TextTable;

/// Explanation of means, errors and counts.
pub(super) const MEANS: &str = "\
Mean ± standard error over seeds of the cases that ended ok or not_converged; of the timing repeats of a seed, the median of \
seconds and the mean of other metrics count. `ok` counts the cases that ended ok. A mean over fewer seeds than were run says so, \
as in `(2 of 3)`. Solvers are compared seed by seed, and the caption of a table says what is bold: costs are bold only where all \
cases ended ok, errors also where the budget ended a case.";

/// Definition of residuals and epochs.
pub(super) const RESIDUALS: &str = "\
Residuals are ||b − Hv|| / ||b||. A process that never loads the solver recomputes them in double precision. An epoch \
is n² kernel entries used.";

/// The part of a report that belongs to a task.
pub(crate) trait Section: Sync {
    /// Heading of a run of this task.
    fn title(&self) -> &'static str;

    /// Explanations of the columns beyond the documentation of the metrics.
    fn conventions(&self) -> &'static [&'static str];

    /// Its tables of metrics.
    fn layouts<'a>(&self, results: &'a Results<'a>) -> Vec<Layout<'a>>;

    /// Its other tables.
    fn tables(&self, _results: &Results<'_>) -> Vec<TextTable> {
        Vec::new()
    }

    /// Our results beside figures of a reference that belong to this task alone.
    fn published(&self, _results: &Results<'_>, _reference: &Reference) -> Vec<TextTable> {
        Vec::new()
    }

    /// Its charts, overviews first.
    fn figures(&self, results: &Results<'_>) -> Vec<Drawn>;

    /// Short names of the papers to cite for its method.
    fn papers(&self) -> &'static [&'static str] {
        &[]
    }

    /// The metric of the time that papers print.
    fn seconds(&self) -> &'static str {
        names::SECONDS
    }

    /// The speed-up of a group that papers print, with its interval.
    fn speed_up(&self, _results: &Results<'_>, _group: &Group) -> Option<String> {
        None
    }
}
