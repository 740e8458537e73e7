//! The lines of the table, from the answers of the worker.

use gpbench_record::{BenchAnswer, BlockTiming, Bound, DenseTiming, StepTiming, Timing, WorkTiming};

use super::parts::Part;
use super::works::Work;

/// What the ratio of a work compares it with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    /// Its rate of operations with that of products of square matrices.
    Dgemm,
    /// The same in single precision.
    Sgemm,
    /// Its bytes a second with those of a pass over memory.
    Memory,
    /// Its time for each entry that it uses with that of the whole product: the smaller, the better.
    Product,
}

impl Limit {
    /// Its name in tables and JSON.
    pub(super) fn name(self) -> &'static str {
        match self {
            Limit::Dgemm => "dgemm",
            Limit::Sgemm => "sgemm",
            Limit::Memory => "memory (GB/s)",
            Limit::Product => "product, time an entry",
        }
    }
}

impl From<Bound> for Limit {
    fn from(bound: Bound) -> Limit {
        match bound {
            Bound::Dgemm => Limit::Dgemm,
            Bound::Sgemm => Limit::Sgemm,
            Bound::Memory => Limit::Memory,
        }
    }
}

/// One timed work.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Measured {
    pub(super) work: Work,
    pub(super) n: usize,
    /// Inputs, where they matter.
    pub(super) d: Option<usize>,
    /// Right-hand sides, where there are any.
    pub(super) rhs: Option<usize>,
    /// Other sizes, for people.
    pub(super) size: String,
    /// Median seconds.
    pub(super) seconds: f64,
    /// 10^9 counted operations a second; not of a learner's step.
    pub(super) gflops: Option<f64>,
    pub(super) limit: Limit,
    /// The rate of the limit, measured in alternation: 10^9 operations a second, or bytes.
    pub(super) limit_rate: f64,
    /// Not of a learner's step, whose operations are not counted.
    pub(super) ratio: Option<f64>,
}

impl Measured {
    /// The ratio that the operations allow.
    pub(super) fn allowed(&self) -> Option<f64> {
        let number = |count: Option<usize>| count.unwrap_or_default() as f64;
        self.work.allowed(number(self.d), number(self.rhs)).filter(|_| self.limit != Limit::Memory)
    }

    /// 10^9 operations that dgemm does in the time of a learner's step.
    pub(super) fn dgemm_operations(&self) -> Option<f64> {
        self.ratio.is_none().then_some(self.seconds * self.limit_rate)
    }
}

/// The works of a part.
pub(super) fn measured(part: Part, answer: &BenchAnswer) -> Vec<Measured> {
    let works = part.works();
    match answer {
        BenchAnswer::Whole(timing) => vec![of_timing(works[0], timing)],
        BenchAnswer::Blocks { rows, fused, columns, operator } => {
            let blocks = [(rows, "rows"), (fused, "rows"), (columns, "columns")];
            let line = |(&work, (block, what)): (&Work, (&BlockTiming, &str))| Measured {
                size: format!("{} {what}", block.block),
                limit: Limit::Product,
                limit_rate: operator.gemm_gflops,
                ratio: Some(block.seconds_per_entry_to_operator),
                ..of_timing(work, &block.timing)
            };
            works.iter().zip(blocks).map(line).collect()
        }
        BenchAnswer::Acquire { gradients, .. } => {
            let size = format!("{} points", gradients.points);
            vec![Measured { size, ..of_timing(works[0], &gradients.timing) }]
        }
        BenchAnswer::Dense(dense) => {
            works.iter().zip(&dense.works).map(|(&work, timing)| of_dense(work, dense, timing)).collect()
        }
        BenchAnswer::Step(step) => vec![of_step(works[0], step)],
        // No part asks for it.
        BenchAnswer::Tile(_) => Vec::new(),
    }
}

/// A kernel product, compared with dgemm or, in single precision, sgemm.
fn of_timing(work: Work, timing: &Timing) -> Measured {
    let (limit, limit_rate) = match timing.sgemm_gflops {
        Some(sgemm) => (Limit::Sgemm, sgemm),
        None => (Limit::Dgemm, timing.dgemm_gflops),
    };
    Measured {
        work,
        n: timing.n,
        d: Some(timing.d),
        rhs: Some(timing.rhs),
        size: String::new(),
        seconds: timing.seconds,
        gflops: Some(timing.gemm_gflops),
        limit,
        limit_rate,
        ratio: Some(timing.gemm_gflops / limit_rate),
    }
}

/// Dense algebra, compared with what limits it.
fn of_dense(work: Work, dense: &DenseTiming, timing: &WorkTiming) -> Measured {
    Measured {
        work,
        n: dense.n,
        d: None,
        rhs: Some(dense.rhs),
        size: if dense.rank == 0 { String::new() } else { format!("rank {}", dense.rank) },
        seconds: timing.seconds,
        gflops: Some(timing.gflops),
        limit: timing.bound.into(),
        limit_rate: timing.limit,
        ratio: Some(timing.ratio),
    }
}

/// A step of a learner, whose operations are not counted.
fn of_step(work: Work, step: &StepTiming) -> Measured {
    let points = if step.points == 0 { String::new() } else { format!(", {} inducing points", step.points) };
    Measured {
        work,
        n: step.n,
        d: Some(step.d),
        rhs: None,
        size: format!("batch {}{points}", step.batch),
        seconds: step.step_seconds,
        gflops: None,
        limit: Limit::Dgemm,
        limit_rate: step.dgemm_gflops,
        ratio: None,
    }
}

#[cfg(test)]
mod tests {
    use gpbench_record::Arithmetic;

    use super::*;

    fn timing(sgemm_gflops: Option<f64>) -> Timing {
        Timing {
            n: 9,
            d: 2,
            rhs: 3,
            precision: Arithmetic::F64,
            seconds: 0.5,
            entries_per_second: 1.0,
            gemm_gflops: 20.0,
            dgemm_gflops: 40.0,
            ratio: 0.5,
            sgemm_gflops,
        }
    }

    #[test]
    fn single_precision_is_compared_with_sgemm() {
        let of = |sgemm| measured(Part::ProductSingle, &BenchAnswer::Whole(timing(sgemm)))[0].clone();
        assert_eq!((of(Some(80.0)).limit, of(Some(80.0)).ratio), (Limit::Sgemm, Some(0.25)));
        assert_eq!((of(None).limit, of(None).ratio), (Limit::Dgemm, Some(0.5)));
    }

    #[test]
    fn works_have_the_numbers_of_their_answers() {
        let work = |bound, ratio| WorkTiming {
            work: String::new(),
            seconds: 0.5,
            gflops: 20.0,
            gigabytes_per_second: 3.0,
            bound,
            limit: 30.0,
            ratio,
        };
        let works = vec![work(Bound::Dgemm, 0.3), work(Bound::Dgemm, 0.5), work(Bound::Memory, 0.9)];
        let dense = BenchAnswer::Dense(DenseTiming { n: 9, rhs: 3, rank: 4, works });
        let lines = measured(Part::LowRank, &dense);
        let found: Vec<_> = lines.iter().map(|line| (line.work, line.ratio, line.allowed())).collect();
        let expected = [
            (Work::Build, Some(0.3), Some(0.7)),
            (Work::Apply, Some(0.5), Some(0.9)),
            // Estimates are of operations, not of memory.
            (Work::ApplySingle, Some(0.9), None),
        ];
        assert_eq!(found, expected);

        let block =
            |share| BlockTiming { timing: timing(None), block: 5, seconds_per_entry_to_operator: share };
        let blocks = BenchAnswer::Blocks {
            rows: block(1.5),
            fused: block(2.5),
            columns: block(1.2),
            operator: Timing { gemm_gflops: 30.0, ..timing(None) },
        };
        let lines = measured(Part::Blocks, &blocks);
        assert_eq!(lines.iter().map(|line| line.ratio).collect::<Vec<_>>(), [1.5, 2.5, 1.2].map(Some));
        assert!(lines.iter().all(|line| (line.limit, line.limit_rate) == (Limit::Product, 30.0)));

        let step = StepTiming {
            n: 9,
            d: 2,
            batch: 4,
            points: 0,
            step_seconds: 0.5,
            dgemm_gflops: 30.0,
            dgemm_operations: 15.0,
        };
        let line = &measured(Part::Scgd, &BenchAnswer::Step(step))[0];
        assert_eq!((line.size.as_str(), line.ratio, line.dgemm_operations()), ("batch 4", None, Some(15.0)));
    }
}
