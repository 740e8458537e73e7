//! Arguments that several verbs share, and parsers of their values.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use gpbench_engine::Reuse;
use gpbench_record::metric::{self, Metric};
use gpbench_record::{Shard, matches, selects};
use gpbench_report::{ChartForm, PaperWidth};

use crate::{shipped, terminal};

/// Folder that runs are written to, unless the user names another.
pub(crate) const DEFAULT_OUTPUT_DIR: &str = "reports";

/// Options of many verbs; `options` lists the verbs of each.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    /// Folder that runs are written to.
    #[arg(long, global = true, value_name = "DIR", default_value = DEFAULT_OUTPUT_DIR)]
    pub(crate) output_dir: PathBuf,
    /// Folder that holds data sets; searched before $GPBENCH_DATA and the cache.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// When to use colour; NO_COLOR is respected.
    #[arg(long, global = true, value_enum, default_value_t = When::Auto)]
    pub(crate) color: When,
    /// Print warnings and errors only.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print more: cases as they start, and every parameter of listed solvers and learners.
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

/// When to use a feature of terminals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Format of printed output.
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
    /// For Bencher (bencher.dev): the measures of a run, of `report`, `check` and `compare` alone.
    Bmf,
    /// For papers: tables with booktabs and siunitx.
    Latex,
}

/// `--format` and `--wide`.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct FormatArg {
    /// Format of the output.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) wide: Wide,
}

impl From<Format> for FormatArg {
    /// A format, with all columns.
    fn from(format: Format) -> FormatArg {
        FormatArg { format, wide: Wide { wide: true } }
    }
}

/// `--wide`.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Wide {
    /// Print all columns of tables, also those that a narrow terminal has no room for.
    #[arg(long)]
    wide: bool,
}

impl Wide {
    /// The columns of the terminal that tables have to fit into, if there is a limit.
    pub(crate) fn width(self) -> Option<usize> {
        if self.wide { None } else { terminal::output_width() }
    }

    /// Whether `--wide` is given.
    pub(crate) fn is_wide(self) -> bool {
        self.wide
    }
}

/// `--figure-width` and `--no-titles`.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ChartArgs {
    /// Draw the charts for a paper, so wide: a number and a unit (in, cm, mm or pt), such as 3.25in. Letters have about
    /// 8 points there.
    #[arg(long, value_name = "WIDTH", value_parser = width)]
    figure_width: Option<PaperWidth>,
    /// Draw the charts without titles, which captions have in a paper.
    #[arg(long)]
    no_titles: bool,
}

impl ChartArgs {
    /// The form of the charts, if it is not that of a page.
    pub(crate) fn form(self) -> Option<ChartForm> {
        let form = ChartForm { width: self.figure_width, titles: !self.no_titles };
        (form != ChartForm::default()).then_some(form)
    }
}

/// Parses a width on paper.
fn width(text: &str) -> Result<PaperWidth, String> {
    text.parse()
}

/// Finds a metric by its name.
pub(crate) fn metric_named(name: &str) -> Result<&'static Metric, String> {
    metric::find(name).ok_or_else(|| "there is no such metric; `gpbench list metrics` shows all".to_owned())
}

/// A choice among cases.
#[derive(Debug, Clone, Args)]
pub(crate) struct Filter {
    /// Only these solvers or learners, by their names in the spec or by patterns such as `cg*`. The name of a grid chooses
    /// all of its points.
    #[arg(short = 's', long = "solver", value_name = "NAME", value_delimiter = ',')]
    pub(crate) solvers: Vec<String>,
    /// Only these data sets, by their names in the spec or by patterns.
    #[arg(short = 'd', long = "dataset", value_name = "NAME", value_delimiter = ',')]
    pub(crate) datasets: Vec<String>,
}

impl Filter {
    /// Whether the cases of a solver on a data set are chosen. An empty list chooses all; the name of a grid, all of its
    /// points.
    pub(crate) fn includes(&self, solver: &str, dataset: &str) -> bool {
        let is_solver = self.solvers.is_empty() || self.solvers().iter().any(|name| selects(name, solver));
        is_solver && self.includes_dataset(dataset)
    }

    /// Whether cases on a data set are chosen. An empty list chooses all.
    pub(crate) fn includes_dataset(&self, dataset: &str) -> bool {
        self.datasets.is_empty() || self.datasets.iter().any(|typed| matches(typed, dataset))
    }

    /// The names of solvers and learners that were typed.
    pub(crate) fn solvers(&self) -> Vec<String> {
        solver_names(&self.solvers)
    }
}

/// Names on the solver axis, from a list that was split at its commas. The name of a point of several grids has commas of
/// its own: `scgd@average=0.9,learning_rate=0.3`.
pub(crate) fn solver_names(split: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for part in split {
        let is_value = part.contains('=') && !part.contains('@');
        match names.last_mut().filter(|last| is_value && last.contains('@')) {
            Some(last) => *last += &format!(",{part}"),
            None => names.push(part.clone()),
        }
    }
    names
}

/// A spec, and changes to it.
#[derive(Debug, Clone, Args)]
pub(crate) struct SpecArgs {
    /// The spec, a TOML file; `-` reads it from standard input, and paths in it are then relative to the current folder. Specs that
    /// come with gpbench are found in every folder, as `benchmarks/quickstart.toml`.
    #[arg(value_parser = PathBufValueParser::new().map(shipped::spec))]
    pub(crate) spec: PathBuf,
    /// Override a key of the spec, such as `budget.tolerance=0.1`; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) sets: Vec<String>,
    /// Add the solvers of this plugin library, or its learners under task `learn`, with default parameters; an entry of
    /// the spec that names one of them uses this library. May be repeated.
    #[arg(long = "library", value_name = "FILE")]
    pub(crate) libraries: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) filter: Filter,
    /// Skip unavailable data sets instead of refusing to start.
    #[arg(long)]
    pub(crate) skip_missing: bool,
    /// Threads of the whole run; all processors by default.
    #[arg(short = 't', long, value_name = "N", value_parser = count)]
    pub(crate) threads: Option<NonZeroUsize>,
}

/// `--shard`.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ShardArg {
    /// Only one part of the plan, such as `3/16`, in a run of its own; `gpbench merge` unites the parts. All cases of a data
    /// set, kernel, estimator and seed are in one part.
    #[arg(long, value_name = "NUMBER/COUNT")]
    pub(crate) shard: Option<Shard>,
}

/// Where cases run.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExecutorArgs {
    /// Where cases run: on this computer, or as jobs of Slurm on others. `--set slurm.KEY=VALUE` changes a setting of the
    /// cluster.
    #[arg(long, value_enum, default_value_t = ExecutorArg::Local)]
    pub(crate) executor: ExecutorArg,
    /// Return once all jobs are sent; `gpbench watch` goes on with them.
    #[arg(long)]
    pub(crate) detach: bool,
    /// Settings of the cluster; by default `gpbench/cluster.toml` in the folder of the user's settings.
    #[arg(long, value_name = "FILE")]
    pub(crate) cluster: Option<PathBuf>,
}

/// `--executor`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExecutorArg {
    /// On this computer.
    Local,
    /// As jobs of Slurm.
    Slurm,
}

/// What a run takes from earlier ones.
#[derive(Debug, Clone, Args)]
pub(crate) struct Continuation {
    /// Start a new run folder even if there is one to continue, and run every case.
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Which finished cases of earlier runs are re-used instead of run: those of the same environment, or any, whose
    /// seconds may then be of another machine.
    #[arg(long, value_enum, default_value_t = ReuseArg::Same, conflicts_with = "fresh")]
    pub(crate) reuse: ReuseArg,
    /// Run failed cases again.
    #[arg(long)]
    pub(crate) retry_failed: bool,
}

/// How to run a spec.
#[derive(Debug, Clone, Args)]
pub(crate) struct RunArgs {
    /// Never download.
    #[arg(long)]
    pub(crate) offline: bool,
    /// Number of cases that run at the same time; they share the threads.
    #[arg(short = 'j', long, value_name = "N", default_value_t = NonZeroUsize::MIN, value_parser = count)]
    pub(crate) jobs: NonZeroUsize,
    /// Kill a case without a time budget after this many seconds; by default after a day.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = positive)]
    pub(crate) kill_after: Option<f64>,
    /// Kill a case after this much processor time of all its threads and child processes, such as `90s` or `2h`.
    #[arg(long, value_name = "TIME", value_parser = gpbench_spec::parse_time)]
    pub(crate) cpu_limit: Option<f64>,
    /// Kill a case without a memory budget when it uses more than this, such as `8GiB`.
    #[arg(long, value_name = "SIZE", value_parser = gpbench_spec::parse_memory)]
    pub(crate) memory_limit: Option<u64>,
    /// Start no more cases after this many failures.
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) max_failures: Option<NonZeroUsize>,
    /// Start no more cases after the first failure.
    #[arg(long, conflicts_with = "max_failures")]
    pub(crate) fail_fast: bool,
    /// End the run after this much time, such as `8h`; a case that is running then runs again when the run
    /// continues.
    #[arg(long, value_name = "TIME", value_parser = gpbench_spec::parse_time)]
    pub(crate) time_limit: Option<f64>,
    /// Compute exact references for at most this many training rows.
    #[arg(long, value_name = "ROWS", default_value_t = 20_000)]
    pub(crate) exact_limit: usize,
    /// Keep the solutions of this many cases in the run folder, chosen by their ids, so that `gpbench pack --solutions` can
    /// pass them to others, who verify them. On a cluster, nodes write them there.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) keep_solutions: usize,
}

/// `--reuse`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReuseArg {
    /// Those that ran in the same environment.
    Same,
    /// All.
    Any,
}

impl Continuation {
    /// Takes nothing.
    pub(crate) const NONE: Continuation =
        Continuation { fresh: true, reuse: ReuseArg::Same, retry_failed: false };

    /// Which finished cases are re-used.
    pub(crate) fn reuse(&self) -> Reuse {
        match self.reuse {
            ReuseArg::Same => Reuse::Same,
            ReuseArg::Any => Reuse::Any,
        }
    }
}

/// Parses a whole number, at least 1.
pub(crate) fn count(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "expected a whole number, at least 1".to_owned())
}

/// Parses a positive number.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err("expected a positive number".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_points_name_keeps_its_commas() {
        let names = |list: &str| solver_names(&list.split(',').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(names("cg,ap"), ["cg", "ap"]);
        assert_eq!(names("cg,scgd@average=0.9,lr=0.3,ap"), ["cg", "scgd@average=0.9,lr=0.3", "ap"]);
        assert_eq!(names("a@lr=1,b@lr=1"), ["a@lr=1", "b@lr=1"]);
    }

    #[test]
    fn a_grids_name_chooses_its_points() {
        let filter = Filter { solvers: vec!["scgd".to_owned()], datasets: Vec::new() };
        assert!(filter.includes("scgd", "pol") && filter.includes("scgd@lr=0.3", "pol"));
        assert!(!filter.includes("scgd-32@lr=0.3", "pol") && !filter.includes("sc", "pol"));
        let filter = Filter { solvers: vec!["sc*".to_owned()], datasets: vec!["p?l".to_owned()] };
        assert!(filter.includes("scgd-32@lr=0.3", "pol") && !filter.includes("cg", "pol"));
        assert!(!filter.includes("scgd", "bike"));
    }
}
