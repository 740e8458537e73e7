//! Tests against worked examples (`statistics.json`, from independent code), and small simulations.

mod alternatives;
mod calibration;
mod comparisons;
mod failures;
mod gate;
#[path = "../examples/simulate/gates.rs"]
mod gates;
mod growth;
#[path = "../examples/simulate/intervals.rs"]
mod intervals;
#[path = "../examples/simulate/limits.rs"]
mod limits;
mod profiles;
#[path = "../examples/simulate/random.rs"]
mod random;
mod ranking;
mod simulations;
mod support;
#[path = "../examples/simulate/tables.rs"]
mod tables;
