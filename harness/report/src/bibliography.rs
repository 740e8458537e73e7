//! The papers and data that a report rests on.

use std::collections::BTreeSet;

use gpbench_record::{EstimatorMethod, Source, Task};

use crate::run::Run;

/// A paper, in the order in which a report lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Paper {
    /// SGD for posterior samples; the published UCI figures.
    Lin2023,
    /// Pathwise estimator, warm starts, solver conventions.
    Lin2024,
    /// Random truncation, bias of truncated conjugate gradients and of random features.
    Potapczynski2021,
    /// Pathwise conditioning.
    Wilson2021,
    /// Random Fourier features.
    Rahimi2007,
    /// Performance profiles.
    Dolan2002,
    /// The UCI data sets.
    Uci,
}

impl Paper {
    /// Authors and year.
    pub(crate) fn short(self) -> &'static str {
        match self {
            Paper::Lin2023 => "Lin et al. 2023",
            Paper::Lin2024 => "Lin et al. 2024",
            Paper::Potapczynski2021 => "Potapczynski et al. 2021",
            Paper::Wilson2021 => "Wilson et al. 2021",
            Paper::Rahimi2007 => "Rahimi and Recht 2007",
            Paper::Dolan2002 => "Dolan and Moré 2002",
            Paper::Uci => "UCI",
        }
    }

    /// The full entry.
    pub(crate) fn entry(self) -> &'static str {
        match self {
            Paper::Lin2023 => {
                "J. A. Lin, J. Antorán, S. Padhy, D. Janz, J. M. Hernández-Lobato, A. Terenin. \
                 Sampling from Gaussian Process Posteriors using Stochastic Gradient Descent. NeurIPS 2023."
            }
            Paper::Lin2024 => {
                "J. A. Lin, S. Padhy, B. Mlodozeniec, J. Antorán, J. M. Hernández-Lobato. Improving Linear System \
                 Solvers for Hyperparameter Optimisation in Iterative Gaussian Processes. NeurIPS 2024."
            }
            Paper::Potapczynski2021 => {
                "A. Potapczynski, L. Wu, D. Biderman, G. Pleiss, J. P. Cunningham. Bias-Free Scalable Gaussian \
                 Processes via Randomized Truncations. ICML 2021."
            }
            Paper::Wilson2021 => {
                "J. T. Wilson, V. Borovitskiy, A. Terenin, P. Mostowsky, M. P. Deisenroth. \
                 Pathwise Conditioning of Gaussian Processes. JMLR 22, 2021."
            }
            Paper::Rahimi2007 => {
                "A. Rahimi, B. Recht. Random Features for Large-Scale Kernel Machines. NeurIPS 2007."
            }
            Paper::Dolan2002 => {
                "E. D. Dolan, J. J. Moré. Benchmarking optimization software with performance profiles. \
                 Mathematical Programming 91, 2002."
            }
            Paper::Uci => {
                "UCI Machine Learning Repository, University of California, Irvine, https://archive.ics.uci.edu; \
                 with the train/test masks of the uci_datasets collection."
            }
        }
    }
}

/// What this run has to cite.
pub(crate) fn cited(run: &Run) -> Vec<Paper> {
    let mut papers = BTreeSet::from([Paper::Dolan2002]);
    for case in run.rows.iter().map(|row| &row.case) {
        if case.solver.plugin == "cg" {
            papers.insert(Paper::Lin2024);
        }
        if case.estimator.method == EstimatorMethod::Pathwise {
            papers.extend([Paper::Lin2024, Paper::Wilson2021]);
            if case.estimator.features > 0 {
                papers.insert(Paper::Rahimi2007);
            }
        }
        if case.estimator.method.is_of_features() {
            papers.extend([Paper::Potapczynski2021, Paper::Rahimi2007]);
        }
        if case.task == Task::Likelihood || case.solver.plugin == "rr-cg" {
            papers.insert(Paper::Potapczynski2021);
        }
        if matches!(case.dataset.source, Source::Registry { .. }) {
            papers.insert(Paper::Uci);
        }
        if case.kernel.origin.contains("published") || case.solver.plugin == "sgd-rff" {
            papers.insert(Paper::Lin2023);
        }
    }
    if run.settings.reference.as_deref() == Some("lin2023") {
        papers.insert(Paper::Lin2023);
    }
    if run.task() == Some(Task::Train) {
        papers.insert(Paper::Lin2024);
    }
    papers.into_iter().collect()
}
