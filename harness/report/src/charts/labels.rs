//! Places of labels inside a chart, where they cover neither data nor each other.

use super::style::text_width;

/// A rectangle of pixels: left, top, right, bottom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) left: i32,
    pub(super) top: i32,
    pub(super) right: i32,
    pub(super) bottom: i32,
}

impl Frame {
    fn meets(&self, other: &Frame) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn is_within(&self, bounds: &Frame) -> bool {
        self.left >= bounds.left
            && self.right <= bounds.right
            && self.top >= bounds.top
            && self.bottom <= bounds.bottom
    }
}

/// The free space of a chart.
#[derive(Debug)]
pub(super) struct Free {
    bounds: Frame,
    taken: Vec<Frame>,
}

/// Half of the side of a marker, and half of the height of a line of text.
const MARKER: i32 = 6;
const HALF_LINE: i32 = 7;
/// Pixels between a point and its label.
const GAP: i32 = 9;
/// Pixels between labels in one line.
const BETWEEN: i32 = 8;
/// Lines of text above and below the point that are tried.
const LINES: i32 = 8;

impl Free {
    /// Everything within some bounds.
    pub(super) fn within(bounds: Frame) -> Free {
        Free { bounds, taken: Vec::new() }
    }

    /// Keeps labels off a marker.
    pub(super) fn keep_marker(&mut self, (x, y): (i32, i32)) {
        self.taken.push(Frame { left: x - MARKER, right: x + MARKER, top: y - MARKER, bottom: y + MARKER });
    }

    /// Keeps labels off a path.
    pub(super) fn keep_path(&mut self, path: &[(i32, i32)]) {
        for pair in path.windows(2) {
            let [(x0, y0), (x1, y1)] = [pair[0], pair[1]];
            let steps = ((x1 - x0).abs().max((y1 - y0).abs()) / 4).max(1);
            let along = |from: i32, to: i32, i: i32| from + (to - from) * i / steps;
            self.taken.extend((0..=steps).map(|i| {
                let (x, y) = (along(x0, x1, i), along(y0, y1, i));
                Frame { left: x - 1, right: x + 1, top: y - 1, bottom: y + 1 }
            }));
        }
    }

    /// A free place for a text beside a point, as near as can be, which is then taken: the left end of its middle line. None
    /// where everything near the point is taken.
    pub(super) fn beside(&mut self, (x, y): (i32, i32), text: &str, size: f64) -> Option<(i32, i32)> {
        let width = text_width(text, size);
        let rows = (0..=LINES).flat_map(|i| [-i, i]);
        let places = rows.flat_map(|row| {
            let y = y + row * 2 * HALF_LINE;
            // Above and below the point, the middle is near too.
            let lefts = [Some(x + GAP), (row != 0).then_some(x - width / 2), Some(x - GAP - width)];
            lefts.into_iter().flatten().map(move |left| (left, y))
        });
        let frame = |(left, y): (i32, i32)| Frame {
            left,
            right: left + width,
            top: y - HALF_LINE,
            bottom: y + HALF_LINE,
        };
        let is_free =
            |frame: &Frame| frame.is_within(&self.bounds) && !self.taken.iter().any(|t| t.meets(frame));
        let (place, frame) = places.map(|place| (place, frame(place))).find(|(_, frame)| is_free(frame))?;
        self.taken.push(Frame { left: frame.left - BETWEEN, right: frame.right + BETWEEN, ..frame });
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_cover_nothing_and_stay_within_the_bounds() {
        let bounds = Frame { left: 0, top: 0, right: 300, bottom: 200 };
        let mut free = Free::within(bounds);
        let path: Vec<(i32, i32)> = (0..=30).map(|i| (10 * i, 100)).collect();
        free.keep_path(&path);
        let mut placed: Vec<Frame> = Vec::new();
        for point in [(290, 100), (290, 101), (285, 100), (5, 100), (290, 99), (290, 198), (290, 198)] {
            free.keep_marker(point);
            let Some((left, y)) = free.beside(point, "solver", 12.0) else { panic!("no place at {point:?}") };
            let frame = Frame {
                left,
                right: left + text_width("solver", 12.0),
                top: y - HALF_LINE,
                bottom: y + HALF_LINE,
            };
            assert!(frame.is_within(&bounds), "{frame:?}");
            assert!(placed.iter().all(|other| !other.meets(&frame)), "{frame:?} covers one of {placed:?}");
            assert!(frame.bottom <= 100 || frame.top >= 100, "{frame:?} covers the curve");
            placed.push(frame);
        }
    }

    #[test]
    fn a_label_without_room_is_left_out() {
        let mut free = Free::within(Frame { left: 0, top: 0, right: 30, bottom: 30 });
        assert_eq!(free.beside((15, 15), "a long name of a solver", 12.0), None);
    }
}
