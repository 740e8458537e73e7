//! Colours of series: twelve that colour-blind readers can distinguish too.
//!
//! The first six are Okabe and Ito's without black and yellow, which are invisible on a dark or a light page. The others are
//! those that lie farthest from these and from each other, in CIELAB, in normal sight and without green or red receptors.

use plotters::style::RGBColor;

/// The colours, in the order in which series take them. Pages in dark mode repaint some of them (`page.css`).
pub(super) const PALETTE: [RGBColor; 12] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(120, 0, 100),
    RGBColor(110, 210, 120),
    RGBColor(90, 60, 0),
    RGBColor(80, 120, 250),
    RGBColor(0, 50, 160),
    RGBColor(70, 60, 50),
];

/// The colours as pages write them, such as `#0072B2`.
pub(crate) fn hexadecimal() -> impl Iterator<Item = String> {
    PALETTE.into_iter().map(|RGBColor(r, g, b)| format!("#{r:02X}{g:02X}{b:02X}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Triple = [f64; 3];

    /// Ways of seeing, as matrices on linear sRGB: normal, and without receptors for red or green (Machado, Oliveira and
    /// Fernandes 2009, severity 1).
    const SIGHTS: [(&str, [Triple; 3]); 3] = [
        ("normal", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        (
            "protanopia",
            [
                [0.152286, 1.052583, -0.204868],
                [0.114503, 0.786281, 0.099216],
                [-0.003882, -0.048116, 1.051998],
            ],
        ),
        (
            "deuteranopia",
            [
                [0.367322, 0.860646, -0.227968],
                [0.280085, 0.672501, 0.047413],
                [-0.011820, 0.042940, 0.968881],
            ],
        ),
    ];

    fn linear(RGBColor(r, g, b): RGBColor) -> Triple {
        [r, g, b].map(|part| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        })
    }

    fn times(matrix: &[Triple; 3], v: Triple) -> Triple {
        matrix.map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum())
    }

    /// CIELAB of a colour in linear sRGB, with the white of D65.
    fn lab(rgb: Triple) -> Triple {
        const XYZ: [Triple; 3] = [
            [0.4124564, 0.3575761, 0.1804375],
            [0.2126729, 0.7151522, 0.0721750],
            [0.0193339, 0.1191920, 0.9503041],
        ];
        let white = times(&XYZ, [1.0; 3]);
        let xyz = times(&XYZ, rgb.map(|part| part.clamp(0.0, 1.0)));
        let part = |i: usize| {
            let share: f64 = xyz[i] / white[i];
            if share > 0.008856 { share.cbrt() } else { 7.787 * share + 16.0 / 116.0 }
        };
        let [x, y, z] = [0, 1, 2].map(part);
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    fn distance(a: Triple, b: Triple) -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    }

    /// The smallest distance between two of some colours in any way of seeing.
    fn nearest(colours: &[RGBColor]) -> (f64, String) {
        let mut nearest = (f64::INFINITY, String::new());
        for (sight, matrix) in SIGHTS {
            let seen: Vec<Triple> = colours.iter().map(|c| lab(times(&matrix, linear(*c)))).collect();
            for i in 0..seen.len() {
                for j in 0..i {
                    let apart = distance(seen[i], seen[j]);
                    if apart < nearest.0 {
                        nearest = (apart, format!("{:?} and {:?}, {sight}", colours[i], colours[j]));
                    }
                }
            }
        }
        nearest
    }

    #[test]
    fn colours_stay_apart_for_every_reader() {
        // A difference of 2 is just seen side by side.
        let (apart, which) = nearest(&PALETTE);
        assert!(apart > 17.0, "{apart:.1}: {which}");
        let (apart, which) = nearest(&PALETTE[..3]);
        assert!(apart > 35.0, "{apart:.1}: {which}");
    }

    #[test]
    fn colours_are_seen_on_white_paper() {
        for colour in PALETTE {
            let lightness = lab(linear(colour))[0];
            assert!((25.0..80.0).contains(&lightness), "{colour:?} has lightness {lightness:.0}");
        }
    }

    /// The colours of a page in dark mode: those that `page.css` repaints, and the others.
    #[test]
    fn colours_stay_apart_on_dark_pages() {
        let css = include_str!("../export/page.css");
        let dark = PALETTE.map(|RGBColor(r, g, b)| {
            let rule = |what| format!("figure svg [{what}=\"#{r:02X}{g:02X}{b:02X}\"] {{ {what}: #");
            let [fill, stroke] = ["fill", "stroke"].map(|what| css.split_once(&rule(what))?.1.get(..6));
            assert_eq!(fill, stroke);
            let part = |hex: &str, i: usize| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap();
            fill.map_or(RGBColor(r, g, b), |hex| RGBColor(part(hex, 0), part(hex, 1), part(hex, 2)))
        });
        let (apart, which) = nearest(&dark);
        assert!(apart > 17.0, "{apart:.1}: {which}");
        for colour in dark {
            assert!(lab(linear(colour))[0] > 45.0, "{colour:?} is too dark for a dark page");
        }
    }
}
