//! The parts of the benchmark, by which a user chooses, and their requests to the worker.

use std::path::PathBuf;

use clap::ValueEnum;
use gpbench_record::{Acquire, Arithmetic, BenchRequest, Family, LearnerStep, Product, SCHEMA};

use super::works::Work;
use crate::verbs::bench::inputs::drawn;

/// Sizes of the works: right-hand sides; rows of a block; rows of a Cholesky factor, at most; columns of a low-rank
/// factor.
const COLUMNS: usize = 65;
const BLOCK: usize = 500;
const ORDER: usize = 8192;
const RANK: usize = 1000;

/// Posterior samples: few candidates, since only gradients are shown.
const SAMPLES: Acquire = Acquire { candidates: 64, starts: 2048, features: 2000 };

/// Rows of a minibatch and inducing points of a sparse process; rows of a minibatch of methods with random features,
/// of which they take 1000.
const BATCH: usize = 1024;
const SMALL_BATCH: usize = 32;

/// A part of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Part {
    /// The product with the whole kernel matrix, 65 columns.
    Product,
    /// The same in single precision.
    #[value(name = "product-f32")]
    ProductSingle,
    /// The product with one column.
    #[value(name = "product-1")]
    ProductOfOne,
    /// The derivatives by all hyperparameters.
    Gradient,
    /// Products with 500 rows, forward, and forward and back, and with 1000 columns.
    Blocks,
    /// A Cholesky factor and solves with it, in both precisions.
    Factor,
    /// A low-rank preconditioner of rank 1000: build and apply.
    LowRank,
    /// Gradients of posterior samples at 2048 points.
    Samples,
    /// A step of `svgp`.
    Svgp,
    /// A step of `minimax` with 1000 features.
    Minimax,
    /// A step of `scgd` with 1000 features.
    Scgd,
}

/// Sizes and options that all parts share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings {
    pub(super) n: usize,
    pub(super) d: usize,
    pub(super) threads: usize,
    pub(super) seconds: f64,
    pub(super) dgemm_order: usize,
}

impl Part {
    /// Its name on the command line.
    pub(super) fn name(self) -> String {
        let value = self.to_possible_value().expect("no part is hidden");
        value.get_name().to_owned()
    }

    /// The works that its answer has, in their order.
    pub(super) fn works(self) -> &'static [Work] {
        match self {
            Part::Product => &[Work::Product],
            Part::ProductSingle => &[Work::ProductSingle],
            Part::ProductOfOne => &[Work::ProductOfOne],
            Part::Gradient => &[Work::Gradient],
            Part::Blocks => &[Work::Rows, Work::RowsAndBack, Work::Columns],
            Part::Factor => &[Work::Factor, Work::FactorSingle, Work::Solve, Work::SolveSingle],
            Part::LowRank => &[Work::Build, Work::Apply, Work::ApplySingle],
            Part::Samples => &[Work::SampleGradients],
            Part::Svgp => &[Work::Svgp],
            Part::Minimax => &[Work::Minimax],
            Part::Scgd => &[Work::Scgd],
        }
    }

    /// The learner whose steps it times, if it does.
    pub(super) fn learner(self) -> Option<&'static str> {
        match self {
            Part::Svgp => Some("svgp"),
            Part::Minimax => Some("minimax"),
            Part::Scgd => Some("scgd"),
            _ => None,
        }
    }

    /// The request; `library` is the plugin of a learner.
    pub(super) fn request(self, settings: &Settings, library: Option<PathBuf>) -> BenchRequest {
        let n = if self == Part::Factor { settings.n.min(ORDER) } else { settings.n };
        let step = |batch: usize, points: usize| {
            Product::Learner(LearnerStep {
                library: library.clone().unwrap_or_default(),
                learner: self.learner().unwrap_or_default().to_owned(),
                batch,
                points,
            })
        };
        let product = match self {
            Part::Product | Part::ProductSingle | Part::ProductOfOne => Product::Operator,
            Part::Gradient => Product::Gradient,
            Part::Blocks => Product::Rows { block: BLOCK.min(n) },
            Part::Factor => Product::Factor,
            Part::LowRank => Product::Precondition { rank: RANK.min(n) },
            Part::Samples => Product::Acquire(SAMPLES),
            Part::Svgp => step(BATCH.min(n), BATCH.min(n)),
            Part::Minimax | Part::Scgd => step(SMALL_BATCH.min(n), 0),
        };
        // Methods with random features take no other family.
        let family = if self.learner().is_some() { Family::Rbf } else { Family::Matern32 };
        let (inputs, kernel) = drawn(family, n, settings.d);
        BenchRequest {
            schema: SCHEMA,
            product,
            inputs,
            kernel,
            rhs: if self == Part::ProductOfOne { 1 } else { COLUMNS },
            precision: if self == Part::ProductSingle { Arithmetic::Mixed } else { Arithmetic::F64 },
            threads: settings.threads,
            seconds: settings.seconds,
            dgemm_order: settings.dgemm_order,
            arrays: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use gpbench_record::BenchInputs;

    use super::*;

    #[test]
    fn parts_have_the_sizes_of_their_table_and_never_more_than_all_rows() {
        let request = |part: Part, n: usize| {
            let settings = Settings { n, d: 26, threads: 2, seconds: 1.0, dgemm_order: 64 };
            part.request(&settings, Some(PathBuf::from("a.so")))
        };
        assert_eq!(request(Part::Blocks, 13_500).product, Product::Rows { block: 500 });
        assert_eq!(request(Part::LowRank, 300).product, Product::Precondition { rank: 300 });
        assert_eq!(request(Part::Factor, 13_500).inputs, BenchInputs::Normal { n: 8192, d: 26 });
        assert_eq!((request(Part::ProductOfOne, 9).rhs, request(Part::Product, 9).rhs), (1, 65));
        assert_eq!(request(Part::ProductSingle, 9).precision, Arithmetic::Mixed);
        let Product::Learner(step) = request(Part::Scgd, 9).product else {
            panic!("steps of a learner");
        };
        assert_eq!((step.learner.as_str(), step.batch, step.points), ("scgd", 9, 0));
        let names: Vec<String> = Part::value_variants().iter().map(|part| part.name()).collect();
        let expected =
            "product product-f32 product-1 gradient blocks factor low-rank samples svgp minimax scgd";
        assert_eq!(names.join(" "), expected);
    }
}
