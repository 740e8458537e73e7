//! Gains over random search beside published ones (Lin et al. 2023, Figure 6).

use plotters::style::RGBColor;

use super::curve::Curve;
use super::figure::{Drawn, Figure, series};
use super::legend::Entry;
use super::panel::{Line, Panel};
use super::scale::Axis;
use super::search::curve;
use super::series::{Look, Series};
use crate::published_search::{Gains, Searches, plugin};
use crate::reference::Reference;
use crate::results::Results;
use crate::search::{Measure, Search};
use crate::search_pool::Pool;

/// Height of the sheet.
const HEIGHT: u32 = 430;

/// Our gains along the steps, and the published ones of the same methods; none where the run has no such reference.
pub(crate) fn figure(results: &Results<'_>, pool: &Pool<'_>) -> Drawn {
    let reference = results.cases.options().reference.as_deref().and_then(Reference::named);
    let published = reference.as_ref().and_then(Searches::of).filter(|_| pool.measure == Measure::Best);
    let Some(published) = published else { return Ok(None) };
    let shared = pool.shared();
    let ours: Vec<Line> = shared.solvers.iter().filter_map(|solver| line(results, &shared, solver)).collect();
    let plugins: Vec<&str> = shared.solvers.iter().map(|solver| plugin(results, solver)).collect();
    let theirs: Vec<Line> = published
        .gains(&plugins)
        .into_iter()
        .enumerate()
        .map(|(i, gains)| {
            let place = plugins.iter().position(|plugin| *plugin == gains.plugin).unwrap_or_default();
            let Look { colour, .. } = series(results, shared.solvers[place]).look;
            let marker = Look::nth(results.cases.solvers().len() + 1 + i).marker;
            published_line(gains, Look { colour: light(colour), marker })
        })
        .collect();
    if ours.is_empty() || theirs.is_empty() {
        return Ok(None);
    }
    let entry = |line: &Line| Entry::Series(line.series.clone());
    let entries: Vec<Entry> = ours.iter().chain(&theirs).map(entry).collect();
    // What is published lies behind ours.
    let lines: Vec<Line> = theirs.into_iter().chain(ours).collect();
    let axis = |label: &str| Axis { label: label.to_owned(), log: false };
    let panel = Panel {
        x: axis("share of the steps"),
        y: axis("gain over random search"),
        lines,
        ..Panel::default()
    };
    let title = if pool.title.is_empty() { String::new() } else { format!(": {}", pool.title) };
    let title = format!("Gains over random search, ours and published{title}");
    let svg = results.form.panels(&title, &entries, &[panel], 1, HEIGHT)?;
    let caption = "The largest value less that of random search with as many points, mean over the objectives that all \
                   solvers shown have searched; bands: one standard error. Dashed, in a light colour of the same method here: \
                   Lin et al. 2023, mean over length scales 0.1 to 0.5, with the budgets of the paper (SDD: their later \
                   code). Sizes, objectives and budgets differ; order and size of the gains are comparable.";
    Ok(Some(Figure::new("gains", &pool.title, title, caption, svg)))
}

/// A colour halfway to white.
fn light(RGBColor(red, green, blue): RGBColor) -> RGBColor {
    let [red, green, blue] = [red, green, blue].map(|part| part / 2 + 128);
    RGBColor(red, green, blue)
}

/// The gain of a solver of ours along its share of the steps.
fn line(results: &Results<'_>, pool: &Pool<'_>, solver: &str) -> Option<Line> {
    let searches: Vec<&Search> = pool.of(solver).collect();
    let most = searches.iter().map(|search| search.end().points).fold(0.0, f64::max);
    let curve = curve(&searches, false, |stop| stop.points / most, Search::gain)?;
    Some(Line { series: series(results, solver), curve, dashed: false })
}

fn published_line(Gains { name, path, .. }: Gains, look: Look) -> Line {
    let mut curve = Curve::default();
    path.into_iter().for_each(|(share, gain)| curve.push(share, gain, (gain, gain)));
    Line { series: Series::new(&name, look), curve, dashed: true }
}
