//! Tables of equal solvers.

use std::collections::BTreeMap;

use gpbench_statistics::{Column, Tolerance, bold};

use crate::random::Random;

/// Number of tables, of equal solvers and four columns, that set any solver apart.
pub fn tables_with_a_mark(tables: usize, solvers: usize, seeds: u64, random: &mut Random) -> usize {
    (0..tables).filter(|_| is_marked(solvers, seeds, random)).count()
}

fn is_marked(solvers: usize, seeds: u64, random: &mut Random) -> bool {
    let column = |at: usize, random: &mut Random| {
        // What a seed draws is the same for all solvers, and varies much.
        let effects: Vec<f64> = (0..seeds).map(|_| 3.0 * random.normal()).collect();
        let value = |seed: u64, random: &mut Random| (0.1 * (effects[seed as usize] + random.normal())).exp();
        let of_solver = |random: &mut Random| (0..seeds).map(|seed| (seed, value(seed, random))).collect();
        Column {
            values: (0..solvers).map(|_| of_solver(random)).collect::<Vec<BTreeMap<u64, f64>>>(),
            is_log: at.is_multiple_of(2),
            lower_is_better: true,
            smallest: Tolerance::default(),
            extra_variance: 0.0,
        }
    };
    let columns: Vec<Column> = (0..4).map(|at| column(at, random)).collect();
    bold(&columns).bold.iter().flatten().any(|bold| *bold)
}
