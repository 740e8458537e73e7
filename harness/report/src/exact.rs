//! Comparison of two runs bit by bit.
//!
//! Two programs that do the same arithmetic give the same bits. Cases are matched by their labels, since ids change with
//! the binaries. Seconds and bytes of memory differ from run to run and are not compared.

use std::collections::{BTreeMap, BTreeSet};

use gpbench_record::{Labels, Row, metric};
use serde_json::{Value, json};

use crate::baseline::other_contents;
use crate::run::Run;
use crate::table::TextTable;

/// Version of the JSON form.
const SCHEMA: u32 = 1;

/// Two runs, compared bit by bit.
#[derive(Debug, Clone, PartialEq)]
pub struct ExactComparison {
    /// Number of cases that both runs have.
    pub cases: usize,
    /// Number of values compared: statuses, metrics, and what trace points and steps hold.
    pub values: usize,
    /// The differences, case by case.
    pub differences: Vec<Difference>,
    /// Cases of both runs that a clock stopped in either: their values are not compared.
    pub stopped_by_clock: Vec<Labels>,
    /// Data sets of both runs whose content differs.
    pub other_contents: Vec<String>,
}

/// A value that differs.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The case.
    pub case: Labels,
    /// The value: `metrics/test_rmse`, or `case` where one run has no such case.
    pub what: String,
    /// The value in both runs; absent where a run has none.
    pub values: [Option<String>; 2],
}

/// Compares every case of two runs bit by bit, seconds and memory aside.
pub fn exact(first: &Run, second: &Run) -> ExactComparison {
    let sets: BTreeSet<&str> = first.record.rows.iter().map(|row| row.labels.dataset.as_str()).collect();
    let other_contents = other_contents(&first.record, &second.record, sets).map(str::to_owned).collect();
    let [first, second] = [first, second].map(|run| -> BTreeMap<&Labels, &Row> {
        run.record.rows.iter().map(|row| (&row.labels, row)).collect()
    });
    let mut comparison = ExactComparison {
        cases: 0,
        values: 0,
        differences: Vec::new(),
        stopped_by_clock: Vec::new(),
        other_contents,
    };
    let labels: BTreeSet<&Labels> = first.keys().chain(second.keys()).copied().collect();
    for case in labels {
        let (a, b) = (first.get(case), second.get(case));
        comparison.cases += usize::from(a.is_some() && b.is_some());
        match (a, b) {
            (Some(a), Some(b)) if a.reproducible && b.reproducible => {
                comparison.compare(case, "", Some(&content(a)), Some(&content(b)));
            }
            (Some(_), Some(_)) => comparison.stopped_by_clock.push(case.clone()),
            _ => {
                let status = |row: Option<&&Row>| row.map(|row| row.status.to_string());
                let values = [status(a), status(b)];
                comparison.differences.push(Difference {
                    case: case.clone(),
                    what: "case".to_owned(),
                    values,
                });
            }
        }
    }
    comparison
}

/// The results of a row: all but its id, its reason, its log and its date.
fn content(row: &Row) -> Value {
    let Row { status, n, d, metrics, solver_values, trace, output, .. } = row;
    json!({
        "status": status, "n": n, "d": d, "metrics": metrics, "solver_values": solver_values, "trace": trace,
        "output": output,
    })
}

/// Whether a value under this key depends on the machine.
fn depends_on_machine(key: &str) -> bool {
    metric::find(key).is_some_and(|metric| metric.unit.depends_on_machine())
}

impl ExactComparison {
    /// Whether all cases that were compared agree, and no run lacks a case of the other.
    pub fn agree(&self) -> bool {
        self.differences.is_empty()
    }

    /// One line with the numbers of comparisons and differences.
    pub fn count(&self) -> String {
        let ExactComparison { cases, values, differences, stopped_by_clock, other_contents } = self;
        let contents = match &other_contents[..] {
            [] => String::new(),
            names => format!("; the content of these data sets differs: {}", names.join(", ")),
        };
        let clock = match stopped_by_clock.len() {
            0 => String::new(),
            stopped => format!("; {stopped} cases not compared, since a clock stopped them"),
        };
        format!("{cases} cases, {values} values compared: {} differ{clock}{contents}", differences.len())
    }

    /// The differences as a table, with a count of what was compared as its caption.
    pub fn table(&self) -> TextTable {
        let mut table =
            TextTable::new("Differences").words("case").words("value").words("first").words("second");
        for Difference { case, what, values: [first, second] } in &self.differences {
            let absent = || "absent".to_owned();
            let values = [first, second].map(|value| value.clone().unwrap_or_else(absent));
            table.row([case.to_string(), what.clone()].into_iter().chain(values));
        }
        table.caption = self.count();
        table
    }

    /// `{"schema": 1, "agree", "cases", "values", "stopped_by_clock": [...], "other_contents": [...], "differences": [{"case", "value", "first",
    /// "second"}]}`.
    pub fn json(&self) -> Value {
        let difference = |Difference { case, what, values: [first, second] }: &Difference| json!({ "case": case.to_string(), "value": what, "first": first, "second": second });
        json!({
            "schema": SCHEMA,
            "agree": self.agree(),
            "cases": self.cases,
            "values": self.values,
            "stopped_by_clock": self.stopped_by_clock.iter().map(Labels::to_string).collect::<Vec<_>>(),
            "other_contents": self.other_contents,
            "differences": self.differences.iter().map(difference).collect::<Vec<_>>(),
        })
    }

    /// Compares two values at a path, part by part.
    fn compare(&mut self, case: &Labels, path: &str, first: Option<&Value>, second: Option<&Value>) {
        let at = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}/{key}") };
        match (first, second) {
            (Some(Value::Object(a)), Some(Value::Object(b))) => {
                let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
                for key in keys.into_iter().filter(|key| !depends_on_machine(key)) {
                    self.compare(case, &at(key), a.get(key), b.get(key));
                }
            }
            (Some(Value::Array(a)), Some(Value::Array(b))) => {
                for i in 0..a.len().max(b.len()) {
                    self.compare(case, &at(&i.to_string()), a.get(i), b.get(i));
                }
            }
            _ => {
                self.values += 1;
                // The shortest text that reads back as the same number distinguishes all bits.
                let [a, b] = [first, second].map(|value| value.map(Value::to_string));
                if a != b {
                    self.differences.push(Difference {
                        case: case.clone(),
                        what: path.to_owned(),
                        values: [a, b],
                    });
                }
            }
        }
    }
}
