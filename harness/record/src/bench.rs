//! Speed of kernel products and dense algebra: what `gpbench-worker bench` is asked, and its answer.

use std::path::PathBuf;

use gpbench_terms::words;
use serde::{Deserialize, Serialize};

use crate::{Arithmetic, Dataset, Kernel};

/// Input of `gpbench-worker bench`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BenchRequest {
    /// [`crate::SCHEMA`].
    pub schema: u32,
    /// What to time.
    pub product: Product,
    /// The rows between which kernel entries stand.
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
    /// Order of the square matrices that dgemm multiplies beside it.
    pub dgemm_order: usize,
    /// Folder into which inputs, right-hand sides and product are written.
    #[serde(default, with = "crate::path::optional")]
    pub arrays: Option<PathBuf>,
}

/// A product with H = K + noise_scale^2 I.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Product {
    /// H V.
    Operator,
    /// Derivatives of `tr(U^T H W)` by every hyperparameter, for as many columns as right-hand sides.
    Gradient,
    /// U = H\[B, :\] V for a block B of rows; the same and Z += H\[B, :\]^T U in one; and Y += H\[:, C\] U for
    /// twice as many columns C.
    Rows {
        /// Rows of the block.
        block: usize,
    },
    /// No product, but a Cholesky factor of H and solves with it, in both precisions.
    Factor,
    /// No product, but a preconditioner of low rank: building it from a partial Cholesky factor, and applying it in both
    /// precisions.
    Precondition {
        /// Columns of the factor.
        rank: usize,
    },
    /// No product with H, but posterior samples, as many as right-hand sides: the best of candidates that they share, and
    /// values and gradients at starts of their own.
    Acquire(Acquire),
    /// No product, but steps of a learner.
    Learner(LearnerStep),
}

/// Sizes of an acquisition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acquire {
    /// Candidates that all samples share.
    pub candidates: usize,
    /// Starts of all samples together.
    pub starts: usize,
    /// Random features of the prior draws, an even number.
    pub features: usize,
}

/// Which learner's steps to time, on targets that are a smooth function of the inputs, with noise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearnerStep {
    /// The plugin's file.
    #[serde(with = "crate::path")]
    pub library: PathBuf,
    /// The learner's id.
    pub learner: String,
    /// Its parameter `batch`, rows of a minibatch.
    pub batch: usize,
    /// Inducing points, the first so many of the inputs; 0 for none.
    pub points: usize,
}

/// Where inputs come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
        /// Which.
        dataset: Dataset,
        /// Its binary copy.
        #[serde(with = "crate::path")]
        file: PathBuf,
    },
}

/// How fast a product is, beside the machine's own matrix product.
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
    /// Entries used a second, whatever symmetry saves: n^2 of them, or the block's.
    pub entries_per_second: f64,
    /// 10^9 floating-point operations a second, at 2 (d + s) for each entry used.
    pub gemm_gflops: f64,
    /// The same of dgemm on square matrices, with as many threads.
    pub dgemm_gflops: f64,
    /// `gemm_gflops` over `dgemm_gflops`.
    pub ratio: f64,
}

/// A product with some of the rows or columns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BlockTiming {
    /// Its own speed.
    #[serde(flatten)]
    pub timing: Timing,
    /// Rows or columns of the block.
    pub block: usize,
    /// Seconds for each entry used, over those of the product with all of H.
    pub seconds_per_entry_to_operator: f64,
}

/// A part of an acquisition.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AcquireTiming {
    /// Its own speed. Its entries are those between points and rows, and between points and features. For candidates, an
    /// entry of a row counts 2 (d + s) operations and one of a feature 2 (d / 2 + s), since two features share an
    /// angle; for gradients, 2 (2 d + 2) and 2 (d + 2).
    #[serde(flatten)]
    pub timing: Timing,
    /// Candidates or starts.
    pub points: usize,
    /// Its ratio to dgemm over that of the product with all of H.
    pub ratio_to_operator: f64,
}

/// How fast a learner's steps are, beside the machine's own matrix product.
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

/// Dense algebra beside what bounds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DenseTiming {
    /// Order of the matrix.
    pub n: usize,
    /// Right-hand sides, s.
    pub rhs: usize,
    /// Rank of the preconditioner; 0 for factors of H.
    pub rank: usize,
    /// Each piece of work.
    pub works: Vec<WorkTiming>,
}

/// One piece of dense algebra.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkTiming {
    /// What is done.
    pub work: String,
    /// Median seconds.
    pub seconds: f64,
    /// 10^9 floating-point operations a second, of the operations that are needed.
    pub gflops: f64,
    /// 10^9 bytes a second, where each array is read or written as often as it must be.
    pub gigabytes_per_second: f64,
    /// What bounds it: the larger of the times that its operations and its bytes take at the machine's own rates.
    pub bound: Bound,
    /// The rate of the bound: 10^9 operations or bytes a second.
    pub limit: f64,
    /// The time that the bound permits, over `seconds`.
    pub ratio: f64,
}

words! {
    /// What bounds dense algebra.
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
    /// To [`Product::Rows`].
    Blocks {
        /// The rows.
        #[serde(flatten)]
        rows: BlockTiming,
        /// The rows, forward and transposed, each entry used once for both.
        fused: BlockTiming,
        /// The columns.
        columns: BlockTiming,
        /// All of H, in between.
        operator: Timing,
    },
    /// To [`Product::Acquire`].
    Acquire {
        /// The best of the candidates.
        candidates: AcquireTiming,
        /// The same with two features only: kernel entries.
        kernel: AcquireTiming,
        /// The same with one row only: features.
        features: AcquireTiming,
        /// Values and gradients at the starts.
        gradients: AcquireTiming,
        /// All of H, in between.
        operator: Timing,
    },
    /// To [`Product::Learner`].
    Step(StepTiming),
    /// To [`Product::Factor`] and [`Product::Precondition`].
    Dense(DenseTiming),
    /// To the other products.
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
        for answer in [BenchAnswer::Whole(timing(1.0)), blocks, acquire, step, dense] {
            let text = serde_json::to_string(&answer).unwrap();
            assert_eq!(serde_json::from_str::<BenchAnswer>(&text).unwrap(), answer, "{text}");
        }
    }
}
