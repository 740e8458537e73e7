//! The listing of timings.

use gpbench_record::{BenchAnswer, Timing};
use serde_json::json;

use crate::output::Listing;

/// Columns of the timing of a product.
const HEADER: [&str; 10] =
    ["product", "n", "d", "rhs", "precision", "seconds", "entries/s", "Gflop/s", "dgemm Gflop/s", "ratio"];

/// The row of one timing.
fn row(product: String, timing: &Timing) -> Vec<String> {
    let Timing { n, d, rhs, precision, .. } = timing;
    vec![
        product,
        n.to_string(),
        d.to_string(),
        rhs.to_string(),
        precision.as_str().to_owned(),
        format!("{:.4}", timing.seconds),
        format!("{:.3e}", timing.entries_per_second),
        format!("{:.1}", timing.gemm_gflops),
        format!("{:.1}", timing.dgemm_gflops),
        format!("{:.3}", timing.ratio),
    ]
}

/// The timings of an answer, a row for each.
pub(super) fn listing(answer: &BenchAnswer) -> Listing {
    match answer {
        BenchAnswer::Whole(timing) => {
            let mut listing = Listing::new(&HEADER, json!(answer));
            listing.row(row("all".to_owned(), timing));
            listing
        }
        BenchAnswer::Step(step) => {
            let header =
                ["n", "d", "batch", "points", "seconds", "dgemm Gflop/s", "10^9 operations of dgemm"];
            let mut listing = Listing::new(&header, json!(answer));
            let sizes = [step.n, step.d, step.batch, step.points].map(|size| size.to_string());
            let speeds = [
                format!("{:.4}", step.step_seconds),
                format!("{:.1}", step.dgemm_gflops),
                format!("{:.1}", step.dgemm_operations),
            ];
            listing.row([sizes.to_vec(), speeds.to_vec()].concat());
            listing
        }
        BenchAnswer::Dense(dense) => {
            let header =
                ["work", "n", "rank", "rhs", "seconds", "Gflop/s", "GB/s", "bound", "its rate", "ratio"];
            let mut listing = Listing::new(&header, json!(answer));
            for work in &dense.works {
                let rank = if dense.rank == 0 { String::new() } else { dense.rank.to_string() };
                listing.row(vec![
                    work.work.clone(),
                    dense.n.to_string(),
                    rank,
                    dense.rhs.to_string(),
                    format!("{:.4}", work.seconds),
                    format!("{:.1}", work.gflops),
                    format!("{:.1}", work.gigabytes_per_second),
                    work.bound.as_str().to_owned(),
                    format!("{:.1}", work.limit),
                    format!("{:.3}", work.ratio),
                ]);
            }
            listing
        }
        BenchAnswer::Tile(tile) => {
            let header = [
                "part",
                "tile",
                "d",
                "rhs",
                "precision",
                "threads",
                "ns an entry",
                "Gflop/s",
                "gemm Gflop/s",
                "ratio",
            ];
            let mut listing = Listing::new(&header, json!(answer));
            for part in &tile.parts {
                listing.row(vec![
                    part.part.to_string(),
                    tile.tile.to_string(),
                    tile.d.to_string(),
                    tile.rhs.to_string(),
                    tile.precision.as_str().to_owned(),
                    tile.threads.to_string(),
                    format!("{:.3}", part.nanoseconds),
                    format!("{:.1}", part.gflops),
                    format!("{:.1}", tile.gemm_gflops),
                    format!("{:.3}", part.ratio),
                ]);
            }
            listing
        }
        BenchAnswer::Acquire { candidates, kernel, features, gradients, operator } => {
            let header = [&HEADER[..], &["ratio, all = 1"]].concat();
            let mut listing = Listing::new(&header, json!(answer));
            let mut add = |product, timing, ratio: f64| {
                listing.row([row(product, timing), vec![format!("{ratio:.2}")]].concat());
            };
            add("all".to_owned(), operator, 1.0);
            for (name, part) in [
                ("candidates", candidates),
                ("candidates, kernel only", kernel),
                ("candidates, features only", features),
                ("gradients", gradients),
            ] {
                add(format!("{} {name}", part.points), &part.timing, part.ratio_to_operator);
            }
            listing
        }
        BenchAnswer::Blocks { rows, fused, columns, operator } => {
            let header = [&HEADER[..], &["time per entry, all = 1"]].concat();
            let mut listing = Listing::new(&header, json!(answer));
            let mut add = |product, timing, ratio: f64| {
                listing.row([row(product, timing), vec![format!("{ratio:.2}")]].concat());
            };
            add("all".to_owned(), operator, 1.0);
            for (name, part) in [("rows", rows), ("rows and transposed", fused), ("columns", columns)] {
                add(format!("{} {name}", part.block), &part.timing, part.seconds_per_entry_to_operator);
            }
            listing
        }
    }
}
