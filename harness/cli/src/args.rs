//! The command line, as typed.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Benchmarks Gaussian-process solvers: one spec, every solver, nothing lost.
#[derive(Debug, Parser)]
#[command(name = "gpbench", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 all well; 1 a case failed; 2 wrong usage or spec; 3 regression; \
                        4 nothing to compare; 70 internal error; 130 and 143 interrupted. A run that a \
                        bound has ended early exits with 1.")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// Options of every verb.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    /// Folder that runs are written to.
    #[arg(long, global = true, value_name = "DIR", default_value = "reports")]
    pub(crate) output_dir: PathBuf,
    /// Folder that holds data sets; looked at before $GPBENCH_DATA and the cache.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// When to use colour; NO_COLOR is respected.
    #[arg(long, global = true, value_enum, default_value_t = When::Auto)]
    pub(crate) color: When,
    /// Say only what went wrong.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say more: what is begun, and every parameter of listed solvers.
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

/// When to do something that suits a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Form of a printed answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For reading.
    #[value(alias = "text")]
    Table,
    /// For programs.
    Json,
    /// For spreadsheets.
    Csv,
    /// For documents.
    Md,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Run a spec, or go on with it where it stopped.
    Run(Run),
    /// Show the cases of a spec, with estimated memory and time.
    Plan(Plan),
    /// List solvers, data sets, kernels or runs.
    List(List),
    /// Rebuild and print the report of a run.
    Report(Report),
    /// Put runs side by side, and judge the last against the first.
    Compare(Compare),
    /// Run a spec and compare its metrics with a baseline.
    Check(Check),
    /// List, fetch, verify and import data sets.
    #[command(subcommand)]
    Data(Data),
    /// Write a new plugin, or look at plugin libraries and test them.
    #[command(subcommand)]
    Plugin(Plugin),
    /// Time products with the kernel operator beside dgemm.
    #[command(subcommand)]
    Bench(Bench),
    /// Show what this machine and this installation offer.
    Doctor(Doctor),
    /// Remove what was cached: exact references and binary copies, or everything.
    Clean(Clean),
    /// Print a completion script for a shell.
    Completions(Completions),
}

/// A spec, and what changes it.
#[derive(Debug, Clone, Args)]
pub(crate) struct SpecArgs {
    /// The spec.
    pub(crate) spec: PathBuf,
    /// Override a key of the spec, such as `budget.tolerance=0.1`; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) sets: Vec<String>,
    /// Put the solvers of this plugin library beside the spec's, with default parameters; an entry of the
    /// spec that means one of them takes it from this library. May be repeated.
    #[arg(long = "library", value_name = "FILE")]
    pub(crate) libraries: Vec<PathBuf>,
    /// Only these solvers, as named in the spec.
    #[arg(short = 's', long = "solver", value_name = "NAME", value_delimiter = ',')]
    pub(crate) solvers: Vec<String>,
    /// Only these data sets, as named in the spec.
    #[arg(short = 'd', long = "dataset", value_name = "NAME", value_delimiter = ',')]
    pub(crate) datasets: Vec<String>,
    /// Skip data sets that are not to be had instead of refusing to start.
    #[arg(long)]
    pub(crate) skip_missing: bool,
    /// Never download.
    #[arg(long)]
    pub(crate) offline: bool,
    /// Threads a case may use; all processors by default.
    #[arg(short = 't', long, value_name = "N", value_parser = count)]
    pub(crate) threads: Option<NonZeroUsize>,
}

/// How to run.
#[derive(Debug, Clone, Args)]
pub(crate) struct RunArgs {
    /// Start a new run folder even if one could be gone on with.
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Run failed cases again.
    #[arg(long)]
    pub(crate) retry_failed: bool,
    /// Cases at the same time; the processors are divided among them.
    #[arg(short = 'j', long, value_name = "N", default_value_t = NonZeroUsize::MIN, value_parser = count)]
    pub(crate) jobs: NonZeroUsize,
    /// Kill a case without a time budget after this many seconds.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = positive)]
    pub(crate) kill_after: Option<f64>,
    /// Kill a case after this much processor time of all its threads and children, such as `90s` or `2h`.
    #[arg(long, value_name = "TIME", value_parser = gpbench_spec::parse_time)]
    pub(crate) cpu_limit: Option<f64>,
    /// Kill a case without a memory budget when it uses more than this, such as `8GiB`.
    #[arg(long, value_name = "SIZE", value_parser = gpbench_spec::parse_memory)]
    pub(crate) memory_limit: Option<u64>,
    /// Begin no further case after this many failures.
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) max_failures: Option<NonZeroUsize>,
    /// Begin no further case after the first failure.
    #[arg(long, conflicts_with = "max_failures")]
    pub(crate) fail_fast: bool,
    /// End the run after this much time, such as `8h`; the case that runs then is run again later.
    #[arg(long, value_name = "TIME", value_parser = gpbench_spec::parse_time)]
    pub(crate) time_limit: Option<f64>,
    /// Compute exact references for up to this many training rows.
    #[arg(long, value_name = "ROWS", default_value_t = 20_000)]
    pub(crate) exact_limit: usize,
}

fn count(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "a whole number, at least 1, is needed".to_owned())
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err("a positive number is needed".to_owned()),
    }
}

/// `gpbench run`.
#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) spec: SpecArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// `gpbench plan`.
#[derive(Debug, Args)]
pub(crate) struct Plan {
    #[command(flatten)]
    pub(crate) spec: SpecArgs,
    /// Form of the answer.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// What `gpbench list` lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listed {
    /// Solvers of all plugins found.
    Solvers,
    /// Data sets of the registry, and built-in ones.
    Datasets,
    /// Kernel families.
    Kernels,
    /// Runs under the output folder.
    Runs,
}

/// `gpbench list`.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// What to list.
    #[arg(value_enum, default_value_t = Listed::Solvers)]
    pub(crate) what: Listed,
    /// Form of the answer.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// `gpbench report`.
#[derive(Debug, Args)]
pub(crate) struct Report {
    /// A run folder, the name of a spec (its latest run), or `latest`.
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// Form of what is printed; the run folder's files are rebuilt in any case.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// `gpbench compare`.
#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// Two or more runs: folders, names of specs, or `latest`. The last is judged against the first.
    #[arg(required = true, num_args = 1..)]
    pub(crate) runs: Vec<String>,
    /// Judge one run against a baseline file instead.
    #[arg(long, value_name = "FILE", conflicts_with = "between")]
    pub(crate) baseline: Option<PathBuf>,
    /// Judge the second of two solvers of one run against the first.
    #[arg(long, value_name = "OLD,NEW", value_delimiter = ',', num_args = 1)]
    pub(crate) between: Vec<String>,
    /// Only these solvers.
    #[arg(short = 's', long = "solver", value_name = "NAME", value_delimiter = ',')]
    pub(crate) solvers: Vec<String>,
    /// Only these data sets.
    #[arg(short = 'd', long = "dataset", value_name = "NAME", value_delimiter = ',')]
    pub(crate) datasets: Vec<String>,
    #[command(flatten)]
    pub(crate) page: StepSummary,
    /// Form of the answer.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// Where a CI job shows the outcome.
#[derive(Debug, Args)]
pub(crate) struct StepSummary {
    /// Append the outcome to the job's page: the Markdown file that $GITHUB_STEP_SUMMARY names.
    #[arg(long = "step-summary")]
    pub(crate) wanted: bool,
}

/// `gpbench check`.
#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) spec: SpecArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// The baseline, a file or the folder of an earlier run; by default `baselines/<name>.toml` beside the spec.
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Write this run's metrics as the new baseline, all of it.
    #[arg(long, conflicts_with_all = ["solvers", "datasets", "libraries"])]
    pub(crate) update: bool,
    #[command(flatten)]
    pub(crate) page: StepSummary,
    /// Form of the answer.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// `gpbench data`.
#[derive(Debug, Subcommand)]
pub(crate) enum Data {
    /// List the registry: sizes, repeated rows, and where each set was found.
    List {
        /// Form of the answer.
        #[arg(long, value_enum, default_value_t = Format::Table)]
        format: Format,
    },
    /// Download data sets into the cache.
    Fetch {
        /// Data sets of the registry.
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Check data sets against their checksums; all that are found by default.
    Verify {
        /// Data sets of the registry.
        names: Vec<String>,
    },
    /// Read a CSV or Parquet file with every check, and say what is in it.
    Import {
        /// The file.
        file: PathBuf,
        /// Target column: a name or a 0-based index; the last column by default.
        #[arg(long)]
        target: Option<String>,
    },
}

/// Languages that `gpbench plugin new` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    /// Rust, through the SDK.
    Rust,
    /// C99.
    C,
    /// Fortran 2018.
    Fortran,
}

/// `gpbench plugin`.
#[derive(Debug, Subcommand)]
pub(crate) enum Plugin {
    /// Write a complete small solver to start from, which builds, passes `plugin test` and runs.
    New {
        /// Name of the plugin and of its solver: lower-case letters, digits and hyphens.
        name: String,
        /// Language to write it in.
        #[arg(long, value_enum, default_value_t = Language::Rust)]
        lang: Language,
        /// Folder to write, which must not exist; NAME in the current folder by default.
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
        /// The folder `harness/sdk` of a checkout of gpbench, for Rust; by default looked for upwards from
        /// the current folder and from this program.
        #[arg(long, value_name = "DIR")]
        sdk: Option<PathBuf>,
    },
    /// Print what a library offers.
    Inspect {
        /// The library.
        file: PathBuf,
        /// Form of the answer.
        #[arg(long, value_enum, default_value_t = Format::Table)]
        format: Format,
    },
    /// Try every solver of a library by the conformance suite: outcomes, never speeds.
    Test(PluginTest),
}

/// `gpbench plugin test`.
#[derive(Debug, Args)]
pub(crate) struct PluginTest {
    /// The library.
    pub(crate) file: PathBuf,
    /// Only this solver.
    #[arg(short = 's', long, value_name = "ID")]
    pub(crate) solver: Option<String>,
    /// Seconds that a check may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = positive)]
    pub(crate) limit: f64,
    /// Form of the answer.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// `gpbench bench`.
#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    /// The product with all of the kernel matrix.
    Operator(BenchArgs),
    /// The derivatives by every hyperparameter of the inner product of two blocks of right-hand sides, in one
    /// pass.
    Gradient(BenchArgs),
    /// The product with a block of rows, forward and back, and that with a block of twice as many columns.
    Rows {
        #[command(flatten)]
        args: BenchArgs,
        /// Rows of the block; at most all are taken.
        #[arg(long, value_name = "B", default_value = "500", value_parser = count)]
        rows: NonZeroUsize,
    },
}

/// A product to time.
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// Take the inputs of the training rows of this data set, split 0, with its published hyperparameters if
    /// there are any, else ones.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["n", "d"], required_unless_present = "n")]
    pub(crate) dataset: Option<String>,
    /// Draw this many rows of standard normal inputs; the length scale is then the root of their number,
    /// the other scales are 1.
    #[arg(long, value_name = "N", requires = "d", value_parser = count)]
    pub(crate) n: Option<NonZeroUsize>,
    /// Inputs to draw.
    #[arg(long = "d", value_name = "D", requires = "n", value_parser = count)]
    pub(crate) d: Option<NonZeroUsize>,
    /// Right-hand sides.
    #[arg(long, value_name = "S", default_value = "65", value_parser = count)]
    pub(crate) rhs: NonZeroUsize,
    /// Kernel family.
    #[arg(long, value_enum, default_value_t = Family::Matern32)]
    pub(crate) kernel: Family,
    /// Arithmetic of the products.
    #[arg(long, value_enum, default_value_t = Arithmetic::F64)]
    pub(crate) precision: Arithmetic,
    /// Threads of the products, and of dgemm; all processors by default.
    #[arg(short = 't', long, value_name = "N", value_parser = count)]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Spend this long on each product, or five runs if that takes longer.
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, allow_negative_numbers = true, value_parser = positive)]
    pub(crate) seconds: f64,
    /// Order of the square matrices that dgemm multiplies beside it: large enough for its full speed.
    #[arg(long, value_name = "ORDER", default_value = "2048", value_parser = count)]
    pub(crate) dgemm_order: NonZeroUsize,
    /// Write inputs, right-hand sides and product into this folder, for other programs to try the same.
    #[arg(long, value_name = "DIR")]
    pub(crate) arrays: Option<PathBuf>,
    /// Never download.
    #[arg(long)]
    pub(crate) offline: bool,
    /// Form of the answer.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// Kernel families.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Family {
    /// Squared exponential.
    Rbf,
    /// Matérn with smoothness 1/2.
    Matern12,
    /// Matérn with smoothness 3/2.
    Matern32,
    /// Matérn with smoothness 5/2.
    Matern52,
}

impl Family {
    /// The name used in specs.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Family::Rbf => "rbf",
            Family::Matern12 => "matern12",
            Family::Matern32 => "matern32",
            Family::Matern52 => "matern52",
        }
    }
}

/// Arithmetic of kernel products.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Arithmetic {
    /// Double precision throughout.
    F64,
    /// Entries and sums inside a tile in single precision, sums over tiles in double.
    Mixed,
}

/// `gpbench doctor`.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Form of the answer.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// `gpbench clean`.
#[derive(Debug, Args)]
pub(crate) struct Clean {
    /// Remove downloaded data sets too.
    #[arg(long)]
    pub(crate) downloads: bool,
    /// Say what would be removed, and remove nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// `gpbench completions`.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell.
    pub(crate) shell: clap_complete::Shell,
}
