//! Ratios that machines of known kinds have reached: the only place that lists them.

use gpbench_record::{Environment, InstructionSet};

use super::measured::{Limit, Measured};
use super::works::Work;

/// A ratio that falls short of the expected ones by this share is remarked.
const TOLERANCE: f64 = 0.1;

/// Who makes a processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Maker {
    Amd,
    Intel,
}

/// A kind of machine that was measured.
#[derive(Debug, Clone, Copy)]
struct Kind {
    instructions: InstructionSet,
    maker: Maker,
    source: &'static str,
}

/// What a work reaches on a kind of machine.
#[derive(Debug)]
pub(super) struct Expected {
    kind: Kind,
    work: Work,
    /// The least and the largest ratio of several runs.
    pub(super) range: [f64; 2],
}

impl Kind {
    /// The ratios of several runs.
    const fn reaches(self, work: Work, least: f64, largest: f64) -> Expected {
        Expected { kind: self, work, range: [least, largest] }
    }

    /// The ratio of one run, or the median of several rounds.
    const fn reached(self, work: Work, ratio: f64) -> Expected {
        self.reaches(work, ratio, ratio)
    }
}

/// Two cores of AMD EPYC and Intel Xeon machines, from the tables of benchmarks/README.md: ranges over several runs, and medians of
/// several rounds.
const ZEN4: Kind = Kind {
    instructions: InstructionSet::Avx512,
    maker: Maker::Amd,
    source: "Zen 4, two cores, benchmarks/README.md",
};
const ZEN3: Kind = Kind {
    instructions: InstructionSet::Avx2,
    maker: Maker::Amd,
    source: "Zen 3, two cores, benchmarks/README.md",
};

const CASCADE_LAKE: Kind = Kind {
    instructions: InstructionSet::Avx512,
    maker: Maker::Intel,
    source: "Cascade Lake, two cores, benchmarks/README.md",
};

/// Ratios to dgemm or sgemm; of rows and columns, times for each entry that is used, divided by that of the whole
/// product.
const TABLE: &[Expected] = &[
    ZEN4.reaches(Work::Product, 0.90, 1.05),
    ZEN4.reaches(Work::ProductOfOne, 0.97, 1.07),
    ZEN4.reaches(Work::Gradient, 0.78, 0.85),
    ZEN4.reaches(Work::Rows, 1.23, 1.40),
    ZEN4.reaches(Work::RowsAndBack, 2.35, 2.44),
    ZEN4.reaches(Work::Columns, 1.12, 1.31),
    ZEN4.reached(Work::Factor, 0.85),
    ZEN4.reaches(Work::FactorSingle, 0.75, 0.82),
    ZEN4.reached(Work::Solve, 0.67),
    ZEN4.reached(Work::SolveSingle, 0.71),
    ZEN4.reached(Work::Build, 0.74),
    ZEN4.reached(Work::Apply, 0.84),
    ZEN4.reached(Work::SampleGradients, 0.62),
    ZEN3.reaches(Work::Product, 0.84, 0.96),
    ZEN3.reached(Work::ProductOfOne, 0.79),
    ZEN3.reaches(Work::Gradient, 0.57, 0.64),
    ZEN3.reaches(Work::Rows, 1.5, 1.6),
    ZEN3.reaches(Work::Columns, 1.3, 1.5),
    CASCADE_LAKE.reached(Work::Product, 0.81),
    CASCADE_LAKE.reached(Work::ProductOfOne, 0.69),
    CASCADE_LAKE.reached(Work::Gradient, 0.52),
    CASCADE_LAKE.reached(Work::Rows, 1.54),
    CASCADE_LAKE.reached(Work::RowsAndBack, 2.53),
    CASCADE_LAKE.reached(Work::Columns, 1.41),
    CASCADE_LAKE.reached(Work::Factor, 0.63),
    CASCADE_LAKE.reached(Work::FactorSingle, 0.65),
    CASCADE_LAKE.reached(Work::Solve, 0.49),
    CASCADE_LAKE.reached(Work::SolveSingle, 0.45),
    CASCADE_LAKE.reached(Work::Build, 0.45),
    CASCADE_LAKE.reached(Work::Apply, 0.50),
    CASCADE_LAKE.reached(Work::SampleGradients, 0.38),
];

/// What is expected of a work on this machine: what one of the same maker and instruction set has reached, else one
/// of the same instruction set.
pub(super) fn expected(work: Work, machine: &Environment) -> Option<&'static Expected> {
    let of_set = || {
        let set = machine.cpu_dispatch.as_str();
        TABLE.iter().filter(move |known| known.work == work && known.kind.instructions.as_str() == set)
    };
    let maker = if machine.cpu.contains("Intel") { Maker::Intel } else { Maker::Amd };
    of_set().find(|known| known.kind.maker == maker).or_else(|| of_set().next())
}

impl Expected {
    /// The machine, and where its ratios are published.
    pub(super) fn source(&self) -> &'static str {
        self.kind.source
    }

    /// Whether a measured work falls short of it.
    pub(super) fn is_missed_by(&self, measured: &Measured) -> bool {
        let [least, largest] = self.range;
        measured.ratio.is_some_and(|ratio| match measured.limit {
            Limit::Product => ratio > (1.0 + TOLERANCE) * largest,
            Limit::Dgemm | Limit::Sgemm | Limit::Memory => ratio < (1.0 - TOLERANCE) * least,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(cpu: &str, cpu_dispatch: &str) -> Environment {
        Environment { cpu: cpu.to_owned(), cpu_dispatch: cpu_dispatch.to_owned(), ..Environment::default() }
    }

    fn measured(work: Work, limit: Limit, ratio: f64) -> Measured {
        Measured {
            work,
            n: 9,
            d: Some(2),
            rhs: Some(3),
            size: String::new(),
            seconds: 1.0,
            gflops: Some(1.0),
            limit,
            limit_rate: 1.0,
            ratio: Some(ratio),
        }
    }

    #[test]
    fn the_nearest_kind_is_expected() {
        let range = |work, cpu: &str, set: &str| expected(work, &machine(cpu, set)).map(|known| known.range);
        assert_eq!(range(Work::Product, "AMD EPYC 9R14", "avx512"), Some([0.90, 1.05]));
        assert_eq!(range(Work::Product, "Intel(R) Xeon(R) Platinum 8488C", "avx512"), Some([0.81; 2]));
        assert_eq!(range(Work::Factor, "AMD EPYC 9R14", "avx512"), Some([0.85; 2]));
        // AVX2 was measured on AMD's processors alone.
        assert_eq!(range(Work::Gradient, "Intel(R) Xeon(R) CPU E5-2680", "avx2"), Some([0.57, 0.64]));
        assert_eq!(range(Work::Factor, "AMD EPYC 7R13", "avx2"), None);
        assert_eq!(range(Work::Product, "Neoverse-V2", "portable"), None);
    }

    #[test]
    fn a_kind_states_a_work_once() {
        for (i, one) in TABLE.iter().enumerate() {
            assert!(one.range[0] <= one.range[1]);
            let is_same = |other: &Expected| other.work == one.work && other.source() == one.source();
            assert!(!TABLE[i + 1..].iter().any(is_same), "{}", one.work.name());
        }
    }

    #[test]
    fn times_an_entry_fall_short_when_they_are_longer() {
        let zen4 = machine("AMD EPYC", "avx512");
        let is_missed = |work, limit, ratio| {
            expected(work, &zen4).expect("a ratio").is_missed_by(&measured(work, limit, ratio))
        };
        let of_product = [0.82, 0.8].map(|ratio| is_missed(Work::Product, Limit::Dgemm, ratio));
        let of_rows = [1.53, 1.55].map(|ratio| is_missed(Work::Rows, Limit::Product, ratio));
        assert_eq!([of_product, of_rows], [[false, true]; 2]);
    }
}
