//! Simulates the rules of reports where the truth is known, and prints how often they err.
//!
//! `cargo run --release -p gpbench-statistics --example simulate -- --tables 1000 --gates 1000 --tenfold 1000 --coverage 4000 --seed 0`

mod gates;
mod intervals;
mod limits;
mod random;
mod tables;

use std::process::ExitCode;

use gates::{Gate, alarms, tenfold_slowdowns_passed};
use intervals::{RULES, coverage};
use limits::limit;
use random::Random;
use tables::tables_with_a_mark;

/// Sizes of gates: those that can only just decide, and those of a gate with default repeats and seeds.
const GATES: [Gate; 2] = [Gate { groups: 2, seeds: 2, repeats: 3 }, Gate { groups: 6, seeds: 3, repeats: 5 }];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1)?.parse::<usize>().ok()
    };
    let seed = number("--seed").unwrap_or(0) as u64;
    println!("seed {seed}");
    let mut fine = true;
    if let Some(tables) = number("--tables") {
        for (solvers, seeds) in [(3, 3), (6, 5), (12, 10)] {
            let marked = tables_with_a_mark(tables, solvers, seeds, &mut Random::new(seed));
            fine &= says(
                &format!("tables of {solvers} equal solvers, {seeds} seeds, with a mark"),
                marked,
                tables,
                0.05,
            );
        }
    }
    if let Some(gates) = number("--gates") {
        for gate in GATES {
            let found = alarms(gates, gate, &mut Random::new(seed));
            fine &= says(
                &format!("gates of {}, without a change, with an alarm", size(gate)),
                found,
                gates,
                0.005,
            );
        }
    }
    if let Some(gates) = number("--tenfold") {
        for groups in [1, 2, 3, 6] {
            let gate = Gate { groups, seeds: 2, repeats: 3 };
            let passed = tenfold_slowdowns_passed(gates, gate, &mut Random::new(seed));
            fine &=
                says(&format!("tenfold slowdowns passed by a gate of {}", size(gate)), passed, gates, 0.0);
        }
    }
    if let Some(samples) = number("--coverage") {
        for rule in RULES {
            let share = coverage(&rule, samples, &mut Random::new(seed));
            let (low, high) = rule.between;
            let is_fine = low <= share && share <= high;
            println!("{}: covers {share:.3}, expected {low} to {high}: {}", rule.name, word(is_fine));
            fine &= is_fine;
        }
    }
    if fine { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn size(gate: Gate) -> String {
    format!("{} groups, {} repeats, {} seeds", gate.groups, gate.repeats, gate.seeds)
}

/// Prints a count, and whether it is at most the 99.9 % quantile of what a chance of `nominal` gives.
fn says(what: &str, count: usize, of: usize, nominal: f64) -> bool {
    let limit = limit(of, nominal);
    println!("{what}: {count} of {of}, at most {limit}: {}", word(count <= limit));
    count <= limit
}

fn word(is_fine: bool) -> &'static str {
    if is_fine { "ok" } else { "WRONG" }
}
