//! `gpbench schema`: the keys of a spec, for editors and for readers.

use clap::{Args, ValueEnum};

use crate::exit::{OK, Outcome};
use crate::output;

/// `gpbench schema`.
#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// Form of the output.
    #[arg(long, value_enum, default_value_t = Form::Json)]
    format: Form,
}

/// A form of the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// A JSON Schema.
    Json,
    /// A page in Markdown.
    Md,
}

pub(crate) fn schema(args: &Schema) -> Outcome {
    match args.format {
        Form::Json => {
            let schema = serde_json::to_string_pretty(&gpbench_spec::json_schema());
            output::print(&schema.expect("plain data serialises"))?;
        }
        Form::Md => output::print(&gpbench_spec::reference_page())?,
    }
    Ok(OK)
}
