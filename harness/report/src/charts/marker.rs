//! Markers of data points: twelve shapes that can be distinguished without colour, as in grey print.

use plotters::prelude::*;

use super::style::{Area, Drawing, INK, PAPER};

/// Shape of a data point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker {
    Circle,
    Square,
    Triangle,
    Diamond,
    Cross,
    Plus,
    Left,
    Hourglass,
    Star,
    Column,
    Right,
    Bowtie,
    /// A triangle that points down: the value lies below the axis.
    Below,
}

/// The markers, in the order in which series take them.
pub(super) const MARKERS: [Marker; 12] = [
    Marker::Circle,
    Marker::Square,
    Marker::Triangle,
    Marker::Diamond,
    Marker::Cross,
    Marker::Plus,
    Marker::Left,
    Marker::Hourglass,
    Marker::Star,
    Marker::Column,
    Marker::Right,
    Marker::Bowtie,
];

/// Radius of a circle in pixels.
const RADIUS: i32 = 4;

impl Marker {
    /// Corners around the data point, in pixels; none of a circle.
    fn corners(self) -> &'static [(i32, i32)] {
        match self {
            Marker::Circle => &[],
            Marker::Square => &[(-4, -4), (4, -4), (4, 4), (-4, 4)],
            Marker::Triangle => &[(0, -5), (5, 4), (-5, 4)],
            Marker::Diamond => &[(0, -7), (4, 0), (0, 7), (-4, 0)],
            Marker::Cross => &[
                (-5, -3),
                (-3, -5),
                (0, -2),
                (3, -5),
                (5, -3),
                (2, 0),
                (5, 3),
                (3, 5),
                (0, 2),
                (-3, 5),
                (-5, 3),
                (-2, 0),
            ],
            Marker::Plus => &[
                (-1, -5),
                (1, -5),
                (1, -1),
                (5, -1),
                (5, 1),
                (1, 1),
                (1, 5),
                (-1, 5),
                (-1, 1),
                (-5, 1),
                (-5, -1),
                (-1, -1),
            ],
            Marker::Left => &[(-6, 0), (4, -5), (4, 5)],
            Marker::Right => &[(6, 0), (-4, -5), (-4, 5)],
            Marker::Hourglass => &[(-5, -6), (5, -6), (-5, 6), (5, 6)],
            Marker::Bowtie => &[(-6, -5), (-6, 5), (6, -5), (6, 5)],
            Marker::Star => &[(0, -7), (2, -2), (7, 0), (2, 2), (0, 7), (-2, 2), (-7, 0), (-2, -2)],
            Marker::Column => &[(-2, -7), (2, -7), (2, 7), (-2, 7)],
            Marker::Below => &[(0, 6), (6, -4), (-6, -4)],
        }
    }

    /// Draws the marker at a place in pixels, filled or as an outline.
    pub(super) fn draw(self, root: &Area<'_>, (x, y): (i32, i32), colour: RGBColor, hollow: bool) -> Drawing {
        if self == Marker::Circle {
            if hollow {
                root.draw(&Circle::new((x, y), RADIUS, PAPER.filled()))?;
            }
            let style = if hollow { colour.stroke_width(2) } else { colour.filled() };
            return Ok(root.draw(&Circle::new((x, y), RADIUS, style))?);
        }
        let mut places: Vec<(i32, i32)> = self.corners().iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
        if !hollow {
            return Ok(root.draw(&Polygon::new(places, colour.filled()))?);
        }
        root.draw(&Polygon::new(places.clone(), PAPER.filled()))?;
        places.push(places[0]);
        Ok(root.draw(&PathElement::new(places, colour.stroke_width(2)))?)
    }
}

/// Draws a star at a maximum, with a rim that separates it from any background.
pub(super) fn peak(root: &Area<'_>, (x, y): (i32, i32)) -> Drawing {
    for (reach, colour) in [(11.0, PAPER), (7.5, INK)] {
        let corner = |k: u32| {
            let radius = if k.is_multiple_of(2) { reach } else { 0.45 * reach };
            let (sine, cosine) = (std::f64::consts::PI * f64::from(k) / 5.0).sin_cos();
            (x + (radius * sine).round() as i32, y - (radius * cosine).round() as i32)
        };
        root.draw(&Polygon::new((0..10).map(corner).collect::<Vec<_>>(), colour.filled()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The quarters of pixels that a filled marker covers.
    fn covered(marker: Marker) -> BTreeSet<(i32, i32)> {
        let steps = || (-32..32).map(|i| f64::from(i) / 4.0 + 0.125);
        let inside = |x: f64, y: f64| match marker {
            Marker::Circle => x * x + y * y <= f64::from(RADIUS * RADIUS),
            _ => {
                let corners = marker.corners();
                let next = corners.iter().cycle().skip(1);
                let crossed = corners.iter().zip(next).filter(|((x0, y0), (x1, y1))| {
                    let [x0, y0, x1, y1] = [*x0, *y0, *x1, *y1].map(f64::from);
                    (y0 > y) != (y1 > y) && x < x0 + (y - y0) * (x1 - x0) / (y1 - y0)
                });
                crossed.count() % 2 == 1
            }
        };
        let places = steps().flat_map(|x| steps().map(move |y| (x, y)));
        places.filter(|(x, y)| inside(*x, *y)).map(|(x, y)| ((4.0 * x) as i32, (4.0 * y) as i32)).collect()
    }

    #[test]
    fn shapes_stay_apart_without_colour() {
        let all: Vec<Marker> = MARKERS.into_iter().chain([Marker::Below]).collect();
        let shapes: Vec<_> = all.iter().map(|marker| covered(*marker)).collect();
        for i in 0..all.len() {
            for j in 0..i {
                let differ = shapes[i].symmetric_difference(&shapes[j]).count() as f64;
                let share = differ / shapes[i].union(&shapes[j]).count() as f64;
                assert!(share > 0.2, "{:?} and {:?} differ in {share:.2} of what they cover", all[i], all[j]);
            }
        }
    }
}
