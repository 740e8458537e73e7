//! Charts as PDF, for papers: converted by the program of librsvg, so that text stays text and fonts are embedded.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gpbench_runs::ReportFolder;

use crate::exit::Failure;
use crate::runs::failure;

/// The program of librsvg.
const CONVERTER: &str = "rsvg-convert";

/// Writes each chart as PDF beside its SVG; the paths of the PDF files.
pub(crate) fn write(charts: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut written = Vec::new();
    for chart in charts {
        let folder = ReportFolder::open(chart.parent().unwrap_or(Path::new("."))).map_err(failure)?;
        let mut convert = Command::new(CONVERTER);
        convert.args(["--format", "pdf"]).arg(chart);
        let ended = convert.stdin(Stdio::null()).output().map_err(|error| match error.kind() {
            ErrorKind::NotFound => Failure::usage(format!(
                "`--pdf` needs the program {CONVERTER}; install it (Debian: librsvg2-bin)"
            )),
            _ => Failure::internal(format!("{CONVERTER}: {error}")),
        })?;
        if !ended.status.success() {
            let why = String::from_utf8_lossy(&ended.stderr);
            let why = why.lines().next().unwrap_or("it does not say why");
            return Err(Failure::internal(format!("{CONVERTER} cannot convert {}: {why}", chart.display())));
        }
        // Written here, since the program would follow a link.
        let name = chart.with_extension("pdf");
        let name = name.file_name().unwrap_or_default().to_string_lossy();
        written.push(folder.write(&name, |file| file.write_all(&ended.stdout)).map_err(failure)?);
    }
    Ok(written)
}
