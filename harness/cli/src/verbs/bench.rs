//! `gpbench bench`: the speed of kernel products, of dense algebra and of learners' steps, beside the machine's limits.

mod all;
mod inputs;
mod listing;
mod size;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use gpbench_data::registry;
use gpbench_record::{
    Acquire, Arithmetic, BenchInputs, BenchRequest, Dataset, Family, Kernel, LearnerStep, Product, SCHEMA,
    SolverKind, Source,
};

use crate::args::{FormatArg, Global, count, positive};
use crate::exit::{Failure, OK, Outcome};
use crate::worker::Worker;
use crate::{catalog, dataset, environment};

use self::all::AllArgs;
use self::inputs::{drawn, ones};

/// `gpbench bench`.
#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    /// What this machine reaches in all kinds of work, beside dgemm and others of its kind; about two minutes.
    All(AllArgs),
    /// The product with the whole kernel matrix.
    Operator(BenchArgs),
    /// The derivatives of an inner product of two blocks of right-hand sides by every hyperparameter, in one pass.
    Gradient(BenchArgs),
    /// The product with a block of rows, forward and transposed, and with a block of twice as many columns.
    Rows {
        #[command(flatten)]
        args: BenchArgs,
        /// Rows of the block; at most all.
        #[arg(long, value_name = "B", default_value = "500", value_parser = count)]
        rows: NonZeroUsize,
    },
    /// A Cholesky factor of the kernel matrix and solves with it, in double and in single precision. Copying the matrix
    /// is part of it.
    Factor(BenchArgs),
    /// A preconditioner of low rank: building it from a partial Cholesky factor, and applying it to the right-hand sides
    /// in double and in single precision.
    Precondition {
        #[command(flatten)]
        args: BenchArgs,
        /// Columns of the partial factor; at most the rows.
        #[arg(long, value_name = "K", default_value = "1000", value_parser = count)]
        rank: NonZeroUsize,
    },
    /// Posterior samples, as in Thompson sampling: the best of candidates that all share, and values and gradients at
    /// starts of their own. The number of right-hand sides is that of samples.
    Acquire {
        #[command(flatten)]
        args: BenchArgs,
        /// Candidates that all samples share.
        #[arg(long, value_name = "C", default_value = "2048", value_parser = count)]
        candidates: NonZeroUsize,
        /// Starts of all samples together.
        #[arg(long, value_name = "N", default_value = "2048", value_parser = count)]
        starts: NonZeroUsize,
        /// Random features of the prior draws; an even number.
        #[arg(long, value_name = "M", default_value = "2000", value_parser = count)]
        features: NonZeroUsize,
    },
    /// The work on one tile of the kernel matrix in parts, to see which of them bounds its speed: entries without square
    /// root or exponential, distances alone, products, packing, and multiply-adds in registers.
    ///
    /// Matérn-3/2 with distances from products of coordinates. `Gflop/s` and `ratio` count distances and products alone.
    Tile(BenchArgs),
    /// A step of a learner, in f64.
    Learner {
        /// The plugin: a library, or a script.
        library: PathBuf,
        #[command(flatten)]
        args: BenchArgs,
        /// Which learner, if the plugin has several.
        #[arg(long, value_name = "ID")]
        learner: Option<String>,
        /// Rows of a minibatch, the learner's parameter `batch`.
        #[arg(long, value_name = "B", default_value = "1024", value_parser = count)]
        batch: NonZeroUsize,
        /// Inducing points: the first rows of the inputs; 0 for learners without.
        #[arg(long, value_name = "M", default_value_t = 1024)]
        points: usize,
    },
}

/// A product to time.
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// Use the training inputs of this data set, split 0, with its published hyperparameters, or ones if none are
    /// published.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["n", "d"], required_unless_present = "n")]
    dataset: Option<String>,
    /// Draw this many rows of standard normal inputs; the length scale is then the square root of the number of
    /// inputs, and the other scales are 1.
    #[arg(long, value_name = "N", requires = "d", value_parser = count)]
    n: Option<NonZeroUsize>,
    /// Number of inputs to draw.
    #[arg(long = "d", value_name = "D", requires = "n", value_parser = count)]
    d: Option<NonZeroUsize>,
    /// Number of right-hand sides.
    #[arg(long, value_name = "S", default_value = "65", value_parser = count)]
    rhs: NonZeroUsize,
    /// Kernel family.
    #[arg(long, value_name = "FAMILY", default_value = Family::Matern32.as_str(), value_parser = families())]
    kernel: Family,
    /// Arithmetic of the products.
    #[arg(long, default_value = Arithmetic::F64.as_str(), value_parser = arithmetics())]
    precision: Arithmetic,
    /// Threads of the products, and of dgemm; all processors by default.
    #[arg(short = 't', long, value_name = "N", value_parser = count)]
    threads: Option<NonZeroUsize>,
    /// Time each product for this long, and at least five times.
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, allow_negative_numbers = true, value_parser = positive)]
    seconds: f64,
    /// Order of the square matrices that dgemm multiplies: large enough for its full speed.
    #[arg(long, value_name = "ORDER", default_value = "2048", value_parser = count)]
    dgemm_order: NonZeroUsize,
    /// Write inputs, right-hand sides and product into this folder, so that other programs can repeat the product.
    #[arg(long, value_name = "DIR")]
    arrays: Option<PathBuf>,
    /// Never download.
    #[arg(long)]
    offline: bool,
    #[command(flatten)]
    output: FormatArg,
}

fn families() -> impl TypedValueParser<Value = Family> {
    let values = Family::ALL.map(|family| PossibleValue::new(family.as_str()).help(family.formula()));
    PossibleValuesParser::new(values).try_map(|name| name.parse::<Family>())
}

fn arithmetics() -> impl TypedValueParser<Value = Arithmetic> {
    PossibleValuesParser::new(Arithmetic::ALL.map(Arithmetic::as_str)).map(|name| {
        let found = Arithmetic::ALL.into_iter().find(|arithmetic| arithmetic.as_str() == name);
        found.expect("clap accepts no other names")
    })
}

pub(crate) fn bench(global: &Global, verb: &Bench) -> Outcome {
    let (mut product, args) = match verb {
        Bench::All(args) => return all::all(global, args),
        Bench::Operator(args) => (Product::Operator, args),
        Bench::Gradient(args) => (Product::Gradient, args),
        Bench::Rows { args, rows } => (Product::Rows { block: rows.get() }, args),
        Bench::Factor(args) | Bench::Precondition { args, .. } if args.precision == Arithmetic::Mixed => {
            return Err(Failure::usage("--precision mixed: dense algebra is timed in both precisions"));
        }
        Bench::Factor(args) => (Product::Factor, args),
        Bench::Precondition { args, rank } => (Product::Precondition { rank: rank.get() }, args),
        Bench::Acquire { args, .. } if args.precision == Arithmetic::Mixed => {
            return Err(Failure::usage("--precision mixed: posterior samples are computed in f64"));
        }
        Bench::Acquire { features, .. } if features.get() % 2 == 1 => {
            return Err(Failure::usage("--features: features come in pairs of a sine and a cosine"));
        }
        Bench::Acquire { args, candidates, starts, features } => {
            let sizes =
                Acquire { candidates: candidates.get(), starts: starts.get(), features: features.get() };
            (Product::Acquire(sizes), args)
        }
        Bench::Tile(args) if args.kernel != Family::Matern32 => {
            return Err(Failure::usage("--kernel: the parts of a tile are those of matern32"));
        }
        Bench::Tile(args) => (Product::Tile, args),
        Bench::Learner { args, .. } if args.precision == Arithmetic::Mixed => {
            return Err(Failure::usage("--precision mixed: learners compute in f64"));
        }
        Bench::Learner { library, args, learner, batch, points } => {
            let step = LearnerStep {
                library: library.clone(),
                learner: learner_of(library, learner.as_deref())?,
                batch: batch.get(),
                points: *points,
            };
            (Product::Learner(step), args)
        }
    };
    let (inputs, kernel, size) = match (&args.dataset, args.n, args.d) {
        (Some(name), ..) => dataset(global, args, name)?,
        (None, Some(n), Some(d)) => {
            let (inputs, kernel) = drawn(args.kernel, n.get(), d.get());
            (inputs, kernel, [n.get(), d.get()])
        }
        _ => return Err(Failure::usage("give either --dataset, or --n and --d")),
    };
    if let Product::Rows { block: part } | Product::Precondition { rank: part } = &mut product {
        *part = (*part).min(size[0]);
    }
    let request = BenchRequest {
        schema: SCHEMA,
        product,
        inputs,
        kernel,
        rhs: args.rhs.get(),
        precision: args.precision,
        threads: args.threads.map_or_else(environment::processors, NonZeroUsize::get),
        seconds: args.seconds,
        dgemm_order: args.dgemm_order.get(),
        arrays: args.arrays.clone(),
    };
    size::require_memory(&request, size)?;
    listing::listing(&Worker::locate()?.bench(&request)?).print(args.output)?;
    Ok(OK)
}

/// The id of the requested learner, or of the only one.
fn learner_of(library: &Path, learner: Option<&str>) -> Result<String, Failure> {
    catalog::require_file(library)?;
    let described = Worker::locate()?.describe(std::slice::from_ref(&library.to_path_buf()))?.pop();
    let described = described.expect("one answer a file");
    let offers = catalog::usable(described)?.solvers;
    let learners: Vec<&str> = offers
        .iter()
        .filter(|offer| offer.kind == SolverKind::Learner)
        .map(|offer| offer.id.as_str())
        .collect();
    match (learner, &learners[..]) {
        (Some(learner), ids) if ids.contains(&learner) => Ok(learner.to_owned()),
        (None, [only]) => Ok((*only).to_owned()),
        (_, []) => Err(Failure::usage(format!(
            "{} offers no learner, whose steps are timed here; `gpbench run SPEC --library {}` times solvers",
            library.display(),
            library.display()
        ))),
        _ => {
            let text = format!(
                "--learner: name a learner of {}; it offers {}",
                library.display(),
                learners.join(", ")
            );
            Err(Failure::usage(text))
        }
    }
}

/// The training inputs of a registered set, with published hyperparameters if there are any; its rows and inputs.
fn dataset(
    global: &Global,
    args: &BenchArgs,
    name: &str,
) -> Result<(BenchInputs, Kernel, [usize; 2]), Failure> {
    let name = registry::find(name).map_err(Failure::usage)?.name.clone();
    let places = dataset::places(global)?;
    let source = Source::Registry { name: name.clone() };
    let copy = dataset::obtain(global, &places, &source, None, args.offline)
        .map_err(|unavailable| Failure::usage(unavailable.text))?;
    let published = gpbench_spec::published_kernel(&name, 0, args.kernel);
    let kernel = published.unwrap_or_else(|| ones(args.kernel, 1.0));
    let dataset = Dataset::new(name, source);
    Ok((BenchInputs::Dataset { dataset, file: copy.path }, kernel, [copy.n, copy.d]))
}
