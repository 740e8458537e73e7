//! Speed of kernel products and dense algebra: the input and the output of `gpbench-worker bench`.

mod tile;

use std::path::PathBuf;

use gpbench_terms::words;
use serde::{Deserialize, Serialize};

use crate::{Arithmetic, Dataset, Kernel};

pub use self::tile::{PartTiming, TilePart, TileTiming};

/// Input of `gpbench-worker bench`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BenchRequest {
    /// [`crate::SCHEMA`].
    pub schema: u32,
    /// What to time.
    pub product: Product,
    /// The inputs of the kernel matrix.
    pub inputs: BenchInputs,
    /// The covariance.
    pub kernel: Kernel,
    /// Right-hand sides, s.
    pub rhs: usize,
    /// Arithmetic of the products.
    pub precision: Arithmetic,
    /// Threads to use.
    pub threads: usize,
    /// Seconds to spend on each product; it runs five times at least.
    pub seconds: f64,
    /// Order of the square matrices that dgemm multiplies for comparison.
    pub dgemm_order: usize,
    /// Folder into which inputs, right-hand sides and product are written.
    #[serde(default, with = "crate::path::optional")]
    pub arrays: Option<PathBuf>,
}

/// A product with H = K + noise_scale^2 I.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Product {
    /// The product H V.
    Operator,
    /// Derivatives of `tr(U^T H W)` by every hyperparameter, for as many columns as right-hand sides.
    Gradient,
    /// Three products: U = H\[B, :\] V for a block B of rows; the same fused with Z += H\[B, :\]^T U; and
    /// Y += H\[:, C\] U for twice as many columns C.
    Rows {
        /// Rows of the block.
        block: usize,
    },
    /// A Cholesky factor of H and solves with it, in both precisions, instead of a product.
    Factor,
    /// A low-rank preconditioner instead of a product: building it from a partial Cholesky factor, and applying it in
    /// both precisions.
    Precondition {
        /// Columns of the factor.
        rank: usize,
    },
    /// Posterior samples, as many as right-hand sides, instead of a product: their maxima over shared candidates, and
    /// their values and gradients at starting points of their own.
    Acquire(Acquire),
    /// Steps of a learner instead of a product.
    Learner(LearnerStep),
    /// The parts of the work on one tile of H instead of a product, see [`TilePart`].
    Tile,
}

/// Sizes of an acquisition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acquire {
    /// Candidates that all samples share.
    pub candidates: usize,
    /// Total number of starting points of all samples.
    pub starts: usize,
    /// Random features of the prior draws, an even number.
    pub features: usize,
}

/// The learner whose steps are timed, on targets that are a smooth function of the inputs with noise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearnerStep {
    /// The plugin's file.
    #[serde(with = "crate::path")]
    pub library: PathBuf,
    /// The learner's id.
    pub learner: String,
    /// Its parameter `batch`, rows of a minibatch.
    pub batch: usize,
    /// Number of inducing points, which are the first of the inputs; 0 for none.
    pub points: usize,
}

/// Where inputs come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "a benchmark has one")]
pub enum BenchInputs {
    /// Standard normal numbers.
    Normal {
        /// Rows.
        n: usize,
        /// Inputs.
        d: usize,
    },
    /// The training rows of a data set, standardised.
    Dataset {
        /// The data set.
        dataset: Dataset,
        /// Its binary copy.
        #[serde(with = "crate::path")]
        file: PathBuf,
    },
}

/// Speed of a product, compared with the machine's dgemm.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Rows.
    pub n: usize,
    /// Inputs.
    pub d: usize,
    /// Right-hand sides, s.
    pub rhs: usize,
    /// Arithmetic of the product.
    pub precision: Arithmetic,
    /// Median seconds of a product.
    pub seconds: f64,
    /// Entries used per second: n^2 for a product, or those of the block, even where symmetry saves evaluations.
    pub entries_per_second: f64,
    /// 10^9 floating-point operations a second, at 2 (d + s) for each entry used.
    pub gemm_gflops: f64,
    /// 10^9 floating-point operations a second of dgemm on square matrices, with as many threads.
    pub dgemm_gflops: f64,
    /// `gemm_gflops` over `dgemm_gflops`.
    pub ratio: f64,
    /// The speed of sgemm, for a product or gradient in mixed precision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sgemm_gflops: Option<f64>,
}

/// Speed of a product with some of the rows or columns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BlockTiming {
    /// Speed of the product.
    #[serde(flatten)]
    pub timing: Timing,
    /// Rows or columns of the block.
    pub block: usize,
    /// Seconds per entry used, divided by those of the product with all of H.
    pub seconds_per_entry_to_operator: f64,
}

/// Speed of a part of an acquisition.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AcquireTiming {
    /// Speed of the part. Its entries are those between points and rows, and between points and features. For
    /// candidates, an entry of a row counts 2 (d + s) operations and one of a feature 2 (d / 2 + s), since two
    /// features share an angle; for gradients, 2 (2 d + 2) and 2 (d + 2).
    #[serde(flatten)]
    pub timing: Timing,
    /// Number of candidates or starting points.
    pub points: usize,
    /// Ratio to dgemm, divided by that of the product with all of H.
    pub ratio_to_operator: f64,
}

/// Speed of a learner's steps, compared with the machine's dgemm.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StepTiming {
    /// Rows.
    pub n: usize,
    /// Inputs.
    pub d: usize,
    /// Rows of a minibatch.
    pub batch: usize,
    /// Inducing points.
    pub points: usize,
    /// Median seconds of a step.
    pub step_seconds: f64,
    /// 10^9 floating-point operations a second of dgemm on square matrices, with as many threads.
    pub dgemm_gflops: f64,
    /// 10^9 operations that dgemm does in the time of a step.
    pub dgemm_operations: f64,
}

/// Speed of dense algebra, compared with the machine's limits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DenseTiming {
    /// Order of the matrix.
    pub n: usize,
    /// Right-hand sides, s.
    pub rhs: usize,
    /// Rank of the preconditioner; 0 for factors of H.
    pub rank: usize,
    /// The timed computations.
    pub works: Vec<WorkTiming>,
}

/// Speed of one computation of dense algebra.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkTiming {
    /// Name of the computation.
    pub work: String,
    /// Median seconds.
    pub seconds: f64,
    /// 10^9 necessary floating-point operations a second.
    pub gflops: f64,
    /// 10^9 bytes a second, where each array is read or written as often as it must be.
    pub gigabytes_per_second: f64,
    /// The limiting rate: operations or bytes, whichever take longer at the machine's own rates.
    pub bound: Bound,
    /// The rate of the bound: 10^9 operations or bytes a second.
    pub limit: f64,
    /// The time that the bound permits, divided by `seconds`.
    pub ratio: f64,
}

words! {
    /// The rate of the machine that limits dense algebra.
    pub enum Bound {
        /// Products of square matrices in double precision.
        Dgemm = "dgemm",
        /// The same in single precision.
        Sgemm = "sgemm",
        /// Reading two arrays and writing a third.
        Memory = "memory",
    }
}

/// Output of `gpbench-worker bench`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum BenchAnswer {
    /// Answer to [`Product::Rows`].
    Blocks {
        /// Speed of the rows.
        #[serde(flatten)]
        rows: BlockTiming,
        /// Speed of the rows with the fused transposed product, which uses each entry once for both.
        fused: BlockTiming,
        /// Speed of the columns.
        columns: BlockTiming,
        /// Speed of the product with all of H, timed in alternation.
        operator: Timing,
    },
    /// Answer to [`Product::Acquire`].
    Acquire {
        /// Speed of finding the best candidates.
        candidates: AcquireTiming,
        /// The same with two features only, which measures kernel entries.
        kernel: AcquireTiming,
        /// The same with one row only, which measures features.
        features: AcquireTiming,
        /// Speed of values and gradients at the starting points.
        gradients: AcquireTiming,
        /// Speed of the product with all of H, timed in alternation.
        operator: Timing,
    },
    /// Answer to [`Product::Learner`].
    Step(StepTiming),
    /// Answer to [`Product::Factor`] and [`Product::Precondition`].
    Dense(DenseTiming),
    /// Answer to [`Product::Tile`].
    Tile(TileTiming),
    /// Answer to the other products.
    Whole(Timing),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(seconds: f64) -> Timing {
        let precision = Arithmetic::Mixed;
        let rates = (seconds, 1.0, 2.0, 4.0, 0.5);
        let (seconds, entries_per_second, gemm_gflops, dgemm_gflops, ratio) = rates;
        Timing {
            n: 3,
            d: 2,
            rhs: 1,
            precision,
            seconds,
            entries_per_second,
            gemm_gflops,
            dgemm_gflops,
            ratio,
            sgemm_gflops: None,
        }
    }

    #[test]
    fn answers_are_distinguished() {
        let block = |block, seconds| BlockTiming {
            timing: timing(seconds),
            block,
            seconds_per_entry_to_operator: 1.5,
        };
        let blocks = BenchAnswer::Blocks {
            rows: block(5, 0.1),
            fused: block(5, 0.15),
            columns: block(10, 0.2),
            operator: timing(1.0),
        };
        let step = BenchAnswer::Step(StepTiming {
            n: 9,
            d: 2,
            batch: 4,
            points: 3,
            step_seconds: 0.1,
            dgemm_gflops: 30.0,
            dgemm_operations: 3.0,
        });
        let work = WorkTiming {
            work: "factor, double".to_owned(),
            seconds: 0.5,
            gflops: 20.0,
            gigabytes_per_second: 3.0,
            bound: Bound::Dgemm,
            limit: 30.0,
            ratio: 0.75,
        };
        let dense = BenchAnswer::Dense(DenseTiming { n: 9, rhs: 2, rank: 0, works: vec![work] });
        let part = |seconds| AcquireTiming { timing: timing(seconds), points: 7, ratio_to_operator: 0.5 };
        let acquire = BenchAnswer::Acquire {
            candidates: part(0.3),
            kernel: part(0.2),
            features: part(0.1),
            gradients: part(0.4),
            operator: timing(1.0),
        };
        let part = PartTiming { part: TilePart::NoRoot, nanoseconds: 1.5, gflops: 20.0, ratio: 0.5 };
        let tile = BenchAnswer::Tile(TileTiming {
            tile: 128,
            d: 2,
            rhs: 3,
            precision: Arithmetic::Mixed,
            threads: 2,
            gemm_gflops: 40.0,
            parts: vec![part],
        });
        let single = BenchAnswer::Whole(Timing { sgemm_gflops: Some(8.0), ..timing(1.0) });
        for answer in [BenchAnswer::Whole(timing(1.0)), single, blocks, acquire, step, dense, tile] {
            let text = serde_json::to_string(&answer).unwrap();
            assert_eq!(serde_json::from_str::<BenchAnswer>(&text).unwrap(), answer, "{text}");
        }
    }
}
