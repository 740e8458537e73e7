//! A quantity over the plane, as bands of its distance to its maximum.
//!
//! The bands are finest at the maximum: their edges are 1 and 3 times powers of ten. The quantity is interpolated
//! between the nodes of the grid and painted in small blocks. Each block reaches to the plane's lower right corner, and
//! later blocks are painted over it: blocks side by side would show seams when the image is scaled.

use gpbench_record::Landscape;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::axes::Axes;
use super::scale::plain_label;
use super::style::{Area, Drawing, INK, MUTED, PAPER, font, text_width, write};

/// Colours of the band at the maximum and of the farthest band. They are pale, since paths lie on top, and differ from
/// the paper, which stands for unknown values.
const NEAR: RGBColor = RGBColor(255, 246, 208);
const FAR: RGBColor = RGBColor(150, 158, 172);

/// Side of a block in pixels.
const BLOCK: i32 = 2;

/// Largest number of edges of bands.
const MOST: usize = 9;

/// Approximate shares of the nodes within the first edge and within the last.
const SHARES: [f64; 2] = [0.005, 0.95];

/// Words before the key.
const WORDS: &str = "nats below that maximum";

/// Largest width of a band in the key.
const KEY: i32 = 44;

/// A quantity on a grid.
pub(super) struct Field {
    x: Vec<f64>,
    y: Vec<f64>,
    /// Distance of each value to the maximum, row by row; absent where it is unknown.
    below: Vec<Vec<Option<f64>>>,
    /// Edges of the bands, increasing.
    edges: Vec<f64>,
    peak: (f64, f64),
}

impl Field {
    /// The field of a landscape; none where that has no plane or no value.
    pub(super) fn new(landscape: &Landscape) -> Option<Field> {
        let Landscape { length_scale: x, noise_scale: y, log_likelihood: rows } = landscape;
        let is_full = rows.len() == y.len() && rows.iter().all(|row| row.len() == x.len());
        let is_plane = x.len() > 1 && y.len() > 1;
        let nodes =
            || rows.iter().enumerate().flat_map(|(i, row)| row.iter().enumerate().map(move |n| (i, n)));
        let known = nodes().filter_map(|(i, (j, value))| Some((i, j, (*value).filter(|v| v.is_finite())?)));
        let (i, j, top) = known.max_by(|a, b| a.2.total_cmp(&b.2)).filter(|_| is_full && is_plane)?;
        let below = |value: &Option<f64>| value.map(|value| top - value);
        let below: Vec<Vec<Option<f64>>> = rows.iter().map(|row| row.iter().map(below).collect()).collect();
        let edges = edges(below.iter().flatten().copied().flatten());
        Some(Field { x: x.clone(), y: y.clone(), below, edges, peak: (x[j], y[i]) })
    }

    /// Ends of the horizontal axis.
    pub(super) fn x_ends(&self) -> [f64; 2] {
        [self.x[0], self.x[self.x.len() - 1]]
    }

    /// Ends of the vertical axis.
    pub(super) fn y_ends(&self) -> [f64; 2] {
        [self.y[0], self.y[self.y.len() - 1]]
    }

    /// The node of the maximum.
    pub(super) fn peak(&self) -> (f64, f64) {
        self.peak
    }

    /// Paints the bands.
    pub(super) fn paint(&self, root: &Area<'_>, axes: &Axes) -> Drawing {
        let across: Vec<i32> = self.x.iter().map(|x| axes.pixel((*x, self.y[0])).0).collect();
        // Pixels count downwards; these count upwards like the nodes.
        let up: Vec<i32> = self.y.iter().map(|y| -axes.pixel((self.x[0], *y)).1).collect();
        let ends = |nodes: &[i32]| (nodes[0], nodes[nodes.len() - 1]);
        let ((left, right), (bottom, top)) = (ends(&across), ends(&up));
        for y in (-top..-bottom).step_by(BLOCK as usize) {
            let row = between(&up, -(y + BLOCK / 2));
            let mut painted = None;
            for x in (left..right).step_by(BLOCK as usize) {
                let colour = self.colour(self.at(between(&across, x + BLOCK / 2), row));
                if painted != Some(colour) {
                    root.draw(&Rectangle::new([(x, y), (right, -bottom)], colour.filled()))?;
                    painted = Some(colour);
                }
            }
        }
        Ok(())
    }

    /// Pixels to the right of which the key has its bands, and below which, on a sheet of so many pixels: beside its words, or
    /// under them where there is no room.
    fn key_place(&self, width: i32) -> (i32, i32) {
        let left = 16 + text_width(WORDS, 13.0) + 26;
        let bands = KEY * (self.edges.len() + 1) as i32;
        if left + bands <= width - 16 { (left, 0) } else { (16, 20) }
    }

    /// Height of the key on a sheet of so many pixels.
    pub(super) fn key_height(&self, width: i32) -> i32 {
        self.key_place(width).1 + 34
    }

    /// The key to the bands, from a row of pixels on; returns the first free one below.
    pub(super) fn key(&self, root: &Area<'_>, top: i32) -> Result<i32, Box<dyn std::error::Error>> {
        let width = root.dim_in_pixel().0 as i32;
        let (left, down) = self.key_place(width);
        write(root, WORDS, (16, top + 8), font(13.0, INK), HPos::Left)?;
        let top = top + down;
        let band = KEY.min((width - left - 16) / (self.edges.len() + 1) as i32);
        let edge = |number: usize| left + band * number as i32;
        for band in 0..=self.edges.len() {
            let corners = [(edge(band), top + 2), (edge(band + 1), top + 14)];
            root.draw(&Rectangle::new(corners, self.band(band).filled()))?;
        }
        let corners = [(left, top + 2), (edge(self.edges.len() + 1), top + 14)];
        root.draw(&Rectangle::new(corners, MUTED.mix(0.5).stroke_width(1)))?;
        for (band, distance) in self.edges.iter().enumerate() {
            let at = (edge(band + 1), top + 23);
            write(root, &plain_label(*distance), at, font(12.0, INK), HPos::Center)?;
        }
        Ok(top + 34)
    }

    /// Distance of the value at a place to the maximum, linear between the four nodes around it.
    fn at(&self, (j, right): (usize, f64), (i, up): (usize, f64)) -> Option<f64> {
        let along = |row: &[Option<f64>]| Some((1.0 - right) * row[j]? + right * row[j + 1]?);
        Some((1.0 - up) * along(&self.below[i])? + up * along(&self.below[i + 1])?)
    }

    fn colour(&self, below: Option<f64>) -> RGBColor {
        below.map_or(PAPER, |below| self.band(self.edges.partition_point(|edge| *edge <= below)))
    }

    fn band(&self, band: usize) -> RGBColor {
        let share = band as f64 / self.edges.len().max(1) as f64;
        let mix = |near: u8, far: u8| (f64::from(near) + share * (f64::from(far) - f64::from(near))) as u8;
        RGBColor(mix(NEAR.0, FAR.0), mix(NEAR.1, FAR.1), mix(NEAR.2, FAR.2))
    }
}

/// The interval of increasing nodes that holds a pixel, and the pixel's share of the way through it.
fn between(nodes: &[i32], pixel: i32) -> (usize, f64) {
    let i = nodes.partition_point(|node| *node <= pixel).clamp(1, nodes.len() - 1) - 1;
    let share = f64::from(pixel - nodes[i]) / f64::from((nodes[i + 1] - nodes[i]).max(1));
    (i, share.clamp(0.0, 1.0))
}

/// Edges of bands: 1 and 3 times powers of ten, or the powers alone where these are too many.
fn edges(below: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sorted: Vec<f64> = below.filter(|distance| *distance > 0.0).collect();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return Vec::new() };
    let [near, far] = SHARES.map(|share| sorted[(share * last as f64) as usize]);
    let of = |parts: &[f64]| -> Vec<f64> {
        let (first, last) = (near.log10().floor() as i32, far.log10().ceil() as i32);
        let powers = (first..=last).flat_map(|e| parts.iter().map(move |part| part * 10f64.powi(e)));
        powers.filter(|edge| (near..=far).contains(edge)).collect()
    };
    let fine = of(&[1.0, 3.0]);
    let mut edges = if fine.len() > MOST { of(&[1.0]) } else { fine };
    edges.truncate(MOST);
    edges
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A landscape of two by three nodes.
    fn landscape() -> Landscape {
        Landscape {
            length_scale: vec![0.1, 1.0, 10.0],
            noise_scale: vec![0.1, 1.0],
            log_likelihood: vec![
                vec![Some(-50.0), Some(-5.0), None],
                vec![Some(-20.0), Some(2.0), Some(-8.0)],
            ],
        }
    }

    #[test]
    fn values_are_interpolated_between_the_nodes() {
        let field = Field::new(&landscape()).unwrap();
        assert_eq!(field.peak(), (1.0, 1.0));
        assert_eq!(field.at((0, 0.0), (0, 0.0)), Some(52.0));
        assert_eq!(field.at((0, 0.5), (0, 1.0)), Some(11.0));
        assert_eq!(field.at((1, 0.5), (0, 0.5)), None);
        assert_eq!(field.edges, [10.0]);
        assert_eq!(field.colour(Some(0.0)), NEAR);
        assert_eq!(field.colour(Some(31.0)), FAR);
    }

    #[test]
    fn a_landscape_without_a_plane_is_not_drawn() {
        let unknown = Landscape { log_likelihood: vec![vec![None; 3]; 2], ..landscape() };
        let ragged = Landscape { log_likelihood: vec![vec![Some(1.0); 2]; 2], ..landscape() };
        let line =
            Landscape { noise_scale: vec![0.1], log_likelihood: vec![vec![Some(1.0); 3]], ..landscape() };
        assert!([unknown, ragged, line].iter().all(|landscape| Field::new(landscape).is_none()));
    }

    #[test]
    fn a_place_beyond_the_nodes_is_at_their_end() {
        let nodes = [0, 10, 30];
        assert_eq!(between(&nodes, 5), (0, 0.5));
        assert_eq!(between(&nodes, 20), (1, 0.5));
        assert_eq!((between(&nodes, -4), between(&nodes, 99)), ((0, 0.0), (1, 1.0)));
    }

    #[test]
    fn edges_are_few() {
        let wide = (0..1000).map(|i| 10f64.powf(f64::from(i) / 100.0 - 1.0));
        let wide = edges(wide);
        assert!(wide.len() <= MOST && wide[0] <= 1.0, "{wide:?}");
        assert_eq!(edges([0.0, 0.0].into_iter()), [] as [f64; 0]);
    }
}
