//! The table and the JSON of a pilot.

use gpbench_engine::Plan;
use gpbench_statistics::Estimate;
use serde_json::{Value, json};

use super::contestants::Contestant;
use super::course::Course;
use super::forecast::Forecast;
use super::measured::Measured;
use crate::output::Listing;
use crate::units;

/// A contestant, its trials, and what they foretell.
pub(crate) struct Forecasted<'a> {
    pub(crate) contestant: &'a Contestant,
    pub(crate) course: &'a Course,
    pub(crate) forecast: Forecast,
    /// Seconds that a case may take, where they are limited.
    pub(crate) time_limit: Option<f64>,
}

/// Whether a case fits its limits.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fit {
    Yes,
    /// The upper end of an interval is above a limit.
    Perhaps(String),
    No(String),
    Unknown,
}

impl Forecasted<'_> {
    /// Whether a full case fits its budget of time and the memory that it may use.
    fn fit(&self) -> Fit {
        let Forecast { seconds, memory, .. } = self.forecast;
        let memory_limit = self.contestant.entrant.memory_limit;
        let told = |limit: Option<f64>, text: fn(f64) -> String, what: &str| {
            limit.map(|limit| (limit, format!("{} {what}", text(limit))))
        };
        let quantities = [
            (memory, told(memory_limit, units::bytes, "of memory")),
            (seconds, told(self.time_limit, units::duration, "of time")),
        ];
        let above = |is_above: &dyn Fn(&Estimate, f64) -> bool| {
            quantities.iter().find_map(|(estimate, limit)| {
                let (estimate, (limit, text)) = (estimate.as_ref()?, limit.as_ref()?);
                is_above(estimate, *limit).then(|| text.clone())
            })
        };
        if let Some(limit) = above(&|estimate, limit| estimate.mean > limit) {
            return Fit::No(limit);
        }
        let highest = |estimate: &Estimate| estimate.interval.map_or(estimate.mean, |of| of.high);
        match above(&|estimate, limit| highest(estimate) > limit) {
            Some(limit) => Fit::Perhaps(limit),
            None if seconds.is_none() || memory.is_none() => Fit::Unknown,
            None => Fit::Yes,
        }
    }

    fn cells(&self, plan: &Plan) -> Vec<String> {
        let Forecasted { contestant, course, forecast, .. } = self;
        let place = contestant.cases[0];
        let labels = plan.file.cases[place].labels.clone();
        let files = &plan.files[place];
        let mean =
            |of: Option<Estimate>, text: fn(f64) -> String| of.map_or_else(unknown, |of| text(of.mean));
        let range = |of: Option<Estimate>, text: fn(f64) -> String| {
            let interval = of.and_then(|of| of.interval);
            interval.map_or_else(unknown, |of| format!("{} to {}", text(of.low), text(of.high)))
        };
        let unit = contestant.entrant.work.unit.as_str();
        let fits = match self.fit() {
            Fit::Yes => "yes".to_owned(),
            Fit::Perhaps(limit) => format!("perhaps not: {limit}"),
            Fit::No(limit) => format!("no: {limit}"),
            Fit::Unknown => unknown(),
        };
        vec![
            labels.dataset,
            labels.kernel,
            labels.estimator.unwrap_or_default(),
            labels.solver,
            contestant.entrant.rows.to_string(),
            course.trials.len().to_string(),
            course.largest().map_or_else(String::new, |trial| trial.rows.to_string()),
            forecast.exponent.map_or_else(unknown, |exponent| format!("n^{exponent:.1}")),
            forecast.units.map_or_else(unknown, |of| format!("{} {unit}", count(of.mean))),
            mean(forecast.seconds, units::duration),
            range(forecast.seconds, units::duration),
            files.seconds_estimate.map_or_else(unknown, units::duration),
            mean(forecast.memory, units::bytes),
            range(forecast.memory, units::bytes),
            files.memory_estimate.map_or_else(unknown, |bytes| units::bytes(bytes as f64)),
            fits,
            forecast.remarks.join("; "),
        ]
    }

    fn as_json(&self, plan: &Plan) -> Value {
        let Forecasted { contestant, course, forecast, time_limit } = self;
        let place = contestant.cases[0];
        let labels = &plan.file.cases[place].labels;
        let fits = match self.fit() {
            Fit::Yes => json!(true),
            Fit::No(_) => json!(false),
            Fit::Perhaps(_) | Fit::Unknown => Value::Null,
        };
        json!({
            "dataset": labels.dataset,
            "kernel": labels.kernel,
            "estimator": labels.estimator,
            "solver": labels.solver,
            "n": contestant.entrant.rows,
            "cases": contestant.cases.len(),
            "seconds": as_number(forecast.seconds),
            "exponent": forecast.exponent,
            "unit": contestant.entrant.work.unit.as_str(),
            "units": as_number(forecast.units),
            "memory_bytes": as_number(forecast.memory),
            "plan_seconds": plan.files[place].seconds_estimate,
            "plan_memory_bytes": plan.files[place].memory_estimate,
            "seconds_limit": time_limit,
            "memory_limit_bytes": contestant.entrant.memory_limit,
            "fits": fits,
            "trials": course.trials.iter().map(trial).collect::<Vec<Value>>(),
            "remarks": forecast.remarks,
        })
    }
}

/// The listing of a pilot of `seconds`.
pub(crate) fn listing(plan: &Plan, noun: &str, seconds: f64, forecasts: &[Forecasted<'_>]) -> Listing {
    let solvers: Vec<Value> = forecasts.iter().map(|forecast| forecast.as_json(plan)).collect();
    let json = json!({
        "schema": crate::output::SCHEMA,
        "name": plan.file.name,
        "pilot_seconds": seconds,
        "solvers": solvers,
    });
    let header = [
        "data set",
        "kernel",
        "estimator",
        noun,
        "n",
        "trials",
        "largest",
        "time grows as",
        "work",
        "time",
        "95 % of time",
        "time in plan",
        "memory",
        "95 % of memory",
        "memory in plan",
        "fits",
        "remarks",
    ];
    let mut listing = Listing::new(&header, json)
        .major(&[noun, "time", "95 % of time", "memory", "fits"])
        .minor(&["kernel", "estimator", "trials", "largest", "95 % of memory", "memory in plan"]);
    for forecast in forecasts {
        listing.row(forecast.cells(plan));
    }
    listing
}

fn unknown() -> String {
    "unknown".to_owned()
}

/// A number of units, whole from 100 on and otherwise with at most three decimals.
fn count(units: f64) -> String {
    if units >= 100.0 {
        return format!("{units:.0}");
    }
    format!("{units:.3}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn as_number(estimate: Option<Estimate>) -> Value {
    match estimate {
        Some(Estimate { mean, interval, .. }) => {
            json!({ "expected": mean, "low": interval.map(|of| of.low), "high": interval.map(|of| of.high) })
        }
        None => Value::Null,
    }
}

fn trial(trial: &Measured) -> Value {
    json!({
        "n": trial.rows,
        "seconds": trial.total(),
        "units": trial.all_units(),
        "memory_bytes": trial.memory,
        "ended_by_itself": trial.is_whole,
    })
}
