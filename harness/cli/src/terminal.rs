//! The width of the terminal.

use console::Term;

/// Columns of the terminal on standard output; `None` where it is no terminal.
pub(crate) fn output_width() -> Option<usize> {
    width(&Term::stdout())
}

/// Columns of the terminal on standard error; `None` where it is no terminal.
pub(crate) fn error_width() -> Option<usize> {
    width(&Term::stderr())
}

fn width(terminal: &Term) -> Option<usize> {
    if !terminal.is_term() {
        return None;
    }
    let window = terminal.size_checked().map(|(_, columns)| usize::from(columns));
    narrower(window, std::env::var("COLUMNS").ok())
}

/// The narrower of the window and what COLUMNS says. A width of 0 is one that is not known.
fn narrower(window: Option<usize>, columns: Option<String>) -> Option<usize> {
    let stated = columns.and_then(|columns| columns.parse().ok());
    window.into_iter().chain(stated).filter(|width| *width > 0).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_narrower_width_counts() {
        let stated = |columns: &str| Some(columns.to_owned());
        assert_eq!(narrower(Some(80), None), Some(80));
        assert_eq!(narrower(Some(80), stated("60")), Some(60));
        assert_eq!(narrower(Some(80), stated("200")), Some(80));
        assert_eq!(narrower(None, stated("60")), Some(60));
        assert_eq!(narrower(Some(0), stated("wide")), None);
    }
}
