//! The macro by which the registry declares the metrics.

/// Declares `names` and `METRICS` from entries of the form that `registry.rs` describes.
macro_rules! metrics {
    ($($(#[doc = $doc:literal])+ $id:ident = $name:literal, $title:literal, $axis:literal,
       $unit:ident, $style:ident, $direction:ident, $tasks:ident, $columns:ident, $absolute:literal, $relative:literal,
       [$($shown:ident),*];)+) => {
        /// Names of metrics, as written in journals, tables and JSON.
        pub mod names {
            $($(#[doc = $doc])+ pub const $id: &str = $name;)+

            /// [`CURVATURE_1`] and [`CURVATURE_2`].
            pub const CURVATURES: [&str; 2] = [CURVATURE_1, CURVATURE_2];
            /// [`START_1`] and [`START_2`].
            pub const STARTS: [&str; 2] = [START_1, START_2];

            /// Prefix of the names of a solver's own numbers in a trace, such as `solver:gradient_variance`. No other
            /// name contains a colon.
            pub const OF_SOLVER: &str = "solver:";

            /// The name in a trace of the solver's own number `name`.
            pub fn of_solver(name: &str) -> String {
                format!("{OF_SOLVER}{name}")
            }
        }

        /// Every metric, in the order in which tables show them. Errors of the solver precede prediction errors,
        /// which depend on them only weakly.
        pub const METRICS: &[$crate::metric::Metric] = &[$($crate::metric::Metric {
            name: $name,
            doc: concat!($($doc),+),
            title: $title,
            axis: $axis,
            unit: $crate::metric::Unit::$unit,
            style: $crate::metric::Style::$style,
            direction: $crate::metric::Direction::$direction,
            tasks: $crate::metric::task_sets::$tasks,
            columns: $crate::metric::task_sets::$columns,
            tolerance: $crate::metric::Tolerance { absolute: $absolute, relative: $relative },
            shown: &[$($crate::metric::Shown::$shown),*],
        }),+];
    };
}

pub(super) use metrics;
