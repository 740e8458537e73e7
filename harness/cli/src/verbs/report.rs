//! `gpbench report`: prints a run's results and rebuilds its report.

use clap::Args;

use crate::args::{Format, FormatArg, Global};
use crate::exit::{OK, Outcome};
use crate::notice::{say, warn};
use crate::{output, pdf, runs};

/// `gpbench report`.
#[derive(Debug, Args)]
pub(crate) struct Report {
    /// A run folder, the name of a spec (its latest run), or `latest`.
    #[arg(default_value = "latest")]
    run: String,
    /// Write the charts as PDF too, beside the SVG files; needs the program rsvg-convert.
    #[arg(long)]
    pdf: bool,
    #[command(flatten)]
    output: FormatArg,
}

pub(crate) fn report(global: &Global, args: &Report) -> Outcome {
    let run = runs::open(global, &args.run)?;
    // The files are rebuilt whether or not the results can be printed.
    let frame = runs::frame(&run)?;
    let printed = runs::print(&frame, args.output);
    match runs::write_report(&frame) {
        Ok(written) => {
            if args.pdf {
                pdf::write(&written.figures)?;
            }
            if !global.quiet && args.output.format == Format::Table {
                say(format_args!("\nreport: {}", written.html.display()));
            }
        }
        // There is no result then.
        Err(failure) if output::is_closed() => return Err(failure),
        // A run can be read where nothing can be written.
        Err(failure) => {
            warn(global, format!("the report in the run folder was not rebuilt: {}", failure.text))
        }
    }
    printed.map(|()| OK)
}
