//! Bibliography of a report.

use gpbench_record::{Case, OriginBase, PriorSource, Source, text};

use crate::estimator;
use crate::frame::Cases;
use crate::reference::Reference;
use crate::results::once_each;

/// Performance profiles.
pub(crate) const DOLAN_2002: &str = "\
E. D. Dolan, J. J. Moré. Benchmarking optimization software with performance profiles. \
Mathematical Programming 91, 2002.";

/// Data profiles.
pub(crate) const MORE_2009: &str = "\
J. J. Moré, S. M. Wild. Benchmarking Derivative-Free Optimization Algorithms. SIAM Journal on Optimization 20, 2009.";

/// Pathwise conditioning.
const WILSON_2021: &str = "\
J. T. Wilson, V. Borovitskiy, A. Terenin, P. Mostowsky, M. P. Deisenroth. \
Pathwise Conditioning of Gaussian Processes. JMLR 22, 2021.";

/// Random Fourier features.
const RAHIMI_2007: &str = "\
A. Rahimi, B. Recht. Random Features for Large-Scale Kernel Machines. NeurIPS 2007.";

/// The UCI data sets.
const UCI: &str = "\
UCI Machine Learning Repository, University of California, Irvine, https://archive.ics.uci.edu; \
with the train/test masks of the uci_datasets collection.";

/// Parallel Thompson sampling by solutions of linear systems.
pub(crate) const LIN_2023: &str = "Lin et al. 2023";

/// Pathwise targets as right-hand sides, warm starts, training.
pub(crate) const LIN_2024: &str = "Lin et al. 2024";

/// Likelihoods of random features, random truncation, bias of truncated conjugate gradients.
pub(crate) const POTAPCZYNSKI_2021: &str = "Potapczynski et al. 2021";

/// The bibliographic entries of a run, without repeats: published figures beside ours, hyperparameters, right-hand
/// sides, solvers and data, then what sections and charts name.
pub(crate) fn cited(cases: &Cases<'_>, named: impl Iterator<Item = &'static str>) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    entries.extend(
        cases.options().reference.as_deref().and_then(Reference::named).map(|found| found.paper.entry),
    );
    let resolved = || cases.rows().map(|row| &row.case);
    let papers: Vec<&str> =
        once_each(resolved().flat_map(of_case).chain(named.map(|paper| -> &str { paper })));
    entries.extend(papers.into_iter().map(entry));
    let sources = &cases.record().sources;
    entries.extend(resolved().filter_map(|case| sources.get(&case.solver.plugin).cloned()));
    let entries = entries.iter().map(|entry| text::cut(&text::line(entry), text::REASON).into_owned());
    once_each(entries)
}

/// Sources of a case's hyperparameters, right-hand sides and data: entries, or short names of papers.
fn of_case(case: &Case) -> Vec<&str> {
    let mut papers = Vec::new();
    if let OriginBase::Published { paper } = &case.kernel.origin.base {
        papers.push(paper.as_str());
    }
    for targets in estimator::pathwise_targets(&case.task) {
        papers.extend([LIN_2024, WILSON_2021]);
        if targets.prior != PriorSource::Exact {
            papers.push(RAHIMI_2007);
        }
    }
    if case.task.features().is_some() {
        papers.extend([POTAPCZYNSKI_2021, RAHIMI_2007]);
    }
    if matches!(case.dataset.source, Source::Registry { .. }) {
        papers.push(UCI);
    }
    papers
}

/// The entry of a paper given by its short name; any other text is itself an entry.
fn entry(paper: &str) -> String {
    Reference::paper(paper).map_or_else(|| paper.to_owned(), |paper| paper.entry.clone())
}
