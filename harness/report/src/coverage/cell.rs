//! The quality figures that a paper's tables print, one by one.

use gpbench_record::names;

use crate::reference::{Figure, Published, Reference};

/// A figure of merit that papers print, times excepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantity {
    Rmse,
    /// Test RMSE with the noise of the paper's low-noise experiments.
    LowNoiseRmse,
    /// Mean negative test log-likelihood.
    Nll,
    /// Mean test log-likelihood.
    Llh,
    /// Negative log marginal likelihood over n.
    Nlml,
}

impl Quantity {
    const ALL: [Quantity; 5] =
        [Quantity::Rmse, Quantity::LowNoiseRmse, Quantity::Nll, Quantity::Llh, Quantity::Nlml];

    pub(super) fn name(self) -> &'static str {
        match self {
            Quantity::Rmse => "RMSE",
            Quantity::LowNoiseRmse => "low-noise RMSE",
            Quantity::Nll => "NLL",
            Quantity::Llh => "log-likelihood",
            Quantity::Nlml => "NLML",
        }
    }

    /// The metric of ours, and the factor that converts it to the printed quantity.
    pub(super) fn metric(self) -> (&'static str, f64) {
        match self {
            Quantity::Rmse | Quantity::LowNoiseRmse => (names::TEST_RMSE, 1.0),
            Quantity::Nll => (names::TEST_NLL, 1.0),
            Quantity::Llh => (names::TEST_NLL, -1.0),
            Quantity::Nlml => (names::NLML, 1.0),
        }
    }

    fn printed(self, reference: &Reference, row: &Published) -> Option<Figure> {
        let printed = match self {
            Quantity::Rmse => row.rmse,
            Quantity::LowNoiseRmse => row.rmse_low_noise,
            Quantity::Nll => row.nll,
            Quantity::Llh => row.llh,
            Quantity::Nlml => row.nlml,
        };
        reference.figure(printed, 1.0)
    }
}

/// One printed figure.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cell<'r> {
    pub(super) table: &'r str,
    pub(super) row: &'r Published,
    pub(super) quantity: Quantity,
    pub(super) theirs: Figure,
}

impl<'r> Cell<'r> {
    /// All of a paper's tables, in their order.
    pub(super) fn all(reference: &'r Reference) -> Vec<Cell<'r>> {
        let of_row = |(table, row): (&'r str, &'r Published)| {
            let cell = |quantity: Quantity| {
                quantity.printed(reference, row).map(|theirs| Cell { table, row, quantity, theirs })
            };
            Quantity::ALL.into_iter().filter_map(cell).collect::<Vec<_>>()
        };
        reference.rows().flat_map(of_row).collect()
    }

    /// Key of the cell among all of the paper: `table1 / pol / CG / RMSE`.
    pub(super) fn key(&self) -> String {
        format!("{} / {} / {} / {}", self.table, self.row.dataset, self.row.title(), self.quantity.name())
    }
}
