//! The table of all works, and the same in JSON.

use gpbench_record::Environment;
use gpbench_report::{TextTable, markdown};
use serde_json::{Value, json};

use super::expected::expected;
use super::measured::Measured;
use super::parts::Part;
use crate::args::{Format, FormatArg};
use crate::exit::Failure;
use crate::output;

/// How to read the ratios.
const NOTES: [&str; 2] = [
    "ratio: rate of a work over that of `of`, timed in alternation; of rows and columns, time for each entry over \
     that of the whole product",
    "allowed: what the operations allow",
];

/// All that was measured, and the machine.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) machine: Environment,
    pub(super) threads: usize,
    pub(super) works: Vec<Measured>,
    /// Parts that were not timed, and why.
    pub(super) left_out: Vec<(Part, String)>,
    /// What slows this machine down.
    pub(super) remarks: Vec<String>,
}

impl Answer {
    /// Prints the table, with the machine above and notes below, or JSON.
    pub(super) fn print(&self, output: FormatArg) -> Result<(), Failure> {
        let (table, notes) = (self.table(), self.notes());
        match output.format {
            Format::Table => {
                let notes = notes.join("\n");
                let table = output::terminal_table(&table, output);
                output::print(&format!("{}\n\n{table}\n{notes}", self.heading()))
            }
            Format::Md => {
                let notes: Vec<String> = notes.iter().map(|note| format!("- {}\n", markdown(note))).collect();
                let (heading, table) = (markdown(&self.heading()), table.markdown());
                output::print(&format!("{heading}\n\n{table}\n{}", notes.concat()))
            }
            _ => output::show(&table, &self.json(), output),
        }
    }

    /// The machine in one line.
    fn heading(&self) -> String {
        let Environment { cpu, cpu_dispatch, blas_core, .. } = &self.machine;
        format!("{cpu}; {cpu_dispatch}; BLAS core {blas_core}; threads {}", self.threads)
    }

    fn table(&self) -> TextTable {
        let mut table = TextTable::default()
            .words("work")
            .numbers("n")
            .numbers("d")
            .numbers("columns")
            .words("size")
            .numbers("seconds")
            .numbers("Gflop/s")
            .words("of")
            .numbers("its rate")
            .numbers("ratio")
            .numbers("expected")
            .numbers("allowed")
            .words("remark")
            .minor(&["size", "d", "n"])
            .major(&["remark", "ratio"]);
        for work in &self.works {
            table.row(self.row(work));
        }
        table
    }

    fn row(&self, work: &Measured) -> Vec<String> {
        let count = |count: Option<usize>| count.map_or_else(String::new, |count| count.to_string());
        let ratio = |ratio: Option<f64>| ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}"));
        let expected =
            expected(work.work, &self.machine).map_or_else(String::new, |known| match known.range {
                [least, largest] if least < largest => format!("{least:.2} to {largest:.2}"),
                [only, _] => format!("{only:.2}"),
            });
        vec![
            work.work.name().to_owned(),
            work.n.to_string(),
            count(work.d),
            count(work.rhs),
            work.size.clone(),
            format!("{:.4}", work.seconds),
            work.gflops.map_or_else(String::new, |gflops| format!("{gflops:.1}")),
            work.limit.name().to_owned(),
            format!("{:.1}", work.limit_rate),
            ratio(work.ratio),
            expected,
            ratio(work.allowed()),
            self.remark(work),
        ]
    }

    /// Whether a work falls short; of a learner's step, its cost in operations of dgemm.
    fn remark(&self, work: &Measured) -> String {
        if let Some(operations) = work.dgemm_operations() {
            return format!("{operations:.2} 10^9 operations of dgemm");
        }
        if self.falls_short(work) { "falls short".to_owned() } else { String::new() }
    }

    /// Whether a work falls short of what is expected of this machine.
    fn falls_short(&self, work: &Measured) -> bool {
        expected(work.work, &self.machine).is_some_and(|known| known.is_missed_by(work))
    }

    /// What to know beside the table: one note a line.
    fn notes(&self) -> Vec<String> {
        let mut sources: Vec<&str> = Vec::new();
        for known in self.works.iter().filter_map(|work| expected(work.work, &self.machine)) {
            if !sources.contains(&known.source()) {
                sources.push(known.source());
            }
        }
        let mut notes = NOTES.map(str::to_owned).to_vec();
        notes.extend(sources.iter().map(|source| format!("expected: as on {source}")));
        notes.extend(self.left_out.iter().map(|(part, why)| format!("left out: {}: {why}", part.name())));
        notes.extend(self.remarks.iter().cloned());
        notes
    }

    fn json(&self) -> Value {
        let work = |work: &Measured| {
            let known = expected(work.work, &self.machine);
            json!({
                "work": work.work.name(),
                "n": work.n,
                "d": work.d,
                "rhs": work.rhs,
                "size": work.size,
                "seconds": work.seconds,
                "gflops": work.gflops,
                "of": work.limit.name(),
                "limit": work.limit_rate,
                "ratio": work.ratio,
                "expected": known.map(|known| known.range),
                "expected_from": known.map(|known| known.source()),
                "allowed": work.allowed(),
                "falls_short": self.falls_short(work),
                "dgemm_operations": work.dgemm_operations(),
            })
        };
        let left_out = |(part, why): &(Part, String)| json!({ "part": part.name(), "reason": why });
        json!({
            "schema": output::SCHEMA,
            "processor": self.machine.cpu,
            "cores": self.machine.cores,
            "instruction_set": self.machine.cpu_dispatch,
            "blas": self.machine.blas,
            "blas_core": self.machine.blas_core,
            "threads": self.threads,
            "gpbench": self.machine.gpbench,
            "load": self.machine.load,
            "works": self.works.iter().map(work).collect::<Vec<_>>(),
            "left_out": self.left_out.iter().map(left_out).collect::<Vec<_>>(),
            "remarks": self.remarks,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::measured::Limit;
    use super::super::works::Work;
    use super::*;

    /// Two works of a machine, one of which falls short, and a step.
    fn answer() -> Answer {
        let work = |work, limit, ratio| Measured {
            work,
            n: 13_500,
            d: Some(26),
            rhs: Some(65),
            size: String::new(),
            seconds: 0.25,
            gflops: Some(60.0),
            limit,
            limit_rate: 100.0,
            ratio: Some(ratio),
        };
        let step = Measured {
            rhs: None,
            size: "batch 32".to_owned(),
            gflops: None,
            ratio: None,
            ..work(Work::Scgd, Limit::Dgemm, 0.0)
        };
        Answer {
            machine: Environment {
                cpu: "AMD EPYC".to_owned(),
                cpu_dispatch: "avx512".to_owned(),
                blas_core: "SkylakeX".to_owned(),
                ..Environment::default()
            },
            threads: 2,
            works: vec![work(Work::Product, Limit::Dgemm, 0.6), work(Work::Rows, Limit::Product, 1.3), step],
            left_out: vec![(Part::Svgp, "no plugin".to_owned())],
            remarks: vec!["transparent huge pages are off".to_owned()],
        }
    }

    #[test]
    fn a_line_has_ratio_expectation_limit_and_remark() {
        let answer = answer();
        let cells = |row: usize| -> Vec<String> { answer.row(&answer.works[row]) };
        let product = "product, f64|13500|26|65||0.2500|60.0|dgemm|100.0|0.60|0.90 to 1.05|1.00|falls short";
        assert_eq!(cells(0).join("|"), product);
        let rows = "rows|13500|26|65||0.2500|60.0|product, time an entry|100.0|1.30|1.23 to 1.40|1.29|";
        assert_eq!(cells(1).join("|"), rows);
        let step = "scgd, a step|13500|26||batch 32|0.2500||dgemm|100.0||||25.00 10^9 operations of dgemm";
        assert_eq!(cells(2).join("|"), step);
        assert_eq!(answer.table().columns.len(), cells(0).len());
    }

    #[test]
    fn machine_sources_and_remarks_are_told() {
        let answer = answer();
        assert_eq!(answer.heading(), "AMD EPYC; avx512; BLAS core SkylakeX; threads 2");
        let notes = answer.notes();
        let own = [
            "expected: as on Zen 4, two cores, benchmarks/README.md",
            "left out: svgp: no plugin",
            "transparent huge pages are off",
        ];
        assert_eq!(notes[NOTES.len()..], own);
    }

    #[test]
    fn json_has_the_numbers_of_the_table() {
        let json = answer().json();
        let (work, step) = (&json["works"][0], &json["works"][2]);
        assert_eq!((&work["work"], &work["of"]), (&"product, f64".into(), &"dgemm".into()));
        assert_eq!((&work["ratio"], &work["expected"]), (&json!(0.6), &json!([0.9, 1.05])));
        assert_eq!((&work["falls_short"], &step["falls_short"]), (&json!(true), &json!(false)));
        assert_eq!((&step["ratio"], &step["dgemm_operations"]), (&Value::Null, &json!(25.0)));
        assert_eq!(json["left_out"], json!([{ "part": "svgp", "reason": "no plugin" }]));
        assert_eq!(json["remarks"], json!(["transparent huge pages are off"]));
    }
}
