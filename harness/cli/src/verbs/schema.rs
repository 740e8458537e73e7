//! `gpbench schema`: the keys of a spec and the columns of results, for editors and for readers.

use clap::{Args, ValueEnum};

use super::list;
use crate::args::{Format, FormatArg};
use crate::exit::{OK, Outcome};
use crate::output;

/// `gpbench schema`.
#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// What to describe.
    #[arg(value_enum, default_value_t = Described::Spec)]
    what: Described,
    /// Form of the output.
    #[arg(long, value_enum, default_value_t = Form::Json)]
    format: Form,
}

/// The subjects of `gpbench schema`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Described {
    /// The keys of a spec.
    Spec,
    /// The columns of `results.parquet`, `traces.parquet`, `steps.parquet` and `predictions.parquet`.
    Results,
}

/// A form of the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// A JSON Schema of specs; the list of the columns of `results.parquet`.
    Json,
    /// A page in Markdown.
    Md,
}

pub(crate) fn schema(args: &Schema) -> Outcome {
    match (args.what, args.format) {
        (Described::Spec, Form::Json) => {
            let schema = serde_json::to_string_pretty(&gpbench_spec::json_schema());
            output::print(&schema.expect("plain data serialises"))?;
        }
        (Described::Spec, Form::Md) => output::print(&gpbench_spec::reference_page())?,
        (Described::Results, Form::Json) => return list::metrics(FormatArg::from(Format::Json)),
        (Described::Results, Form::Md) => output::print(&gpbench_report::reading_page())?,
    }
    Ok(OK)
}
