//! `gpbench bench`: how fast kernel products are beside dgemm.

use gpbench_data::locate::Places;
use gpbench_data::registry;
use gpbench_record::{
    Arithmetic, BenchAnswer, BenchRequest, Dataset, Inputs, Kernel, Product, SCHEMA, Source, Timing,
};
use serde_json::json;

use super::data::obtain;
use crate::args::{self, Bench, BenchArgs, Format, Global};
use crate::exit::{Failure, OK, Outcome};
use crate::output::Listing;
use crate::prepare;
use crate::worker::Worker;

pub(crate) fn bench(global: &Global, verb: &Bench) -> Outcome {
    let (product, args) = match verb {
        Bench::Operator(args) => (Product::Operator, args),
        Bench::Gradient(args) if args.precision == args::Arithmetic::Mixed => {
            return Err(Failure::usage("--precision mixed: gradients are computed in f64 alone"));
        }
        Bench::Gradient(args) => (Product::Gradient, args),
        Bench::Rows { args, rows } => (Product::Rows { block: rows.get() }, args),
    };
    let (inputs, kernel) = match (&args.dataset, args.n, args.d) {
        (Some(name), ..) => dataset(global, args, name)?,
        (None, Some(n), Some(d)) => drawn(args, n.get(), d.get()),
        _ => return Err(Failure::usage("either --dataset, or --n and --d")),
    };
    let request = BenchRequest {
        schema: SCHEMA,
        product,
        inputs,
        kernel,
        rhs: args.rhs.get(),
        precision: match args.precision {
            args::Arithmetic::F64 => Arithmetic::F64,
            args::Arithmetic::Mixed => Arithmetic::Mixed,
        },
        threads: args.threads.map_or_else(prepare::default_threads, |threads| threads.get()),
        seconds: args.seconds,
        dgemm_order: args.dgemm_order.get(),
        arrays: args.arrays.clone(),
    };
    show(&Worker::locate()?.bench(&request)?, args.format);
    Ok(OK)
}

/// The training inputs of a set of the registry, with published hyperparameters if there are any.
fn dataset(global: &Global, args: &BenchArgs, name: &str) -> Result<(Inputs, Kernel), Failure> {
    let name = registry::find(name).map_err(Failure::usage)?.name.clone();
    let places = Places::from_env(global.data_dir.clone()).map_err(Failure::usage)?;
    let source = Source::Registry { name: name.clone() };
    let copy = obtain(global, &places, &source, None, args.offline).map_err(|m| Failure::usage(m.text))?;
    let published = gpbench_spec::published_kernel(&name, 0, args.kernel.as_str());
    let kernel = published.unwrap_or_else(|| ones(args, 1.0));
    let dataset =
        Dataset { name, source, split: 0, fractions: None, subsample: None, collapse_duplicates: false };
    Ok((Inputs::Dataset { dataset, file: copy.path }, kernel))
}

/// Standard normal inputs: two of them lie about sqrt(2 d) apart.
fn drawn(args: &BenchArgs, n: usize, d: usize) -> (Inputs, Kernel) {
    (Inputs::Normal { n, d }, ones(args, (d as f64).sqrt()))
}

fn ones(args: &BenchArgs, length_scale: f64) -> Kernel {
    let family = args.kernel.as_str().to_owned();
    let (name, origin) = (family.clone(), "ones".to_owned());
    let length_scale = vec![length_scale];
    Kernel { name, family, signal_scale: 1.0, noise_scale: 1.0, length_scale, mean: None, origin }
}

fn show(answer: &BenchAnswer, format: Format) {
    let header = [
        "product",
        "n",
        "d",
        "rhs",
        "precision",
        "seconds",
        "entries/s",
        "Gflop/s",
        "dgemm Gflop/s",
        "ratio",
    ];
    let row = |product: String, timing: &Timing| {
        let Timing { n, d, rhs, precision, .. } = timing;
        let precision = match precision {
            Arithmetic::F64 => "f64",
            Arithmetic::Mixed => "mixed",
        };
        vec![
            product,
            n.to_string(),
            d.to_string(),
            rhs.to_string(),
            precision.to_owned(),
            format!("{:.4}", timing.seconds),
            format!("{:.3e}", timing.entries_per_second),
            format!("{:.1}", timing.gemm_gflops),
            format!("{:.1}", timing.dgemm_gflops),
            format!("{:.3}", timing.ratio),
        ]
    };
    let mut listing;
    match answer {
        BenchAnswer::Whole(timing) => {
            listing = Listing::new(&header, json!(answer));
            listing.row(row("all".to_owned(), timing));
        }
        BenchAnswer::Blocks { rows, fused, columns, operator } => {
            let header = [&header[..], &["time per entry, all = 1"]].concat();
            listing = Listing::new(&header, json!(answer));
            let per_entry = |cells: Vec<String>, ratio: f64| [cells, vec![format!("{ratio:.2}")]].concat();
            listing.row(per_entry(row("all".to_owned(), operator), 1.0));
            for (name, part) in [("rows", rows), ("rows and back", fused), ("columns", columns)] {
                let cells = row(format!("{} {name}", part.block), &part.timing);
                listing.row(per_entry(cells, part.seconds_per_entry_to_operator));
            }
        }
    }
    listing.print(format);
}
