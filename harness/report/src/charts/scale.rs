//! An axis: its range and its labels.

use std::ops::Range;

use gpbench_record::metric::{Metric, Unit};
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

/// Kind and title of an axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Axis {
    pub(super) label: String,
    pub(super) log: bool,
}

impl Axis {
    /// The axis of a metric: logarithmic unless its values may have either sign.
    pub(super) fn of(metric: &Metric) -> Axis {
        Axis { label: metric.axis.to_owned(), log: metric.unit != Unit::Nats }
    }
}

/// An axis fitted to values. It takes logarithms itself, so that the drawing library sees linear axes only.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scale {
    log: bool,
    /// Ends of the axis, in its own coordinate: the logarithm to base 10 where `log`.
    pub(super) lo: f64,
    pub(super) hi: f64,
    /// Labels, with their places in the axis's own coordinate.
    pub(super) ticks: Vec<(f64, String)>,
}

impl Scale {
    /// The scale that shows all of `values` (on a logarithmic axis: all positive ones).
    pub(super) fn fit(values: impl Iterator<Item = f64>, log: bool) -> Scale {
        let mapped = values.filter(|v| v.is_finite() && (!log || *v > 1e-290));
        let mapped: Vec<f64> = mapped.map(|v| if log { v.log10() } else { v }).collect();
        let lo = mapped.iter().copied().fold(f64::INFINITY, f64::min);
        let hi = mapped.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (lo, hi) = match lo <= hi {
            true => (lo, hi),
            false => (0.0, 1.0),
        };
        // On a very short axis, noise would look like a difference.
        let missing = (shortest(lo, log) - (hi - lo)).max(0.0);
        let (lo, hi) = (lo - missing / 2.0, hi + missing / 2.0);
        let pad = 0.05 * (hi - lo);
        // A linear axis that begins near 0 begins at 0.
        let lo = if !log && lo >= 0.0 && lo < 0.25 * hi { 0.0 } else { lo - pad };
        Scale::over(lo, hi + pad, log)
    }

    /// The scale between two ends, given in the axis's own coordinate.
    pub(super) fn over(lo: f64, hi: f64, log: bool) -> Scale {
        let ticks = if log { log_ticks(lo, hi) } else { linear_ticks(lo, hi) };
        Scale { log, lo, hi, ticks }
    }

    /// The linear scale of 1, 2 and so on, with a name at each.
    pub(super) fn named(names: &[String]) -> Scale {
        let ticks = names.iter().enumerate().map(|(i, name)| (i as f64 + 1.0, name.clone())).collect();
        Scale { log: false, lo: 0.5, hi: names.len() as f64 + 0.5, ticks }
    }

    /// This scale with labels at these values alone.
    pub(super) fn labelled(mut self, values: &[f64]) -> Scale {
        self.ticks = values.iter().map(|v| (self.place(*v), plain_label(*v))).collect();
        self
    }

    /// This scale with as many of its labels, at even distances, as an axis of so many pixels has room for; `extent` is
    /// what a label takes along the axis.
    pub(super) fn thinned(mut self, pixels: i32, extent: impl Fn(&str) -> i32) -> Scale {
        let per_pixel = (self.hi - self.lo) / f64::from(pixels.max(1));
        let fits = |pair: &[&(f64, String)]| {
            let needed = 0.5 * f64::from(extent(&pair[0].1) + extent(&pair[1].1));
            (pair[1].0 - pair[0].0).abs() >= needed * per_pixel
        };
        // A label that stays in any case: zero, or a power of ten.
        let is_round =
            |place: f64| if self.log { (place - place.round()).abs() < 1e-9 } else { place == 0.0 };
        let anchor = self.ticks.iter().position(|tick| is_round(tick.0)).unwrap_or(0);
        let every = |stride: usize| {
            let ticks = self.ticks.iter().enumerate();
            ticks
                .filter(move |(i, _)| i % stride == anchor % stride)
                .map(|(_, tick)| tick)
                .collect::<Vec<_>>()
        };
        let strides = 1..=self.ticks.len().max(1);
        let kept = strides.map(every).find(|ticks| ticks.windows(2).all(fits)).unwrap_or_default();
        self.ticks = kept.into_iter().cloned().collect();
        self
    }

    /// Place of a value, kept within the axis.
    pub(super) fn place(&self, value: f64) -> f64 {
        let place = if self.log { value.max(1e-300).log10() } else { value };
        place.clamp(self.lo, self.hi)
    }

    /// Whether a value lies below the axis.
    pub(super) fn is_below(&self, value: f64) -> bool {
        let place = if self.log { value.max(1e-300).log10() } else { value };
        place < self.lo
    }
}

impl Ranged for Scale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, place: &f64, (first, last): (i32, i32)) -> i32 {
        let share = (place - self.lo) / (self.hi - self.lo);
        first + (f64::from(last - first) * share).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // The labels fit already; there are no lighter lines between them.
        if hint.weight().allow_light_points() { Vec::new() } else { self.ticks.iter().map(|t| t.0).collect() }
    }

    fn range(&self) -> Range<f64> {
        self.lo..self.hi
    }
}

impl ValueFormatter<f64> for Scale {
    fn format_ext(&self, place: &f64) -> String {
        let near = |tick: &&(f64, String)| (tick.0 - place).abs() < 1e-9 * (self.hi - self.lo);
        self.ticks.iter().find(near).map_or_else(String::new, |(_, label)| label.clone())
    }
}

/// The smallest width of an axis, in its own coordinate: a factor of 1.4 where logarithmic.
fn shortest(value: f64, log: bool) -> f64 {
    if log { 0.15 } else { (0.02 * value.abs()).max(1e-12) }
}

fn linear_ticks(lo: f64, hi: f64) -> Vec<(f64, String)> {
    let step = nice_step((hi - lo) / 5.0);
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    let first = (lo / step).ceil() as i64;
    let last = (hi / step + 1e-9).floor() as i64;
    (first..=last).map(|i| i as f64 * step).map(|v| (v, format!("{v:.decimals$}"))).collect()
}

/// The smallest of 1, 2, 5 times a power of ten that is not below `raw`.
fn nice_step(raw: f64) -> f64 {
    let power = 10f64.powf(raw.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= raw * 0.999).unwrap_or(10.0 * power)
}

/// Number of decades from which an axis is too wide for even steps.
const WIDE: f64 = 0.5;

/// Labels at decades: fewer where there are many decades, more in between where there are few.
fn log_ticks(lo: f64, hi: f64) -> Vec<(f64, String)> {
    let (first, last) = (lo.ceil() as i32, hi.floor() as i32);
    let decades = last - first + 1;
    if decades >= 3 {
        let stride = 1 + (decades - 1) / 7;
        return (first..=last).filter(|e| e % stride == 0).map(|e| (f64::from(e), power_label(e))).collect();
    }
    let parts = |parts: &'static [f64]| {
        let within = |(v, _): &(f64, String)| (lo..=hi).contains(v);
        let tick =
            move |e: i32| parts.iter().map(move |m| m * 10f64.powi(e)).map(|v| (v.log10(), plain_label(v)));
        (first - 1..=last).flat_map(tick).filter(within).collect::<Vec<_>>()
    };
    let coarse = parts(&[1.0, 2.0, 5.0]);
    if coarse.len() >= 3 {
        return coarse;
    }
    // Even steps would leave the lower half of a wider axis without a label.
    if hi - lo > WIDE {
        return parts(&[1.0, 1.5, 2.0, 3.0, 5.0, 7.0]);
    }
    linear_ticks(10f64.powf(lo), 10f64.powf(hi)).into_iter().map(|(v, label)| (v.log10(), label)).collect()
}

/// A number without an exponent where that is readable.
pub(super) fn plain_label(value: f64) -> String {
    match value {
        v if (1e-4..1e6).contains(&v) => format!("{}", (v * 1e9).round() / 1e9),
        v => format!("{v:.0e}"),
    }
}

fn power_label(exponent: i32) -> String {
    match exponent {
        -2..=4 => plain_label(10f64.powi(exponent)),
        _ => format!("10{}", superscript(exponent)),
    }
}

fn superscript(number: i32) -> String {
    let digit = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        _ => '⁰',
    };
    number.to_string().chars().map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(lo: f64, hi: f64, log: bool) -> Vec<String> {
        Scale::over(lo, hi, log).ticks.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn labels_are_round_and_few() {
        assert_eq!(labels(0.0, 10.0, false), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(labels(0.31, 0.36, false), ["0.31", "0.32", "0.33", "0.34", "0.35", "0.36"]);
        assert_eq!(labels(-4.2, 0.3, true), ["10⁻⁴", "10⁻³", "0.01", "0.1", "1"]);
        assert_eq!(labels(-0.4, 1.2, true), ["0.5", "1", "2", "5", "10"]);
        assert_eq!(labels(1.03, 1.84, true), ["15", "20", "30", "50"]);
        assert_eq!(labels(-0.46, -0.43, true).len(), 5);
        assert!(labels(-30.0, 2.0, true).len() < 10);
    }

    #[test]
    fn labels_never_overlap() {
        let extent = |label: &str| 7 * label.chars().count() as i32;
        let kept = |scale: Scale, pixels| -> Vec<String> {
            scale.thinned(pixels, extent).ticks.into_iter().map(|(_, label)| label).collect()
        };
        let seconds = || Scale::over(-3.75, -2.65, true);
        assert_eq!(kept(seconds(), 1000), ["0.0002", "0.0005", "0.001", "0.002"]);
        assert_eq!(kept(seconds(), 130), ["0.0002", "0.001"]);
        assert_eq!(kept(seconds(), 20), ["0.001"]);
        assert_eq!(kept(Scale::over(-0.4, 0.6, false), 70), ["-0.4", "0.0", "0.4"]);
        for (lo, hi, log) in [(-6.0, 2.0, true), (-3.7, -2.7, true), (0.1, 0.2, true), (-2.0, 1e6, false)] {
            for pixels in [1, 30, 100, 270, 700] {
                let scale = Scale::over(lo, hi, log).thinned(pixels, extent);
                assert!(!scale.ticks.is_empty());
                let at = |place: f64| (place - lo) / (hi - lo) * f64::from(pixels);
                for pair in scale.ticks.windows(2) {
                    let halves = f64::from(extent(&pair[0].1) + extent(&pair[1].1)) / 2.0;
                    assert!(at(pair[1].0) - at(pair[0].0) >= halves - 1e-9, "{pair:?} in {pixels} pixels");
                }
            }
        }
    }

    #[test]
    fn a_single_value_and_no_value_still_give_an_axis() {
        for (values, log) in [(vec![3.0], false), (vec![0.0], true), (vec![], true), (vec![0.0], false)] {
            let scale = Scale::fit(values.into_iter(), log);
            assert!(scale.lo < scale.hi);
        }
    }

    #[test]
    fn values_below_the_axis_are_known_and_kept_on_it() {
        let scale = Scale::fit([0.01, 1.0].into_iter(), true);
        assert!(scale.is_below(1e-14) && scale.is_below(0.0) && !scale.is_below(0.02));
        assert_eq!(scale.place(0.0), scale.lo);
    }
}
