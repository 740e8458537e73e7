//! Conversion of covariance functions from a case to the numerics.

use gpbench_data::Split;
use gpbench_gp::Kernel;
use gpbench_record as record;
use gpbench_record::OriginBase;
use thiserror::Error;

/// Error of hyperparameters that are invalid for any kernel.
#[derive(Debug, Error)]
#[error("kernel `{name}`: {what}")]
pub struct KernelError {
    /// Kernel.
    pub name: String,
    /// What is wrong.
    pub what: String,
}

/// The covariance function over `d` inputs.
///
/// # Errors
/// Where a scale is not positive, too small or too large, or the number of length scales is wrong.
pub fn kernel(kernel: &record::Kernel, d: usize) -> Result<Kernel, KernelError> {
    let record::Kernel { name, family, signal_scale, noise_scale, length_scale, network, .. } = kernel;
    let wrong = |what: String| KernelError { name: name.clone(), what };
    let Some(family) = family.stationary().filter(|_| network.is_none()) else {
        return Err(wrong("linear kernels and networks are for learners alone".to_owned()));
    };
    if length_scale.len() != 1 && length_scale.len() != d {
        return Err(wrong(format!("{} length scales for {d} inputs", length_scale.len())));
    }
    // Within these limits, no square of a scale or of a scaled distance overflows or underflows.
    let positive = |what: &str, value: f64| match value {
        1e-100..=1e100 => Ok(()),
        _ if value > 0.0 => Err(wrong(format!("{what} {value:e} is not between 1e-100 and 1e100"))),
        _ => Err(wrong(format!("{what} {value} is not positive"))),
    };
    positive("signal_scale", *signal_scale)?;
    positive("noise_scale", *noise_scale)?;
    length_scale.iter().try_for_each(|&length| positive("length_scale", length))?;
    Ok(Kernel::new(family, *signal_scale, length_scale, d))
}

/// A case's kernel in the units of its rows.
///
/// The numbers of a drawn data set's process are in the units of the draw: signal and noise are divided by the
/// divisor of the targets, the length scale of each input by the divisor of that input. With `shares_length_scale`
/// all inputs have one, by the geometric mean of their divisors. Other kernels do not change.
pub(crate) fn in_units_of_rows(
    kernel: &record::Kernel,
    rows: &Split,
    shares_length_scale: bool,
) -> record::Kernel {
    if kernel.origin.base != OriginBase::Drawn {
        return kernel.clone();
    }
    let (d, divisors) = (rows.x_std.len(), &rows.x_std);
    let length_scale = match kernel.length_scale.as_slice() {
        [shared] if shares_length_scale => {
            let logarithms: f64 = divisors.iter().map(|divisor| divisor.ln()).sum();
            vec![shared / (logarithms / d as f64).exp()]
        }
        [shared] => divisors.iter().map(|divisor| shared / divisor).collect(),
        each => each.iter().zip(divisors).map(|(length, divisor)| length / divisor).collect(),
    };
    record::Kernel {
        signal_scale: kernel.signal_scale / rows.y_std,
        noise_scale: kernel.noise_scale / rows.y_std,
        length_scale,
        ..kernel.clone()
    }
}

#[cfg(test)]
mod tests {
    use gpbench_gp::exact::ExactGp;
    use gpbench_record::{Dataset, Family, GpDraw, InputScaling, Source, TargetScaling};

    use super::*;
    use crate::rows::Rows;

    const DRAW: GpDraw = GpDraw {
        n: 80,
        n_test: 40,
        d: 1,
        kernel: Family::Matern32,
        signal_scale: 1.0,
        noise_scale: 0.05,
        length_scale: 0.5,
    };

    /// The kernel that a draw was made with, in its units.
    fn drawn(draw: &GpDraw) -> record::Kernel {
        record::Kernel {
            name: "as-drawn".to_owned(),
            family: draw.kernel.into(),
            signal_scale: draw.signal_scale,
            noise_scale: draw.noise_scale,
            length_scale: vec![draw.length_scale],
            mean: None,
            origin: OriginBase::Drawn.into(),
            network: None,
            start: None,
        }
    }

    /// Coverage of 95 % intervals of the exact process on the test rows of a seed.
    fn coverage(kernel: &record::Kernel, rows: &Split) -> f64 {
        let (x, y) = (rows.x_train.view(), rows.y_train.view());
        let gp = ExactGp::fit(&super::kernel(kernel, 1).unwrap(), kernel.noise_scale, x, y, 1).unwrap();
        let (mean, latent) = gp.predict(rows.x_test.view());
        let covered = mean.iter().zip(&latent).zip(&rows.y_test).filter(|((mean, latent), y)| {
            (*y - *mean).abs() <= 1.959_963_984_540_054 * (*latent + kernel.noise_scale.powi(2)).sqrt()
        });
        covered.count() as f64 / rows.y_test.len() as f64
    }

    /// With the scale of its own rows the exact process covers what it says. With that of the population, intervals
    /// are too narrow: a long length scale leaves a draw's standard deviation below that of the process.
    #[test]
    fn the_process_of_a_draw_covers_its_test_rows() {
        let dataset = Dataset::new("gp-draw", Source::GpDraw(DRAW));
        let population = record::Kernel {
            origin: OriginBase::Generating.into(),
            length_scale: vec![DRAW.length_scale * 12.0_f64.sqrt()],
            ..drawn(&DRAW)
        };
        let (seeds, mut own, mut of_population) = (60, 0.0, 0.0);
        for seed in 0..seeds {
            let split = Rows::load(&dataset, seed, None).unwrap().split;
            own += coverage(&in_units_of_rows(&drawn(&DRAW), &split, false), &split) / seeds as f64;
            of_population += coverage(&in_units_of_rows(&population, &split, false), &split) / seeds as f64;
        }
        // 2400 rows: a standard error of 0.0044 if they were independent; rows of one seed share its error.
        assert!((own - 0.95).abs() < 4.0 * 0.0044, "{own}");
        assert!(of_population < 0.92, "{of_population}");
    }

    #[test]
    fn each_input_has_its_own_divisor_unless_one_length_scale_is_shared() {
        let draw = GpDraw { d: 3, ..DRAW };
        let mut dataset = Dataset::new("gp-draw", Source::GpDraw(draw.clone()));
        let split = Rows::load(&dataset, 4, None).unwrap().split;
        let kernel = in_units_of_rows(&drawn(&draw), &split, false);
        let lengths: Vec<f64> = split.x_std.iter().map(|divisor| 0.5 / divisor).collect();
        assert_eq!((kernel.signal_scale, &kernel.length_scale), (1.0 / split.y_std, &lengths));
        let shared = in_units_of_rows(&drawn(&draw), &split, true).length_scale;
        let geometric = lengths.iter().product::<f64>().cbrt();
        assert!(shared.len() == 1 && (shared[0] / geometric - 1.0).abs() < 1e-14);

        dataset.targets = TargetScaling::Centred;
        dataset.inputs = InputScaling::Box;
        let split = Rows::load(&dataset, 4, None).unwrap().split;
        let kernel = in_units_of_rows(&drawn(&draw), &split, false);
        assert_eq!((kernel.signal_scale, kernel.noise_scale), (1.0, 0.05));
        let given = record::Kernel { origin: OriginBase::Given.into(), ..drawn(&draw) };
        assert_eq!(in_units_of_rows(&given, &split, false), given);
    }
}
